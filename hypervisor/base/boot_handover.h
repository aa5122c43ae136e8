/* SPDX-License-Identifier: Apache-2.0
 *
 * What the first core, with the MMU off, leaves for the code that then runs at virtual addresses.
 */
#ifndef BULKHEAD_BOOT_HANDOVER_H
#define BULKHEAD_BOOT_HANDOVER_H

#include "core/address.h"
#include <stdint.h>

#define BOOT_HANDOVER_ALIGNMENT 64

/* Written by boot_prepare() into the copy of the image in the pool, by physical addresses; read by main. The
 * next page of a colored pool is elsewhere: the structure must not reach over the end of one. */
struct boot_handover {
    uint64_t ttbr0;
    uint64_t pool_used;      /* frames taken by image, manifest and EL2's tables */
    uint64_t manifest_frame; /* first frame of the manifest in the pool */
    uint64_t entered_at;     /* counter at the entry to the image */
    uint64_t load_address;   /* of the package: where the images' sources are */
    paddr_t trampoline;      /* where cores start with the MMU off */
};

_Static_assert(sizeof(struct boot_handover) <= BOOT_HANDOVER_ALIGNMENT, "within a page");

extern struct boot_handover boot_handover __attribute__((aligned(BOOT_HANDOVER_ALIGNMENT)));

#endif
