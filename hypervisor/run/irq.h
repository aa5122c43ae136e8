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

/* Handles one interrupt that is pending on this core; false: there is none. A caller that waits looks after
 * each whether it still has to: others choose how many come. */
bool irq_handle_one(struct cpu *cpu);

#ifdef __cplusplus
}
#endif

#endif
