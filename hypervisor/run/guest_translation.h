/* SPDX-License-Identifier: Apache-2.0
 *
 * What the tables of this core's guest, and its stage 2, make of an address of the guest during a trap.
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

/* As PAR_EL1 has it, for a read at the level that the guest was at. */
static inline uint64_t guest_translation(uint64_t address)
{
    const uint64_t mode_level = 0xC; /* of SPSR_EL2 */

    return arch_translate_guest(address, (sysreg_read(SPSR_EL2) & mode_level) == 0);
}

/* Where the byte is, if it did not fail. */
static inline paddr_t par_address(uint64_t par, uint64_t address)
{
    const uint64_t page = 0x000FFFFFFFFFF000;

    return paddr((par & page) | (address & 0xFFF));
}

#ifdef __cplusplus
}
#endif

#endif
