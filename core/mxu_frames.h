/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Typed frames (X3, X6): each frame of memory is free, the kernel's, or users', and never two of these. A
 * frame changes its kind only by becoming free, and it is free only when nobody holds it. Called by the
 * memory manager and by the kernel's retype operation; the caller serializes.
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
    MXU_FRAME_KERNEL, /* the kernel's tables, nodes and stacks: never in a component's trie */
};

#define MXU_FRAME_MOST_HOLDERS 255u

/* 2 bytes. */
struct mxu_frame {
    uint8_t kind;
    uint8_t holders; /* 0 if and only if the frame is free; a kernel's frame has one holder */
};

struct mxu_frames {
    struct mxu_frame *frame; /* array of `count` frames, supplied by the caller */
    uint32_t count;
    uint32_t first;      /* address of frame 0 */
    uint32_t frame_bits; /* a frame has 2^frame_bits bytes, at least a granule */
};

/* A run of consecutive frames, by number. */
struct mxu_run {
    uint32_t at;
    uint32_t count;
};

/* Initializes all frames as free. Returns false if they do not lie in the address space or are not
 * aligned. */
bool mxu_frames_init(struct mxu_frames *frames, struct mxu_frame *array, uint32_t count, uint32_t first,
                     uint32_t frame_bits);

/* The frames of [first, first + bytes). Returns false if these are not whole frames of the table. */
bool mxu_frames_of(const struct mxu_frames *frames, uint32_t first, uint32_t bytes, struct mxu_run *run);

/* Whether all frames of a run, which must lie in the table, are of this kind. */
bool mxu_frames_are(const struct mxu_frames *frames, struct mxu_run run, enum mxu_frame_kind kind);

/* Finds the lowest run of `count` free frames whose address is a multiple of 2^align_bits bytes and that
 * crosses no multiple of 2^block_bits bytes (32: no such limit). */
enum mxu_status mxu_frames_find(const struct mxu_frames *frames, uint32_t count, uint32_t align_bits,
                                uint32_t block_bits, struct mxu_run *run);

/* Takes free frames for `kind`. MXU_EEXIST, with nothing changed, if one is not free. */
enum mxu_status mxu_frames_claim(struct mxu_frames *frames, struct mxu_run run, enum mxu_frame_kind kind);

/* Adds a holder to users' frames. MXU_EINVAL if one is not a user's, MXU_EBUSY if one has the most
 * holders. */
enum mxu_status mxu_frames_share(struct mxu_frames *frames, struct mxu_run run);

/* Removes a holder; frames without holders become free. MXU_ENOENT, with nothing changed, if one is free. */
enum mxu_status mxu_frames_release(struct mxu_frames *frames, struct mxu_run run);

#ifdef __cplusplus
}
#endif

#endif
