/* SPDX-License-Identifier: Apache-2.0
 *
 * Physical interrupts at EL2: finds out whom each is for, and handles it or injects it into a guest.
 * Interrupts are taken while a guest runs (trap_irq_short()), or polled by the idle loop.
 */
#ifndef BULKHEAD_IRQ_H
#define BULKHEAD_IRQ_H

#include "vm/cpu.h"
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Short path of trap.h: handles the most urgent interrupt that was taken while a guest ran. Returns false if
 * the guest may not be able to continue. */
bool trap_irq_short(void);

/* Handles one interrupt that is pending on this core; returns false if there is none. A caller that waits
 * must check after each interrupt whether it still has to wait, because others decide how many interrupts
 * arrive. */
bool irq_handle_one(struct cpu *cpu);

#ifdef __cplusplus
}
#endif

#endif
