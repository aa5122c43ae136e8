/* SPDX-License-Identifier: Apache-2.0
 *
 * Values that the first core stores with the MMU off, for the code that then runs at virtual addresses.
 */
#ifndef BULKHEAD_BOOT_HANDOVER_H
#define BULKHEAD_BOOT_HANDOVER_H

#include "core/address.h"
#include <stdint.h>

#define BOOT_HANDOVER_ALIGNMENT 64

/* boot_prepare() writes this through physical addresses, into the copy of the image in the pool; main reads
 * it. In a colored pool, consecutive pages are not physically adjacent, so the structure must not cross the
 * end of a page. */
struct boot_handover {
    uint64_t ttbr0;
    uint64_t pool_used;      /* frames used by the image, the manifest and EL2's tables */
    uint64_t manifest_frame; /* first frame of the manifest in the pool */
    uint64_t entered_at;     /* counter value at the entry to the image */
    uint64_t load_address;   /* physical address of the boot package, which contains the images to load */
    paddr_t trampoline;      /* physical address where cores start with the MMU off */
};

_Static_assert(sizeof(struct boot_handover) <= BOOT_HANDOVER_ALIGNMENT, "the structure must fit in a page");

extern struct boot_handover boot_handover __attribute__((aligned(BOOT_HANDOVER_ALIGNMENT)));

#endif
