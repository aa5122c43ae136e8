/* SPDX-License-Identifier: Apache-2.0
 *
 * LPIs of a domain: their state in the banks, and their registers in redistributors and distributor (Arm IHI
 * 0069, chapters 5.1, 12.9.38, 12.11). An LPI is edge-triggered, has no active state, and its priority and
 * enable bit are a byte of a table in the guest's memory, which EL2 reads when a command says so. The guest's
 * tables of pending LPIs are not used.
 */
#include "base/its_registers.h"
#include "vgic/vgic_its.h"
#include "vgic/vgic_its_internal.h"

#define CTLR_CES         (1u << 1)                /* EnableLPIs can be cleared */
#define PROPBASER_CACHED (7ull << 7 | 1ull << 10) /* write-back, inner shareable: as EL2 reads the table */
#define PROPBASER_CACHE  (7ull << 56 | 7ull << 7 | 3ull << 10)
#define PENDBASER_PTZ    (1ull << 62)
#define BASE_ADDRESS     0x000FFFFFFFFFF000ull

#define PROPERTY_ENABLED  1u
#define PROPERTY_PRIORITY 0xF8u

#define GICD_TYPER_LPIS       (1u << 17)
#define GICD_TYPER_ID_BITS_14 ((13u << 19) & ~(9u << 19)) /* instead of 10 bits: see vgic_dist.c */
#define GICD_TYPER_LPI_SHIFT  11u                         /* 2^(n+1) LPIs */
#define GICR_TYPER_PHYSICAL   1u

_Static_assert(BH_GUEST_LPIS == 64 && VGIC_LPI_BANKS == 2, "masks of LPIs have a bit for each");

#define ALL_LPIS UINT64_MAX

static struct vgic_bank *bank_of(struct domain *domain, uint32_t number)
{
    return &domain->vgic.spis[number / 32 - 1];
}

/* VCPUs to notify of a change of the LPIs in `mask`, which are in the bank of `number`. */
static uint32_t vcpus_to_notify(struct domain *domain, uint32_t number, uint32_t mask, bool look_again)
{
    return vgic_concerned(domain, NULL, number & ~31u, mask, look_again);
}

/* Clears the lowest set bit of `*lpis`, which is not 0, and returns its number. */
static uint32_t next_lpi(uint64_t *lpis)
{
    uint32_t lpi = (uint32_t)__builtin_ctzll(*lpis);

    *lpis &= *lpis - 1;
    return lpi;
}

/* Reads the properties of `lpis` from the guest's table. LPIs whose table is not the guest's memory are
 * disabled. */
static void read_properties(const struct domain *domain, uint64_t lpis)
{
    struct vgic_its *its = domain->vgic.its;
    uint8_t found[BH_GUEST_LPIS] = {0};

    (void)vgic_its_copy(domain, its->properties & BASE_ADDRESS, found, sizeof found);
    while (lpis != 0) {
        uint32_t lpi = next_lpi(&lpis);

        its->property[lpi] = found[lpi];
    }
}

/* Brings VCPU, priority and enable bit of an LPI up to date. */
static uint32_t update_lpi(struct domain *domain, uint32_t lpi)
{
    const struct vgic_its *its = domain->vgic.its;
    uint32_t vcpu = virtual_its_vcpu(&its->policy, lpi);
    uint32_t number = VGIC_FIRST_LPI + lpi;
    struct vgic_bank *bank = bank_of(domain, number);
    uint32_t bit = vgic_bit(number);
    uint8_t priority = its->property[lpi] & PROPERTY_PRIORITY;
    bool enabled = vcpu != VIRTUAL_ITS_NONE && (its->lpis_enabled >> vcpu & 1) != 0 &&
                   (its->property[lpi] & PROPERTY_ENABLED) != 0;
    uint32_t changed = (enabled ? bit : 0) ^ (bank->enabled & bit);
    uint32_t kick = vgic_route_spi(domain, number, vcpu == VIRTUAL_ITS_NONE ? (uint32_t)VGIC_NO_VCPU : vcpu);

    if (priority != bank->priority[number % 32]) {
        vgic_set_priority(bank, number % 32, priority);
        changed |= bit;
    }
    bank->enabled = (bank->enabled & ~bit) | (enabled ? bit : 0);
    return kick | vcpus_to_notify(domain, number, changed & (bank->pending | bank->resident), true);
}

