/* SPDX-License-Identifier: Apache-2.0
 *
 * From the boot package to a running EL2: what the first core does with the MMU off, and what it hands over
 * to the code that then runs at virtual addresses.
 */
#ifndef BULKHEAD_BOOT_H
#define BULKHEAD_BOOT_H

#include "core/address.h"
#include <stdint.h>

/* Written by boot_prepare() into the copy of the image in the pool; read by main. */
struct boot_handover {
    uint64_t ttbr0;
    uint64_t pool_used;      /* frames taken by image, manifest and EL2's tables */
    uint64_t manifest_frame; /* first frame of the manifest in the pool */
    uint64_t entered_at;     /* counter at the entry to the image */
    uint64_t load_address;   /* of the package: where the images' sources are */
    paddr_t trampoline;      /* where cores start with the MMU off */
};

extern struct boot_handover boot_handover;

/* First core, MMU off, running where the loader put the package: checks the manifest, and the board by the
 * loader's device tree (its physical address; 0: there is none), copies the hypervisor and the guests' images
 * to their frames, builds EL2's tables. Returns the physical address of the trampoline. Does not return if
 * the manifest is refused: reports why and turns the machine off. */
uint64_t boot_prepare(uint64_t load_address, uint64_t device_tree);

/* First core, entered at another exception level than EL2 (`current_el` as in CurrentEL): says so, and waits
 * for ever, because how to turn the machine off from there is not known. */
__attribute__((noreturn)) void boot_wrong_level(uint64_t current_el);

#endif
