/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Typed frames (X3, X6): each frame of memory is free, the kernel's, or users', and never two of them. A
 * frame changes its kind only through free, and is free only when nobody holds it. The memory manager and the
 * kernel's retype operation call this; the caller serializes.
 */
#ifndef BULKHEAD_CORE_MXU_FRAMES_H
#define BULKHEAD_CORE_MXU_FRAMES_H

#include "core/mxu.h"

#ifdef __cplusplus
extern "C" {
#endif

enum mxu_frame_kind {
    MXU_FRAME_FREE,
    MXU_FRAME_USER,
    MXU_FRAME_KERNEL, /* tables, nodes, stacks of the kernel: never in a component's trie */
};

#define MXU_FRAME_MOST_HOLDERS 255u

/* 2 bytes. */
struct mxu_frame {
    uint8_t kind;
    uint8_t holders; /* 0 if and only if it is free; a kernel's frame has one */
};

struct mxu_frames {
    struct mxu_frame *frame; /* the caller's array */
    uint32_t count;
    uint32_t first;      /* address of frame 0 */
    uint32_t frame_bits; /* a frame has 2^frame_bits bytes, at least a granule */
};

/* Frames, by number. */
struct mxu_run {
    uint32_t at;
    uint32_t count;
};

/* All frames are free afterwards. False if they do not lie in the address space or are not aligned. */
bool mxu_frames_init(struct mxu_frames *frames, struct mxu_frame *array, uint32_t count, uint32_t first,
                     uint32_t frame_bits);

/* The frames of [first, first + bytes), which must be whole frames. */
bool mxu_frames_of(const struct mxu_frames *frames, uint32_t first, uint32_t bytes, struct mxu_run *run);

/* Whether all frames of a run, which lies in the table, are of a kind. */
bool mxu_frames_are(const struct mxu_frames *frames, struct mxu_run run, enum mxu_frame_kind kind);

/* The lowest run of `count` free frames whose address is a multiple of 2^align_bits bytes and that crosses no
 * multiple of 2^block_bits bytes (32: no such limit). */
enum mxu_status mxu_frames_find(const struct mxu_frames *frames, uint32_t count, uint32_t align_bits,
                                uint32_t block_bits, struct mxu_run *run);

/* Takes free frames for `kind`. MXU_EEXIST if one is not free; then nothing changes. */
enum mxu_status mxu_frames_claim(struct mxu_frames *frames, struct mxu_run run, enum mxu_frame_kind kind);

/* One more holder of users' frames. MXU_EINVAL if one is not a user's, MXU_EBUSY at the most holders. */
enum mxu_status mxu_frames_share(struct mxu_frames *frames, struct mxu_run run);

/* One holder less; frames without one become free. MXU_ENOENT if one is free; then nothing changes. */
enum mxu_status mxu_frames_release(struct mxu_frames *frames, struct mxu_run run);

#ifdef __cplusplus
}
#endif

#endif
