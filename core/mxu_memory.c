/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Allocations: finds frames and a record for each, and gives its component access.
 */
#include "core/mxu_memory.h"
#include "core/mxu_attach.h"

#define ADDRESS_BITS 32u
#define NO_RECORD    UINT32_MAX

static bool is_mpu(const struct mxu_memory *memory)
{
    return memory->account->hardware->checker == MXU_MPU;
}

static bool is_sound_ask(const struct mxu_memory *memory, const struct mxu_ask *ask)
{
    uint32_t rasr;

    return ask->component < memory->component_count && ask->bytes > 0 && (ask->spec & ~MXU_SPEC_MASK) == 0 &&
           (ask->align & (ask->align - 1u)) == 0 && mxu_mpu_attributes(ask->rights, ask->type, &rasr);
}

static uint32_t free_record(const struct mxu_memory *memory)
{
    for (uint32_t i = 0; i < memory->allocation_count; i++) {
        if (memory->allocations[i].bytes == 0) {
            return i;
        }
    }
    return NO_RECORD;
}

static uint32_t log2_of(uint32_t power)
{
    uint32_t bits = 0;

    while (power >> bits > 1u) {
        bits++;
    }
    return bits;
}

/* Rounds a size up to whole frames. False if the result exceeds the address space. */
static bool round_to_frames(const struct mxu_memory *memory, uint32_t bytes, uint32_t *rounded)
{
    uint32_t mask = (UINT32_C(1) << memory->frames->frame_bits) - 1u;

    *rounded = (bytes + mask) & ~mask;
    return *rounded >= bytes;
}

