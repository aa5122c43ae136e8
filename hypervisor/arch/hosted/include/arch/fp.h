/* SPDX-License-Identifier: Apache-2.0
 *
 * The floating-point and SIMD registers of a guest, hosted backend: a call that the fakes count.
 */
#ifndef BULKHEAD_ARCH_FP_H
#define BULKHEAD_ARCH_FP_H

#ifdef __cplusplus
extern "C" {
#endif

void arch_fp_clear(void);

#ifdef __cplusplus
}
#endif

#endif
