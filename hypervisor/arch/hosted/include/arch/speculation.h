/* SPDX-License-Identifier: Apache-2.0
 *
 * Mask for a guest's number as an index, hosted backend: the same value, without a barrier. The vectors are
 * only a number, because no exception goes through them.
 */
#ifndef BULKHEAD_ARCH_SPECULATION_H
#define BULKHEAD_ARCH_SPECULATION_H

#include <arch/sysreg.h>
#include <stdint.h>

static inline uint64_t arch_index_mask(uint64_t index, uint64_t count)
{
    return index < count ? UINT64_MAX : 0;
}

#define HOSTED_VECTORS_HARDENED 0x800ull

static inline void arch_harden_entries(void)
{
    sysreg_write(VBAR_EL2, HOSTED_VECTORS_HARDENED);
}

#endif