static uint32_t larger(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

/* Finds free frames that one region can cover, or any free frames if there are none. */
static enum mxu_status find_for_regions(const struct mxu_memory *memory, const struct mxu_ask *ask,
                                        uint32_t bytes, struct mxu_run *run)
{
    const struct mxu_frames *frames = memory->frames;
    uint32_t align = larger(log2_of(ask->align), frames->frame_bits);
    uint32_t rounded;
    uint32_t part;
    uint32_t block;

    if (mxu_mpu_fit(bytes, &rounded, &part, &block) &&
        mxu_frames_find(frames, rounded >> frames->frame_bits, larger(align, part), block, run) == MXU_OK) {
        return MXU_OK;
    }
    return mxu_frames_find(frames, bytes >> frames->frame_bits, align, ADDRESS_BITS, run);
}

/* log2 of the largest lockable entry that is not larger than the allocation. */
static uint32_t entry_bits(const struct mxu_memory *memory, uint32_t bytes)
{
    uint32_t bits = MXU_PAGE_BITS;

    for (uint32_t bit = MXU_PAGE_BITS; bit < ADDRESS_BITS; bit++) {
        if ((memory->entry_sizes >> bit & 1u) != 0 && bytes >> bit != 0) {
            bits = bit;
        }
    }
    return bits;
}

static enum mxu_status find_in_sets(const struct mxu_memory *memory, const struct mxu_ask *ask,
                                    uint32_t bytes, struct mxu_run *run)
{
    const struct mxu_frames *frames = memory->frames;
    bool resident = mxu_spec_is_placed(ask->spec) && (ask->spec & MXU_INDEPENDENT) != 0;
    uint32_t align = larger(ask->align, 1u << MXU_PAGE_BITS);
    uint32_t from = frames->first;

    for (;;) {
        uint32_t at;
        enum mxu_status status = mxu_tlb_find(&memory->main_tlb, &memory->components[ask->component].tlb,
                                              bytes >> MXU_PAGE_BITS, resident, from, &at);

        if (status != MXU_OK) {
            return status;
        }
        if (!mxu_frames_of(frames, at, bytes, run)) {
            return MXU_ENOMEM; /* beyond the last frame */
        }
        if (at % align == 0 && mxu_frames_are(frames, *run, MXU_FRAME_FREE)) {
            return MXU_OK;
        }
        if (at > UINT32_MAX - (1u << MXU_PAGE_BITS)) {
            return MXU_ENOMEM;
        }
        from = at + (1u << MXU_PAGE_BITS);
    }
}

static enum mxu_status find_for_pages(const struct mxu_memory *memory, const struct mxu_ask *ask,
                                      uint32_t bytes, struct mxu_run *run)
{
    const struct mxu_frames *frames = memory->frames;
    uint32_t align = larger(log2_of(ask->align), frames->frame_bits);
    uint32_t count = bytes >> frames->frame_bits;

    if (memory->main_tlb.sets != 0) {
        return find_in_sets(memory, ask, bytes, run);
    }
    if ((ask->spec & (MXU_DETERMINISTIC | MXU_L1)) != 0 &&
        mxu_frames_find(frames, count, larger(align, entry_bits(memory, bytes)), ADDRESS_BITS, run) ==
            MXU_OK) {
        return MXU_OK;
    }
    return mxu_frames_find(frames, count, align, ADDRESS_BITS, run);
}

/* Finds free frames for an allocation, or checks those at a given address. */
static enum mxu_status find_frames(const struct mxu_memory *memory, const struct mxu_ask *ask,
                                   const uint32_t *address, struct mxu_run *run)
{
    uint32_t bytes;

    if (!round_to_frames(memory, ask->bytes, &bytes)) {
        return MXU_EINVAL;
    }
    if (address != 0) {
        return mxu_frames_of(memory->frames, *address, bytes, run) &&
                       (ask->align == 0 || *address % ask->align == 0)
                   ? MXU_OK
                   : MXU_EINVAL;
    }
    return is_mpu(memory) ? find_for_regions(memory, ask, bytes, run)
                          : find_for_pages(memory, ask, bytes, run);
}

/* Fills a record for claimed frames, and attaches it to the component. */
static enum mxu_status record(struct mxu_memory *memory, const struct mxu_ask *ask, struct mxu_run run,
                              uint32_t number, struct mxu_answer *answer)
{
    const struct mxu_frames *frames = memory->frames;
    struct mxu_allocation *allocation = &memory->allocations[number];
    enum mxu_status status;

    *allocation = (struct mxu_allocation){
        .first = frames->first + (run.at << frames->frame_bits),
        .bytes = run.count << frames->frame_bits,
        .asked = ask->bytes,
        .spec = ask->spec,
        .rights = ask->rights,
        .shared = ask->shared,
        .component = ask->component,
        .type = ask->type,
    };
    status = mxu_attach(memory, number);
    *answer = allocation->answer;
    if (status != MXU_OK) {
        *allocation = (struct mxu_allocation){0};
        (void)mxu_frames_release(memory->frames, run);
    }
    return status;
}

static enum mxu_status allocate(struct mxu_memory *memory, const struct mxu_ask *ask, const uint32_t *address,
                                uint32_t *number, struct mxu_answer *answer)
{
    struct mxu_run run;
    enum mxu_status status;

    *answer = (struct mxu_answer){.lacking = MXU_NO_RESOURCE};
    if (!is_sound_ask(memory, ask)) {
        return MXU_EINVAL;
    }
    *number = free_record(memory);
    if (*number == NO_RECORD) {
        return mxu_refuse(answer, MXU_ENOMEM, MXU_RECORDS, 1, 0);
    }
    status = find_frames(memory, ask, address, &run);
    if (status != MXU_OK) {
        enum mxu_resource lacking = status == MXU_ENOMEM ? MXU_FRAMES : MXU_TLB_SETS;

        return status == MXU_EINVAL ? status : mxu_refuse(answer, status, lacking, ask->bytes, 0);
    }
    status = mxu_frames_claim(memory->frames, run, MXU_FRAME_USER);
    return status == MXU_OK ? record(memory, ask, run, *number, answer) : status;
}

enum mxu_status mxu_malloc(struct mxu_memory *memory, const struct mxu_ask *ask, const uint32_t *address,
                           uint32_t *number, struct mxu_answer *answer)
{
    *answer = (struct mxu_answer){.lacking = MXU_NO_RESOURCE};
    return ask->shared == MXU_NOT_SHARED ? allocate(memory, ask, address, number, answer) : MXU_EINVAL;
}

/* The first record of shared memory, or NO_RECORD. *has tells whether the component has a record of it,
 * too. */
static uint32_t find_shared(const struct mxu_memory *memory, uint32_t shared, uint32_t component, bool *has)
{
    uint32_t found = NO_RECORD;

    *has = false;
    for (uint32_t i = 0; i < memory->allocation_count; i++) {
        const struct mxu_allocation *allocation = &memory->allocations[i];

        if (allocation->bytes != 0 && allocation->shared == shared) {
            found = found == NO_RECORD ? i : found;
            *has = *has || allocation->component == component;
        }
    }
    return found;
}

enum mxu_status mxu_shmget(struct mxu_memory *memory, const struct mxu_ask *ask, uint32_t *number,
                           struct mxu_answer *answer)
{
    const struct mxu_allocation *first;
    struct mxu_run run;
    enum mxu_status status;
    uint32_t found;
    bool has;

    *answer = (struct mxu_answer){.lacking = MXU_NO_RESOURCE};
    if (ask->shared == MXU_NOT_SHARED || !is_sound_ask(memory, ask)) {
        return MXU_EINVAL;
    }
    found = find_shared(memory, ask->shared, ask->component, &has);
    if (found == NO_RECORD) {
        return allocate(memory, ask, 0, number, answer);
    }
    first = &memory->allocations[found];
    if (has) {
        return MXU_EEXIST;
    }
    if (first->spec != ask->spec || first->asked != ask->bytes || first->type != ask->type ||
        (ask->rights & ~first->rights) != 0 || (ask->align != 0 && first->first % ask->align != 0)) {
        return MXU_EMISMATCH;
    }
    *number = free_record(memory);
    if (*number == NO_RECORD) {
        return mxu_refuse(answer, MXU_ENOMEM, MXU_RECORDS, 1, 0);
    }
    (void)mxu_frames_of(memory->frames, first->first, first->bytes, &run);
    status = mxu_frames_share(memory->frames, run);
    return status == MXU_OK ? record(memory, ask, run, *number, answer) : status;
}

static void release(struct mxu_memory *memory, uint32_t number)
{
    struct mxu_allocation *allocation = &memory->allocations[number];
    struct mxu_run run;

    mxu_detach(memory, number);
    (void)mxu_frames_of(memory->frames, allocation->first, allocation->bytes, &run);
    (void)mxu_frames_release(memory->frames, run);
    *allocation = (struct mxu_allocation){0};
}

enum mxu_status mxu_free(struct mxu_memory *memory, uint32_t component, uint32_t address)
{
    for (uint32_t i = 0; i < memory->allocation_count; i++) {
        const struct mxu_allocation *allocation = &memory->allocations[i];

        if (allocation->bytes != 0 && allocation->component == component && allocation->first == address) {
            release(memory, i);
            return MXU_OK;
        }
    }
    return MXU_ENOENT;
}

void mxu_free_all(struct mxu_memory *memory, uint32_t component)
{
    for (uint32_t i = 0; i < memory->allocation_count; i++) {
        if (memory->allocations[i].bytes != 0 && memory->allocations[i].component == component) {
            release(memory, i);
        }
    }
}
