/* SPDX-License-Identifier: Apache-2.0
 *
 * Driver of the physical interrupt controller, GICv2 or GICv3: one of arch/gicv* is linked in. EL2
 * acknowledges every interrupt and drops its priority. Then EL2 deactivates it, or the guest's deactivation
 * through a list register does. All functions are called with interrupts masked; the driver knows nothing of
 * guests.
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
#define GIC_PRIVATE_COUNT BH_FIRST_SHARED_INTID /* SGIs and PPIs */
/* Acknowledged INTIDs that are special: there is nothing to end. */
#define GIC_SPECIAL_COUNT 4u

/* True if an acknowledged INTID is special: there is no interrupt. */
static inline bool gic_is_special(uint32_t intid)
{
    return intid - BH_FIRST_SPECIAL_INTID < GIC_SPECIAL_COUNT;
}

/* Disables message interrupts (LPIs) at the redistributors of all cores, also of those that the manifest does
 * not use: a redistributor with LPIs reads and writes tables in memory that a boot loader chose. Called with
 * the MMU off, before images are loaded. Returns false if they cannot be disabled. */
bool gic_silence(const struct manifest_platform *platform);

/* Resets the distributor: every SPI disabled, inactive, with default priority, in a group that EL2 controls.
 * Called once, on the first core. */
void gic_init(const struct manifest_platform *platform);

/* Prepares the executing core: finds its redistributor (by affinity, not by order) or its CPU interface
 * number, resets SGIs and PPIs, enables SGI 0 and the maintenance interrupt, and opens the CPU interface with
 * separate priority drop and deactivation. `mpidr`: affinity fields. Returns false if the controller has
 * nothing for that affinity. */
bool gic_cpu_init(uint32_t cpu_index, uint64_t mpidr);

/* Acknowledges the most urgent pending interrupt and returns its INTID; gic_is_special(): there is none
 * (spurious). LPIs have INTIDs from BH_FIRST_LPI on; they need no deactivation. */
uint32_t gic_acknowledge(void);

/* Drops the running priority after gic_acknowledge(). The interrupt stays active. */
void gic_end(uint32_t intid);

/* Ends the active state, so that the interrupt can be signalled again. Private interrupts: on their own
 * core. */
void gic_deactivate(uint32_t intid);

/* Makes a private interrupt of the executing core active, the state after gic_acknowledge() and gic_end(). */
void gic_activate(uint32_t intid);

/* Enables an interrupt. An SPI is first routed to the core with affinity `mpidr`, also if it is already
 * enabled. Private interrupts are those of the executing core; `mpidr` is then ignored. */
void gic_enable(uint32_t intid, uint64_t mpidr);
void gic_disable(uint32_t intid);

/* Sets the trigger of an SPI or PPI that is disabled. */
void gic_set_edge(uint32_t intid, bool edge);

/* The pending bits of interrupts [32 * word, 32 * word + 32); word 0 is the executing core's. */
uint32_t gic_pending_word(uint32_t word);

/* Sends software-generated interrupt `sgi` to the core with affinity `target_mpidr`. The receiver sees the
 * sender's earlier stores. */
void gic_send_sgi(uint64_t target_mpidr, uint32_t sgi);

#ifdef __cplusplus
}
#endif

#endif
