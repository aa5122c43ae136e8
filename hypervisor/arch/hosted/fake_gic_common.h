/* SPDX-License-Identifier: Apache-2.0
 *
 * Common part of the models of both GIC versions, implemented in fake_gic_common.c: states of physical
 * interrupts, the virtual CPU interface as a guest uses it, and the conditions for maintenance interrupts.
 * Each version's own file implements the functions at the end. Only the two models and the code that checks
 * the use of list registers include this.
 */
#ifndef BULKHEAD_FAKE_GIC_COMMON_H
#define BULKHEAD_FAKE_GIC_COMMON_H

#include "fake_gic.h"

#ifdef __cplusplus
extern "C" {
#endif

#define FAKE_GIC_WORDS (FAKE_GIC_INTIDS / 32)

/* Contents of a list register, independent of its layout. */
struct fake_lr {
    uint32_t intid;
    uint32_t physical; /* valid with `hw` */
    uint32_t sender;   /* valid on GICv2 without `hw` */
    uint32_t priority;
    bool pending;
    bool active;
    bool hw;
    bool eoi;
};

/* Interrupt state of a core. Word 0 has the private interrupts; SPIs are in words 1 and up of core 0. */
struct fake_gic_core {
    uint32_t enabled[FAKE_GIC_WORDS];
    uint32_t latched[FAKE_GIC_WORDS];
    uint32_t line[FAKE_GIC_WORDS];
    uint32_t active[FAKE_GIC_WORDS];
    uint32_t lpis[FAKE_GIC_LPIS / 32]; /* pending LPIs */
    bool running;                      /* acknowledged, priority not dropped */
    bool asleep;                       /* takes no interrupts */
    uint32_t priorities[32];           /* virtual interface: active priorities, innermost last */
    uint32_t depth;
};

/* Resets all state. `gicd_pa`: address of the distributor, which has the trigger registers. */
void fake_gic_start(uint64_t gicd_pa, uint32_t cores, uint32_t list_registers);
uint32_t fake_gic_cores(void);
uint32_t fake_gic_list_registers(void);
struct fake_gic_core *fake_gic_core_at(uint32_t core);
void fake_gic_violate(bool violated);
void fake_gic_keep_lpis_active(bool keep);

/* The physical CPU interface of the executing core: IAR, the priority drop of EOIR, DIR. */
uint32_t fake_gic_acknowledge(void);
void fake_gic_drop_priority(void);
void fake_gic_deactivate(uint32_t intid);

/* Handles an access to the set and clear registers of 32 interrupts, in a frame whose private interrupts
 * belong to core `of_core`. Returns false if the offset is not one of these registers. */
bool fake_gic_access_bits(uint32_t of_core, uint64_t offset, bool write, uint64_t *value);

/* ELRSR (empty list registers), EISR (ended ones that request an interrupt) and MISR of the executing
 * core. */
uint32_t fake_gic_lrs_empty(void);
uint32_t fake_gic_lrs_ended(void);
uint32_t fake_gic_maintenance(void);

/* Implemented by each version, for the executing core. HCR has the same layout on both. */
struct fake_lr fake_gic_lr(uint32_t n);
void fake_gic_set_lr_state(uint32_t n, bool pending, bool active);
uint32_t fake_gic_hcr(void);
void fake_gic_set_hcr(uint32_t value);
bool fake_gic_is_routed_here(uint32_t spi);
void fake_gic_guest_took(const struct fake_lr *lr);

#ifdef __cplusplus
}
#endif

#endif
