/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls to the firmware beneath, hosted backend: a call into the fakes or the machine's firmware model.
 */
#ifndef BULKHEAD_ARCH_SMC_H
#define BULKHEAD_ARCH_SMC_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

int64_t arch_smc(uint64_t function, uint64_t first, uint64_t second, uint64_t third);

#ifdef __cplusplus
}
#endif

#endif
