/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * The table of typed frames. Each function checks all frames of a run before it changes any of them.
 */
#include "core/mxu_frames.h"

#define ADDRESS_BITS 32u

bool mxu_frames_init(struct mxu_frames *frames, struct mxu_frame *array, uint32_t count, uint32_t first,
                     uint32_t frame_bits)
{
    uint64_t end = first + ((uint64_t)count << (frame_bits < ADDRESS_BITS ? frame_bits : ADDRESS_BITS));

    if (frame_bits < 5 || frame_bits >= ADDRESS_BITS || first % (UINT32_C(1) << frame_bits) != 0 ||
        end > UINT64_C(1) << ADDRESS_BITS) {
        return false;
    }
    *frames = (struct mxu_frames){array, count, first, frame_bits};
    for (uint32_t i = 0; i < count; i++) {
        array[i] = (struct mxu_frame){MXU_FRAME_FREE, 0};
    }
    return true;
}

bool mxu_frames_of(const struct mxu_frames *frames, uint32_t first, uint32_t bytes, struct mxu_run *run)
{
    uint32_t mask = (UINT32_C(1) << frames->frame_bits) - 1u;

    if (bytes == 0 || first < frames->first || ((first | bytes) & mask) != 0) {
        return false;
    }
    *run = (struct mxu_run){(first - frames->first) >> frames->frame_bits, bytes >> frames->frame_bits};
    return run->at <= frames->count && run->count <= frames->count - run->at;
}

static bool is_in(const struct mxu_frames *frames, struct mxu_run run)
{
    return run.count > 0 && run.at <= frames->count && run.count <= frames->count - run.at;
}

/* Number of frames at the start of a run that are of one kind. */
static uint32_t leading(const struct mxu_frames *frames, struct mxu_run run, enum mxu_frame_kind kind)
{
    uint32_t i = 0;

    while (i < run.count && frames->frame[run.at + i].kind == (uint8_t)kind) {
        i++;
    }
    return i;
}

bool mxu_frames_are(const struct mxu_frames *frames, struct mxu_run run, enum mxu_frame_kind kind)
{
    return is_in(frames, run) && leading(frames, run, kind) == run.count;
}

static uint64_t address_of(const struct mxu_frames *frames, uint32_t frame)
{
    return frames->first + ((uint64_t)frame << frames->frame_bits);
}

/* The first frame at or after `frame` whose address is a multiple of 2^align_bits bytes. */
static uint64_t aligned_from(const struct mxu_frames *frames, uint32_t frame, uint32_t align_bits)
{
    uint64_t mask = (UINT64_C(1) << align_bits) - 1u;
    uint64_t address = (address_of(frames, frame) + mask) & ~mask;

    return (address - frames->first) >> frames->frame_bits;
}

enum mxu_status mxu_frames_find(const struct mxu_frames *frames, uint32_t count, uint32_t align_bits,
                                uint32_t block_bits, struct mxu_run *run)
{
    uint64_t at = 0;

    if (count == 0 || align_bits > ADDRESS_BITS || block_bits > ADDRESS_BITS ||
        (block_bits < ADDRESS_BITS && (uint64_t)count << frames->frame_bits > UINT64_C(1) << block_bits)) {
        return MXU_EINVAL;
    }
    for (;;) {
        uint64_t last;
        uint32_t free;

        at = at <= frames->count ? aligned_from(frames, (uint32_t)at, align_bits) : at;
        if (at > frames->count || count > frames->count - at) {
            return MXU_ENOMEM;
        }
        last = address_of(frames, (uint32_t)at + count) - 1u;
        if (address_of(frames, (uint32_t)at) >> block_bits != last >> block_bits) {
            at = ((last >> block_bits << block_bits) - frames->first) >> frames->frame_bits;
            continue;
        }
        *run = (struct mxu_run){(uint32_t)at, count};
        free = leading(frames, *run, MXU_FRAME_FREE);
        if (free == count) {
            return MXU_OK;
        }
        at += free + 1u;
    }
}

enum mxu_status mxu_frames_claim(struct mxu_frames *frames, struct mxu_run run, enum mxu_frame_kind kind)
{
    if (!is_in(frames, run) || kind == MXU_FRAME_FREE) {
        return MXU_EINVAL;
    }
    if (leading(frames, run, MXU_FRAME_FREE) != run.count) {
        return MXU_EEXIST;
    }
    for (uint32_t i = 0; i < run.count; i++) {
        frames->frame[run.at + i] = (struct mxu_frame){(uint8_t)kind, 1};
    }
    return MXU_OK;
}

enum mxu_status mxu_frames_share(struct mxu_frames *frames, struct mxu_run run)
{
    if (!mxu_frames_are(frames, run, MXU_FRAME_USER)) {
        return MXU_EINVAL;
    }
    for (uint32_t i = 0; i < run.count; i++) {
        if (frames->frame[run.at + i].holders == MXU_FRAME_MOST_HOLDERS) {
            return MXU_EBUSY;
        }
    }
    for (uint32_t i = 0; i < run.count; i++) {
        frames->frame[run.at + i].holders++;
    }
    return MXU_OK;
}

enum mxu_status mxu_frames_release(struct mxu_frames *frames, struct mxu_run run)
{
    if (!is_in(frames, run)) {
        return MXU_EINVAL;
    }
    for (uint32_t i = 0; i < run.count; i++) {
        if (frames->frame[run.at + i].kind == MXU_FRAME_FREE) {
            return MXU_ENOENT;
        }
    }
    for (uint32_t i = 0; i < run.count; i++) {
        struct mxu_frame *frame = &frames->frame[run.at + i];

        frame->holders--;
        if (frame->holders == 0) {
            frame->kind = MXU_FRAME_FREE;
        }
    }
    return MXU_OK;
}
