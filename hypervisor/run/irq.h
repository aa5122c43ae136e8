/* SPDX-License-Identifier: Apache-2.0
 *
 * Physical interrupts at EL2: who they are for. Taken while a guest runs
 * (trap_irq_short()), or polled by the idle loop.
 */
#ifndef BULKHEAD_IRQ_H
#define BULKHEAD_IRQ_H

#include "vm/cpu.h"
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The short way of trap.h: the most urgent interrupt, while a guest runs. */
bool trap_irq_short(void);

/* Handles one interrupt that is pending on this core; false: there is none. */
bool irq_handle_one(struct cpu *cpu);

/* Handles everything that is pending on this core: where it waits at EL2. */
void irq_handle_all(struct cpu *cpu);

#ifdef __cplusplus
}
#endif

#endif
