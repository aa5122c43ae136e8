/* SPDX-License-Identifier: Apache-2.0
 *
 * The physical interrupt controller: GICv3 (IHI 0069). EL2 acknowledges every interrupt, drops its priority
 * and deactivates it itself or lets a guest's deactivation of a list register do so. A GICv2 driver has the
 * same interface and is chosen by include path. Called with interrupts masked; knows nothing of guests.
 */
#ifndef BULKHEAD_ARCH_GIC_H
#define BULKHEAD_ARCH_GIC_H

#include <bulkhead_layout.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GIC_SGI_COUNT     16u
#define GIC_PRIVATE_COUNT 32u   /* SGIs and PPIs */
#define GIC_INTID_LIMIT   1020u /* acknowledged INTIDs from here on are special: nothing to end */

/* Resets the distributor: every SPI disabled, inactive, Group 1, default priority; affinity routing on. First
 * core, once. `cpu_count` redistributors are looked for at platform->gicr_pa later. */
void gic_init(const struct manifest_platform *platform, uint32_t cpu_count);

/* Prepares the executing core: wakes its redistributor (found by affinity, not by order), puts SGIs and PPIs
 * into Group 1, enables SGI 0 and the maintenance interrupt, opens the CPU interface with separate priority
 * drop and deactivation. `mpidr`: affinity fields. Returns false if no redistributor has that affinity. */
bool gic_cpu_init(uint32_t cpu_index, uint64_t mpidr);

/* Acknowledges the highest-priority pending interrupt; >= GIC_INTID_LIMIT: there is none (spurious). */
uint32_t gic_acknowledge(void);

/* Drops the running priority after gic_acknowledge(). The interrupt stays active. */
void gic_end(uint32_t intid);

/* Ends the active state, so that the interrupt can come again. Private ones: on their own core. */
void gic_deactivate(uint32_t intid);

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
