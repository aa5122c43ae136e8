/* SPDX-License-Identifier: Apache-2.0
 *
 * From the boot package to a running EL2: the first core's work with the MMU off, and the values that it
 * hands over to the code that then runs at virtual addresses.
 */
#ifndef BULKHEAD_BOOT_H
#define BULKHEAD_BOOT_H

#include "base/boot_handover.h"
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Prepares EL2, on the first core, with the MMU off, at the address to which the loader copied the package.
 * Checks the manifest, and compares it with the loader's device tree (`device_tree`: physical address, 0 if
 * there is none). Copies the hypervisor and the guests' images to their frames and builds EL2's tables.
 * Returns the physical address of the trampoline. If the manifest is refused, reports the reason, turns the
 * machine off, and does not return. */
uint64_t boot_prepare(uint64_t load_address, uint64_t device_tree);

/* The first core was entered at an exception level other than EL2 (`current_el` as read from CurrentEL):
 * reports this and waits forever, because it is not known how to turn the machine off at that level. */
__attribute__((noreturn)) void boot_wrong_level(uint64_t current_el);

#ifdef __cplusplus
}
#endif

#endif
