/* SPDX-License-Identifier: Apache-2.0
 *
 * State of a domain's virtual ITS, and what its files share. Only vgic*.c include this. The functions need
 * the domain's lock.
 */
#ifndef BULKHEAD_VGIC_ITS_INTERNAL_H
#define BULKHEAD_VGIC_ITS_INTERNAL_H

#include "core/virtual_its.h"
#include "vgic/vgic_internal.h"

#ifdef __cplusplus
extern "C" {
#endif

#define VGIC_ITS_TABLES 2u

struct vgic_its {
    struct virtual_its policy;

    /* From here on, all is zero after a reset, except the size of the tables' pages. */
    bool enabled;
    uint64_t queue;   /* GITS_CBASER */
    uint32_t written; /* GITS_CWRITER and GITS_CREADR: offsets of commands in the queue */
    uint32_t read;
    uint64_t tables[VGIC_ITS_TABLES]; /* GITS_BASER<n>, without the fields that cannot be written */
    uint64_t properties;              /* GICR_PROPBASER, the same of all redistributors */
    uint64_t pending[BH_MAX_VCPUS];   /* GICR_PENDBASER of each redistributor */
    uint32_t lpis_enabled; /* GICR_CTLR.EnableLPIs of each redistributor (bit = index of the VCPU) */
    uint8_t property[BH_GUEST_LPIS]; /* of each LPI: its byte in the guest's table, when it was last read */
};

/* Copies bytes that do not cross a page from the domain's memory. Returns false if the domain does not own
 * all of them. */
bool vgic_its_copy(const struct domain *domain, uint64_t ipa, void *to, uint32_t bytes);

/* Carries out what a command, a register or a message has changed. Returns the VCPUs to notify. */
uint32_t vgic_lpi_apply(struct domain *domain, const struct virtual_its_change *change);

#ifdef __cplusplus
}
#endif

#endif
