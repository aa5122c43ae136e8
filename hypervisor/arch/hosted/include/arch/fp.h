/* SPDX-License-Identifier: Apache-2.0
 *
 * The floating-point and SIMD registers of a guest, hosted backend: a call that the fakes count.
 */
#ifndef BULKHEAD_ARCH_FP_H
#define BULKHEAD_ARCH_FP_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ARCH_FP_WORDS 66u

void arch_fp_clear(void);
void arch_fp_save(uint64_t words[ARCH_FP_WORDS]);
void arch_fp_load(const uint64_t words[ARCH_FP_WORDS]);

#ifdef __cplusplus
}
#endif

#endif
