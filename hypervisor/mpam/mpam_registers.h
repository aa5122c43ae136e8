/* SPDX-License-Identifier: Apache-2.0
 *
 * Interfaces between the files of the driver of MPAM components: the component's address, what it offers, and
 * access to its registers. All accesses have 32 bits, which every component supports.
 */
#ifndef BULKHEAD_MPAM_REGISTERS_H
#define BULKHEAD_MPAM_REGISTERS_H

#include "core/mpam_features.h"
#include "core/mpam_registers.h"
#include <arch/mmio.h>
#include <bulkhead_layout.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct mpam_component {
    paddr_t page;
    const struct manifest_mpam_component *config;
    const struct mpam_features *instances; /* config->instance_count of them */
};

/* mpam_components.c: the components that were found. The index must be less than the count. */
uint32_t mpam_component_count(void);
const struct mpam_component *mpam_component_at(uint32_t index);

/* The frame in which the driver publishes; NULL if the manifest has no components. */
struct status_mpam *mpam_status(void);

static inline uint32_t mpam_read(const struct mpam_component *component, uint32_t offset)
{
    return mmio_read32(paddr(component->page.value + offset));
}

static inline void mpam_write(const struct mpam_component *component, uint32_t offset, uint32_t value)
{
    mmio_write32(paddr(component->page.value + offset), value);
}

/* mpam_errors.c. start(): from now on errors are counted; until then they are faults of EL2's programming
 * (mpam_errors_pending()). */
void mpam_errors_clear(const struct mpam_component *component);
uint32_t mpam_errors_pending(const struct mpam_component *component); /* MPAMF_ESR; 0: none */
const char *mpam_error_name(uint32_t code);
void mpam_errors_start(uint64_t mpidr);
bool mpam_errors_interrupt(uint32_t intid);
/* Counts errors that came without an interrupt, and enables error interrupts again, each of which is off
 * after it was taken. */
void mpam_errors_look(void);

/* mpam_monitors.c. init(): after the components are programmed. */
void mpam_monitors_init(void);
void mpam_monitors_read_next(void);
void mpam_monitors_read_all(void);

/* mpam_dump.c. init() takes frames of the pool, before it is sealed; false if the pool is exhausted. */
bool mpam_dump_init(void);
void mpam_dump(void);

#ifdef __cplusplus
}
#endif

#endif
