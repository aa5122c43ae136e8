/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * core/mxu_admission.c decides which resources an allocation takes before anything changes. Table nodes of an
 * MMU belong to the component, since its allocations share nodes; their size is computed anew over all of its
 * ranges.
 */
#include "core/mxu_attach.h"
#include "core/mxu_crossing.h"

#define TYPE_SHIFT 8u

static uint32_t last_of(const struct mxu_allocation *allocation)
{
    return allocation->first + (allocation->bytes - 1u);
}

static void remove_ranges(struct mxu_memory *memory, uint32_t number)
{
    const struct mxu_allocation *allocation = &memory->allocations[number];
    struct mxu_component *component = &memory->components[allocation->component];
    uint64_t at = allocation->first;

    while (at <= last_of(allocation)) {
        int16_t range = mxu_trie_lookup(&component->trie, (uint32_t)at);

        if (range == MXU_NONE || component->trie.ranges[range].allocation != number) {
            return; /* the remaining ranges were not inserted */
        }
        at = (uint64_t)component->trie.ranges[range].last + 1u;
        mxu_regions_forget(&component->regions, &component->trie.ranges[range]);
        mxu_trie_remove(&component->trie, range);
    }
}

/* Inserts one range, which is one region of an MPU. */
static enum mxu_status insert(struct mxu_component *component, uint32_t number,
                              const struct mxu_region *region, struct mxu_answer *answer, int16_t *range)
{
    struct mxu_trie *trie = &component->trie;
    bool records = trie->free_ranges != MXU_NONE;
    enum mxu_status status = mxu_trie_insert(trie, region->first, region->last, range);

    if (status != MXU_OK) {
        return mxu_refuse(answer, status, records ? MXU_NODES : MXU_RECORDS, 1, 0);
    }
    trie->ranges[*range].word[0] = region->rbar;
    trie->ranges[*range].word[1] = region->rasr;
    trie->ranges[*range].allocation = (uint16_t)number;
    return MXU_OK;
}

static uint32_t most_bits(const struct mxu_memory *memory, uint32_t spec)
{
    return (spec & MXU_DETERMINISTIC) != 0 ? 32u : memory->most_region_bits;
}

static enum mxu_status insert_regions(struct mxu_memory *memory, uint32_t number, uint32_t attributes)
{
    struct mxu_allocation *allocation = &memory->allocations[number];
    struct mxu_component *component = &memory->components[allocation->component];
    uint64_t at = allocation->first;
    uint32_t most = most_bits(memory, allocation->spec);

    while (at <= last_of(allocation)) {
        struct mxu_region region = mxu_mpu_region_from((uint32_t)at, last_of(allocation), most, attributes);
        int16_t range;
        enum mxu_status status = insert(component, number, &region, &allocation->answer, &range);

        if (status == MXU_OK && (allocation->spec & MXU_DETERMINISTIC) != 0) {
            status = mxu_regions_pin(&component->regions, &component->trie.ranges[range]);
        }
        if (status != MXU_OK) {
            return status;
        }
        at = (uint64_t)region.last + 1u;
    }
    return MXU_OK;
}

/* Whether every instruction of the component can still complete with the regions that its image holds. */
static enum mxu_status check_crossing(const struct mxu_memory *memory, struct mxu_component *component,
                                      struct mxu_answer *answer)
{
    struct mxu_regions *regions = &component->regions;
    enum mxu_policy policy = (enum mxu_policy)regions->policy;
    uint32_t most = mxu_crossing_kept(policy, (uint32_t)regions->count - regions->system);
    uint32_t needed = mxu_crossing_needed(&component->trie, regions, memory->longest_access);

    if (mxu_crossing_check(&component->trie, regions, memory->longest_access) == MXU_OK) {
        return MXU_OK;
    }
    return mxu_refuse(answer, needed > most ? MXU_ENOHW : MXU_EBUSY, MXU_REGIONS, needed,
                      mxu_crossing_kept(policy, mxu_regions_dynamic(regions)));
}

