/* SPDX-License-Identifier: Apache-2.0
 *
 * Translates an address of this core's guest through the guest's tables and stage 2, while EL2 handles a
 * trap.
 */
#ifndef BULKHEAD_GUEST_TRANSLATION_H
#define BULKHEAD_GUEST_TRANSLATION_H

#include "core/address.h"
#include <arch/maintenance.h>
#include <arch/sysreg.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* PAR_EL1 (DDI 0487, D24.2) */
#define PAR_FAILED     (1ull << 0)
#define PAR_STATUS(x)  ((x) >> 1 & 0x3F)
#define PAR_STAGE2     (1ull << 9)
#define PAR_ATTR_SHIFT 56

/* The translation in the format of PAR_EL1, for a read at the exception level at which the guest was. */
static inline uint64_t guest_translation(uint64_t address)
{
    const uint64_t mode_level = 0xC; /* mode field of SPSR_EL2 */

    return arch_translate_guest(address, (sysreg_read(SPSR_EL2) & mode_level) == 0);
}

/* Physical address of the byte at `address`. The translation must not have failed. */
static inline paddr_t par_address(uint64_t par, uint64_t address)
{
    const uint64_t page = 0x000FFFFFFFFFF000;

    return paddr((par & page) | (address & 0xFFF));
}

#ifdef __cplusplus
}
#endif

#endif
