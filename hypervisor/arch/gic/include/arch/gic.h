/* SPDX-License-Identifier: Apache-2.0
 *
 * The physical interrupt controller, GICv2 or GICv3: one of arch/gicv* is linked in. EL2 acknowledges every
 * interrupt, drops its priority and deactivates it itself or lets a guest's deactivation of a list register
 * do so. Called with interrupts masked; knows nothing of guests.
 */
#ifndef BULKHEAD_ARCH_GIC_H
#define BULKHEAD_ARCH_GIC_H

#include <bulkhead_layout.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GIC_SGI_COUNT     BH_FIRST_PERIPHERAL_INTID
#define GIC_PRIVATE_COUNT BH_FIRST_SHARED_INTID  /* SGIs and PPIs */
#define GIC_INTID_LIMIT   BH_FIRST_SPECIAL_INTID /* acknowledged INTIDs from here on: nothing to end */

/* Resets the distributor: every SPI disabled, inactive, default priority, in a group that is ours. First
 * core, once. */
void gic_init(const struct manifest_platform *platform);

/* Prepares the executing core: finds what the controller has for it (a redistributor, by affinity and not by
 * order; a CPU interface number), resets SGIs and PPIs, enables SGI 0 and the maintenance interrupt, opens
 * the CPU interface with separate priority drop and deactivation. `mpidr`: affinity fields. Returns false if
 * there is nothing for that affinity. */
bool gic_cpu_init(uint32_t cpu_index, uint64_t mpidr);

/* Acknowledges the highest-priority pending interrupt; >= GIC_INTID_LIMIT: there is none (spurious). */
uint32_t gic_acknowledge(void);

/* Drops the running priority after gic_acknowledge(). The interrupt stays active. */
void gic_end(uint32_t intid);

/* Ends the active state, so that the interrupt can come again. Private ones: on their own core. */
void gic_deactivate(uint32_t intid);

/* Makes a private interrupt of the executing core active, as gic_acknowledge() and gic_end() leave it. */
void gic_activate(uint32_t intid);

/* Enables an interrupt. SPIs are first routed to the core with affinity `mpidr`, also if already enabled;
 * private interrupts are those of the executing core and ignore `mpidr`. */
void gic_enable(uint32_t intid, uint64_t mpidr);
void gic_disable(uint32_t intid);

/* Sets the trigger of an SPI or PPI that is disabled. */
void gic_set_edge(uint32_t intid, bool edge);

/* The pending bits of interrupts [32 * word, 32 * word + 32); word 0 is the executing core's. */
uint32_t gic_pending_word(uint32_t word);

/* Interrupts the core with affinity `target_mpidr` with software-generated interrupt `sgi`. What the sender
 * wrote before is visible to the receiver. */
void gic_send_sgi(uint64_t target_mpidr, uint32_t sgi);

#ifdef __cplusplus
}
#endif

#endif
