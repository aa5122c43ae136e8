/* SPDX-License-Identifier: Apache-2.0
 *
 * Message interrupts of a domain: its virtual interrupt translation service (ITS), and the registers for LPIs
 * in its redistributors and its distributor (Arm IHI 0069, chapters 5, 12.11, 12.19). In programs without
 * message interrupts, vgic_no_its.c is linked.
 */
#ifndef BULKHEAD_VGIC_ITS_H
#define BULKHEAD_VGIC_ITS_H

#include "base/mmio_access.h"
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct domain;
struct vcpu;

/* Makes the virtual ITS of a domain that has functions with message interrupts, and maps the page that these
 * write to. Called when the domain is set up, after its stage 2. Returns false if the pool is exhausted. */
bool vgic_its_init(struct domain *domain);

/* The state after a reset. Needs the domain's lock. */
void vgic_its_reset(struct domain *domain);

/* Whether the ITS's registers are at `page` of guest-physical addresses; `*offset` is then the page's offset
 * within them. */
bool vgic_its_at(const struct domain *domain, uint64_t page, uint64_t *offset);

/* Handles an access of the executing VCPU to these registers. Returns false for an access width that a
 * register does not have. `access->again`: the guest must repeat the instruction, because some of its
 * commands have not been executed yet. */
bool vgic_its_access(struct vcpu *vcpu, struct mmio_access *access);

/* The physical LPI `intid` has arrived: the message of a function of a domain. It is lost if the domain does
 * not run, or if the guest has not mapped it. Called on any core. Returns false if no function has it. */
bool vgic_its_message(uint32_t intid);

/* Bits of GICD_TYPER that announce LPIs; 0 if the domain has none. */
uint32_t vgic_lpi_distributor_type(const struct domain *domain);

/* Bits of GICR_TYPER that announce LPIs; 0 if the domain has none. */
uint64_t vgic_lpi_redistributor_type(const struct domain *domain);

/* Handles an access to GICR_CTLR, GICR_PROPBASER or GICR_PENDBASER of the VCPU `owner`, at `offset` in its
 * control frame. Adds VCPUs to notify to *kick. Returns false for all other registers. Needs the domain's
 * lock. */
bool vgic_lpi_register(struct vcpu *owner, uint64_t offset, struct mmio_access *access, uint32_t *kick);

#ifdef __cplusplus
}
#endif

#endif