static uint32_t clear_pending(struct domain *domain, uint32_t lpi)
{
    struct vgic_bank *bank = bank_of(domain, VGIC_FIRST_LPI + lpi);
    uint32_t bit = vgic_bit(VGIC_FIRST_LPI + lpi);

    bank->pending &= ~bit;
    bank->drop_pending |= bit & bank->resident;
    return vcpus_to_notify(domain, VGIC_FIRST_LPI + lpi, bit & bank->resident, true);
}

static uint32_t set_pending(struct domain *domain, uint32_t lpi)
{
    struct vgic_bank *bank = bank_of(domain, VGIC_FIRST_LPI + lpi);
    uint32_t bit = vgic_bit(VGIC_FIRST_LPI + lpi);

    bank->pending |= bit;
    return vcpus_to_notify(domain, VGIC_FIRST_LPI + lpi, bit & (bank->enabled | bank->resident), false);
}

uint32_t vgic_lpi_apply(struct domain *domain, const struct virtual_its_change *change)
{
    uint64_t changed = change->configured | change->routed;
    uint32_t kick = 0;

    for (uint64_t lpis = change->cleared; lpis != 0;) {
        kick |= clear_pending(domain, next_lpi(&lpis));
    }
    if (change->configured != 0) {
        read_properties(domain, change->configured);
    }
    while (changed != 0) {
        kick |= update_lpi(domain, next_lpi(&changed));
    }
    for (uint64_t lpis = change->pended; lpis != 0;) {
        kick |= set_pending(domain, next_lpi(&lpis));
    }
    return kick;
}

uint32_t vgic_lpi_distributor_type(const struct domain *domain)
{
    uint32_t log2 = (uint32_t)__builtin_ctz(BH_GUEST_LPIS);

    return domain->vgic.its == NULL
               ? 0
               : GICD_TYPER_LPIS | GICD_TYPER_ID_BITS_14 | (log2 - 1) << GICD_TYPER_LPI_SHIFT;
}

uint64_t vgic_lpi_redistributor_type(const struct domain *domain)
{
    return domain->vgic.its == NULL ? 0 : GICR_TYPER_PHYSICAL;
}

static uint32_t enable_lpis(struct vcpu *owner, bool enabled)
{
    struct vgic_its *its = owner->domain->vgic.its;
    uint32_t bit = 1u << owner->index;
    struct virtual_its_change change = {.configured = ALL_LPIS};

    if (((its->lpis_enabled & bit) != 0) == enabled) {
        return 0;
    }
    its->lpis_enabled ^= bit;
    return vgic_lpi_apply(owner->domain, &change);
}

/* `offset` is that of the register, or of its upper half. */
static void access_base(uint64_t *value, uint64_t hidden, uint64_t offset, struct mmio_access *access)
{
    uint32_t shift = 8 * ((uint32_t)offset & 4);
    uint64_t mask = access->bytes == 8 ? UINT64_MAX : (uint64_t)UINT32_MAX << shift;

    if (access->write) {
        *value = (*value & ~mask) | (access->value << shift & mask);
    } else {
        access->value = (*value & ~hidden & mask) >> shift;
    }
}

bool vgic_lpi_register(struct vcpu *owner, uint64_t offset, struct mmio_access *access, uint32_t *kick)
{
    struct vgic_its *its = owner->domain->vgic.its;

    if (its == NULL || access->bytes < 4) {
        return false;
    }
    switch (offset & ~UINT64_C(4)) {
    case GICR_CTLR:
        if (offset != GICR_CTLR || access->bytes != 4) {
            return false;
        }
        if (access->write) {
            *kick |= enable_lpis(owner, (access->value & GICR_CTLR_LPIS) != 0);
        } else {
            access->value = CTLR_CES | (its->lpis_enabled >> owner->index & 1);
        }
        return true;
    case GICR_PROPBASER:
        access_base(&its->properties, 0, offset, access);
        its->properties = (its->properties & ~PROPBASER_CACHE) | PROPBASER_CACHED;
        return true;
    case GICR_PENDBASER:
        access_base(&its->pending[owner->index], PENDBASER_PTZ, offset, access);
        return true;
    default:
        return false;
    }
}
