/* SPDX-License-Identifier: Apache-2.0
 *
 * Physical interrupts at EL2: who they are for. Taken while a guest runs, or polled by the idle loop.
 */
#ifndef BULKHEAD_IRQ_H
#define BULKHEAD_IRQ_H

#include "cpu.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Handles everything that is pending on this core; returns how many interrupts that were. */
uint32_t irq_handle(struct cpu *cpu);

#ifdef __cplusplus
}
#endif

#endif
