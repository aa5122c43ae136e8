/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls to the firmware, hosted backend: a call into the fakes or into the machine's firmware model.
 */
#ifndef BULKHEAD_ARCH_SMC_H
#define BULKHEAD_ARCH_SMC_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

int64_t arch_smc(uint64_t function, uint64_t first, uint64_t second, uint64_t third);

/* The implementation behind arch_smc() answers in one register only. */
static inline void arch_smc_all(uint64_t x[8])
{
    x[0] = (uint64_t)arch_smc(x[0], x[1], x[2], x[3]);
}

#ifdef __cplusplus
}
#endif

#endif
