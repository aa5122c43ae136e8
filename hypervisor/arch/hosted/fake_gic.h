/* SPDX-License-Identifier: Apache-2.0
 *
 * A GICv3 for unit tests, on top of fake_registers.h: distributor and redistributors with set/clear
 * registers, acknowledgement and deactivation, SGIs between cores, and the virtual CPU interface as a guest
 * sees it. Written from IHI 0069, independently of the driver; checks that list registers are used as the
 * architecture demands.
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

/* Maps distributor and redistributors and hooks the registers. Redistributor i belongs to the core with
 * affinity 0 = `affinity_of[i]`. After fake_reset(). */
void fake_gic_init(uint64_t gicd_pa, uint64_t gicr_pa, uint32_t cores, const uint32_t *affinity_of,
                   uint32_t list_registers);

/* The physical side. Private interrupts are the executing core's. */
void fake_gic_raise(uint32_t intid); /* one edge */
void fake_gic_set_line(uint32_t intid, bool high);
bool fake_gic_is_enabled(uint32_t intid);
bool fake_gic_is_active(uint32_t intid);
bool fake_gic_is_pending(uint32_t intid);

/* What the core would take as an interrupt now: it is pending, enabled, routed here and not active. Also the
 * maintenance interrupt. */
bool fake_gic_has_interrupt(void);

/* The guest on the executing core reads IAR1, writes EOIR1 (priority drop and deactivation). */
uint32_t fake_gic_guest_acknowledge(void);
void fake_gic_guest_end(uint32_t intid);
/* The same with EOImode = 1: EOIR, which drops the priority only, and DIR, which only deactivates. */
void fake_gic_guest_drop_priority(void);
void fake_gic_guest_deactivate(uint32_t intid);
/* How many interrupts it has acknowledged and not ended. */
uint32_t fake_gic_guest_depth(void);
/* Whether a virtual interrupt is signalled to the guest. */
bool fake_gic_guest_has_interrupt(void);

/* Uses of list registers that the architecture forbids: the same INTID twice, a pending and active hardware
 * interrupt, EOI with HW. Zero in every test. */
uint32_t fake_gic_violations(void);

#ifdef __cplusplus
}
#endif

#endif