static enum mxu_status attach_regions(struct mxu_memory *memory, uint32_t number)
{
    struct mxu_allocation *allocation = &memory->allocations[number];
    struct mxu_component *component = &memory->components[allocation->component];
    uint32_t attributes = 0;
    struct mxu_request request = {
        .spec = allocation->spec,
        .regions = mxu_mpu_cover(allocation->first, last_of(allocation), 32, 0, 0, 0),
        .regions_used = (uint32_t)component->regions.first_dynamic - component->regions.system,
    };
    enum mxu_status status = mxu_admit(memory->account, &request, &allocation->answer);

    if (status != MXU_OK) {
        return status;
    }
    (void)mxu_mpu_attributes(allocation->rights, allocation->type, &attributes);
    status = insert_regions(memory, number, attributes);
    if (status == MXU_OK) {
        status = check_crossing(memory, component, &allocation->answer);
    }
    if (status != MXU_OK) {
        remove_ranges(memory, number);
        (void)mxu_crossing_check(&component->trie, &component->regions, memory->longest_access);
        allocation->answer.taken[MXU_REGIONS] = 0;
    }
    return status;
}

bool mxu_in_own_sets(const struct mxu_memory *memory, uint32_t component, uint32_t spec, uint32_t first,
                     uint32_t bytes)
{
    uint32_t address;

    return memory->main_tlb.sets == 0 ||
           (mxu_tlb_find(&memory->main_tlb, &memory->components[component].tlb, bytes >> MXU_PAGE_BITS,
                         mxu_spec_is_placed(spec) && (spec & MXU_INDEPENDENT) != 0, first,
                         &address) == MXU_OK &&
            address == first);
}

/* The strictest placement that a component's allocations require of table nodes, and the bytes of these
 * nodes. Allocation `but` counts as freed. */
static uint32_t placed_need(const struct mxu_memory *memory, uint32_t component, uint32_t but, uint32_t *spec)
{
    const struct mxu_trie *trie = &memory->components[component].trie;
    struct mxu_table_need need;
    uint32_t count = 0;

    *spec = 0;
    for (int16_t i = trie->first; i != MXU_NONE; i = trie->ranges[i].next) {
        uint32_t asked = memory->allocations[trie->ranges[i].allocation].spec;

        if (trie->ranges[i].allocation != but && mxu_spec_is_placed(asked)) {
            memory->spans[count++] =
                (struct mxu_span){.first = trie->ranges[i].first, .last = trie->ranges[i].last};
            *spec |= asked & (MXU_L2 | MXU_L3 | MXU_INDEPENDENT);
        }
    }
    (void)mxu_tables_needed(memory->tables, memory->spans, count, &need);
    return (uint32_t)need.bytes;
}

static bool is_of_nodes(uint32_t resource)
{
    return resource == MXU_OCM_BYTES || resource == MXU_WAY_BYTES || resource == MXU_COLORED_BYTES;
}

/* Requests the component's table nodes as a whole. Its previous nodes are released if the request is granted,
 * and kept if it is refused. */
static enum mxu_status admit_placed(struct mxu_memory *memory, struct mxu_allocation *allocation)
{
    struct mxu_component *component = &memory->components[allocation->component];
    struct mxu_answer before = component->taken;
    struct mxu_request request = {
        .has_tlb_sets = memory->main_tlb.sets != 0,
        .has_asid = before.taken[MXU_ASIDS] != 0,
    };
    enum mxu_status status;

    request.node_bytes = placed_need(memory, allocation->component, UINT32_MAX, &request.spec);
    request.spec = (request.spec & MXU_L2) != 0 ? MXU_L2 : MXU_L3;
    request.spec |= allocation->spec & MXU_INDEPENDENT;
    mxu_release(memory->account, &before);
    memory->account->used[MXU_ASIDS] += before.taken[MXU_ASIDS];
    status = mxu_admit(memory->account, &request, &allocation->answer);
    if (status != MXU_OK) {
        memory->account->used[MXU_ASIDS] -= before.taken[MXU_ASIDS];
        for (uint32_t i = 0; i < MXU_RESOURCES; i++) {
            memory->account->used[i] += before.taken[i];
        }
        return status;
    }
    component->taken = allocation->answer;
    component->taken.taken[MXU_ASIDS] += before.taken[MXU_ASIDS];
    for (uint32_t i = 0; i < MXU_RESOURCES; i++) {
        allocation->answer.taken[i] = 0;
    }
    return MXU_OK;
}

