/* SPDX-License-Identifier: Apache-2.0
 *
 * Barriers, waiting, TLB and cache maintenance, hosted backend: function calls, so that the fakes can record
 * them and the simulated machine can give them cost and effect.
 */
#ifndef BULKHEAD_ARCH_BARRIER_H
#define BULKHEAD_ARCH_BARRIER_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

void arch_isb(void);
void arch_dsb_sy(void);
void arch_dsb_ishst(void);
void arch_wfi(void);
void arch_wfe(void);
void arch_sev(void);
void arch_tlbi_local_all(void);
void arch_tlbi_el2_page(bool everywhere, uintptr_t address);
void arch_tlbi_stage2_page(bool everywhere, uint64_t ipa);
void arch_tlbi_stage1_all(bool everywhere);
void arch_tlbi_guest_all(bool everywhere);
bool arch_take_serror(void);
void arch_icache_invalidate_local(void);
void arch_dcache_clean_invalidate_line(uintptr_t address);

#ifdef __cplusplus
}
#endif

#endif
