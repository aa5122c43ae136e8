/* SPDX-License-Identifier: Apache-2.0
 *
 * Maintenance that EL2 executes for a guest whose own instructions trap, hosted backend: function calls, so
 * that the fakes can record them and the simulated machine can give them their cost on every core.
 */
#ifndef BULKHEAD_ARCH_MAINTENANCE_H
#define BULKHEAD_ARCH_MAINTENANCE_H

#include "arch/tlbi.h"
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

void arch_tlbi(enum tlbi_form form, bool everywhere, uint64_t operand);
void arch_icache_invalidate(bool everywhere);
void arch_icache_invalidate_line(uintptr_t address);
void arch_dcache_clean_line_to_unification(uintptr_t address);
uint64_t arch_translate_guest(uint64_t address, bool user);

#ifdef __cplusplus
}
#endif

#endif
