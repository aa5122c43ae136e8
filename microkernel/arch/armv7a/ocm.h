/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory on the chip, which is the kernel's: table nodes that a specification places there (X5).
 */
#ifndef BULKHEAD_MICROKERNEL_ARMV7A_OCM_H
#define BULKHEAD_MICROKERNEL_ARMV7A_OCM_H

#include <stdbool.h>
#include <stdint.h>

/* Takes `bytes`, a power of two of at least 1 KiB, at a multiple of it; 0: there is no place. Cleared. */
uint32_t ocm_take(uint32_t bytes);
void ocm_release(uint32_t address, uint32_t bytes);
bool ocm_has(uint32_t address);

#endif
