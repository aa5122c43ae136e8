/* SPDX-License-Identifier: Apache-2.0
 *
 * Stubs for programs without message interrupts: core/manifest_no_smmu.c refuses a manifest with an ITS.
 */
#include "vgic/vgic_its.h"

/* NOLINTBEGIN(readability-non-const-parameter): as the header has them */

bool vgic_its_init(struct domain *domain)
{
    (void)domain;
    return true;
}

void vgic_its_reset(struct domain *domain)
{
    (void)domain;
}

bool vgic_its_at(const struct domain *domain, uint64_t page, uint64_t *offset)
{
    (void)domain;
    (void)page;
    (void)offset;
    return false;
}

bool vgic_its_access(struct vcpu *vcpu, struct mmio_access *access)
{
    (void)vcpu;
    (void)access;
    __builtin_trap();
}

bool vgic_its_message(uint32_t intid)
{
    (void)intid;
    return false;
}

uint32_t vgic_lpi_distributor_type(const struct domain *domain)
{
    (void)domain;
    return 0;
}

uint64_t vgic_lpi_redistributor_type(const struct domain *domain)
{
    (void)domain;
    return 0;
}

bool vgic_lpi_register(struct vcpu *owner, uint64_t offset, struct mmio_access *access, uint32_t *kick)
{
    (void)owner;
    (void)offset;
    (void)access;
    (void)kick;
    return false;
}

/* NOLINTEND(readability-non-const-parameter) */