static enum mxu_status attach_pages(struct mxu_memory *memory, uint32_t number)
{
    struct mxu_allocation *allocation = &memory->allocations[number];
    struct mxu_component *component = &memory->components[allocation->component];
    struct mxu_region whole = {.first = allocation->first,
                               .last = last_of(allocation),
                               .rbar = allocation->rights | (uint32_t)allocation->type << TYPE_SHIFT};
    struct mxu_request request = {
        .spec = allocation->spec,
        .locked_entries =
            mxu_locked_entries(allocation->first, allocation->first, allocation->bytes, memory->entry_sizes),
    };
    enum mxu_status status;
    int16_t range;

    if (!mxu_in_own_sets(memory, allocation->component, allocation->spec, allocation->first,
                         allocation->bytes)) {
        return mxu_refuse(&allocation->answer, MXU_ENOHW, MXU_TLB_SETS, allocation->bytes >> MXU_PAGE_BITS,
                          0);
    }
    status = insert(component, number, &whole, &allocation->answer, &range);
    if (status != MXU_OK) {
        return status;
    }
    status = mxu_spec_is_placed(allocation->spec) ? admit_placed(memory, allocation)
                                                  : mxu_admit(memory->account, &request, &allocation->answer);
    if (status != MXU_OK) {
        mxu_trie_remove(&component->trie, range);
        return status;
    }
    if (memory->main_tlb.sets != 0 && mxu_spec_is_placed(allocation->spec) &&
        (allocation->spec & MXU_INDEPENDENT) != 0) {
        mxu_tlb_take(&memory->main_tlb, &component->tlb, allocation->first,
                     allocation->bytes >> MXU_PAGE_BITS);
    }
    return MXU_OK;
}

enum mxu_status mxu_attach(struct mxu_memory *memory, uint32_t number)
{
    memory->allocations[number].answer = (struct mxu_answer){.lacking = MXU_NO_RESOURCE};
    return memory->account->hardware->checker == MXU_MPU ? attach_regions(memory, number)
                                                         : attach_pages(memory, number);
}

/* Releases table nodes that the component no longer needs without an allocation. */
static void release_placed(struct mxu_memory *memory, uint32_t number)
{
    const struct mxu_allocation *allocation = &memory->allocations[number];
    struct mxu_component *component = &memory->components[allocation->component];
    struct mxu_answer *taken = &component->taken;
    uint32_t spec;
    uint32_t bytes = placed_need(memory, allocation->component, number, &spec);

    for (uint32_t i = 0; i < MXU_RESOURCES; i++) {
        uint32_t keep = is_of_nodes(i) ? bytes : (spec & MXU_INDEPENDENT) != 0 ? taken->taken[i] : 0;

        if (taken->taken[i] > keep) {
            memory->account->used[i] -= taken->taken[i] - keep;
            taken->taken[i] = keep;
        }
    }
    if (memory->main_tlb.sets != 0 && (allocation->spec & MXU_INDEPENDENT) != 0) {
        mxu_tlb_release(&memory->main_tlb, &component->tlb, allocation->first,
                        allocation->bytes >> MXU_PAGE_BITS);
    }
}

void mxu_detach(struct mxu_memory *memory, uint32_t number)
{
    const struct mxu_allocation *allocation = &memory->allocations[number];
    struct mxu_component *component = &memory->components[allocation->component];

    if (memory->account->hardware->checker == MXU_MMU && mxu_spec_is_placed(allocation->spec)) {
        release_placed(memory, number);
    }
    remove_ranges(memory, number);
    mxu_release(memory->account, &allocation->answer);
    if (memory->account->hardware->checker == MXU_MPU) {
        (void)mxu_crossing_check(&component->trie, &component->regions, memory->longest_access);
    }
}
