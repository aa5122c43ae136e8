/* SPDX-License-Identifier: Apache-2.0
 *
 * From the boot package to a running EL2: what the first core does with the MMU off, and what it hands over
 * to the code that then runs at virtual addresses.
 */
#ifndef BULKHEAD_BOOT_H
#define BULKHEAD_BOOT_H

#include "base/boot_handover.h"
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* First core, MMU off, running where the loader put the package: checks the manifest, and the board by the
 * loader's device tree (its physical address; 0: there is none), copies the hypervisor and the guests' images
 * to their frames, builds EL2's tables. Returns the physical address of the trampoline. Does not return if
 * the manifest is refused: reports why and turns the machine off. */
uint64_t boot_prepare(uint64_t load_address, uint64_t device_tree);

/* First core, entered at another exception level than EL2 (`current_el` as in CurrentEL): says so, and waits
 * for ever, because how to turn the machine off from there is not known. */
__attribute__((noreturn)) void boot_wrong_level(uint64_t current_el);

#ifdef __cplusplus
}
#endif

#endif
