/* SPDX-License-Identifier: Apache-2.0
 *
 * A GICv3 for unit tests, on top of fake_registers.h: distributor and redistributors with set and clear
 * registers, acknowledgement and deactivation, SGIs between cores, and the virtual CPU interface as a guest
 * sees it. There are two implementations, and the same tests link with either: fake_gic.c, written from IHI
 * 0069 independently of the driver, and the simulated machine's (tests/hypervisor/machine_board.cpp). Both
 * check that list registers are used as the architecture requires.
 */
#ifndef BULKHEAD_FAKE_GIC_H
#define BULKHEAD_FAKE_GIC_H

#include "fake_registers.h"

#ifdef __cplusplus
extern "C" {
#endif

#define FAKE_GIC_INTIDS      288u
#define FAKE_GIC_MAINTENANCE 25u
#define FAKE_GIC_SPURIOUS    1023u
#define FAKE_GIC_FIRST_LPI   8192u
#define FAKE_GIC_LPIS        512u

/* Maps distributor and redistributors and hooks the registers. Redistributor i belongs to the core with
 * affinity 0 = `affinity_of[i]`. Called after fake_reset(). */
void fake_gic_init(uint64_t gicd_pa, uint64_t gicr_pa, uint32_t cores, const uint32_t *affinity_of,
                   uint32_t list_registers);

/* Registers of the executing core's CPU interface (ICC_*, ICH_*) and of the distributor, read without hooks
 * and log. */
uint64_t fake_gic_sysreg(enum sysreg_id id);
void fake_gic_set_sysreg(enum sysreg_id id, uint64_t value);
uint32_t fake_gic_distributor(uint64_t offset);

/* The physical side. Private interrupts are those of the executing core. */
void fake_gic_raise(uint32_t intid); /* one edge */
void fake_gic_set_line(uint32_t intid, bool high);
bool fake_gic_is_enabled(uint32_t intid);
bool fake_gic_is_active(uint32_t intid);
bool fake_gic_is_pending(uint32_t intid);

/* True if the core would take an interrupt now: it is pending, enabled, routed to this core and not active.
 * Includes the maintenance interrupt. */
bool fake_gic_has_interrupt(void);

/* Message interrupts (LPIs), of the plain GICv3 only. A model of an ITS has the registers for them in the
 * redistributors, and pends LPIs that are mapped and enabled; GICR_TYPER is `value` before the model changes
 * it. `keep_active`: an LPI in a list register becomes active when the guest acknowledges it, as on the
 * emulator until the guest ends it; otherwise it has no active state, as in the architecture. */
typedef bool (*fake_gic_lpi_hook)(uint32_t core, uint64_t offset, bool write, uint64_t *value);
void fake_gic_hook_lpis(fake_gic_lpi_hook hook, bool keep_active);
void fake_gic_pend_lpi(uint32_t core, uint32_t intid);

/* The guest on the executing core opens its CPU interface: PMR and both group enables. The plain fake has
 * neither and is always open. */
void fake_gic_guest_open(void);
/* The guest reads IAR1; writes EOIR1 (priority drop and deactivation). */
uint32_t fake_gic_guest_acknowledge(void);
void fake_gic_guest_end(uint32_t intid);
/* The same with EOImode = 1: EOIR only drops the priority, DIR only deactivates. */
void fake_gic_guest_drop_priority(void);
void fake_gic_guest_deactivate(uint32_t intid);
/* Number of interrupts that the guest has acknowledged and not ended. */
uint32_t fake_gic_guest_depth(void);
/* True if a virtual interrupt is signalled to the guest. */
bool fake_gic_guest_has_interrupt(void);

/* Number of uses of list registers that the architecture forbids: the same INTID twice, a pending and active
 * hardware interrupt, EOI with HW. Must be zero in every test. */
uint32_t fake_gic_violations(void);

#ifdef __cplusplus
}
#endif

#endif
