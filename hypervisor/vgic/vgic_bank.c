/* SPDX-License-Identifier: Apache-2.0
 *
 * Registers that the distributor has for SPIs and each redistributor for its private interrupts, at the same
 * offsets (IHI 0069, chapters 12.9 and 12.11; in GICv2, the distributor has both, IHI 0048): groups, enables,
 * pending, active, priority, trigger. The frames themselves are in arch/gicv*, which call this with the
 * domain's lock.
 */
#include "vgic/vgic_internal.h"

#include <arch/gic.h>

/* Register group: offset / 0x80 */
enum bank_register {
    IGROUPR = 1,
    ISENABLER,
    ICENABLER,
    ISPENDR,
    ICPENDR,
    ISACTIVER,
    ICACTIVER,
};

#define IPRIORITYR_START 0x400u
#define IPRIORITYR_END   0x800u
#define ICFGR_START      0xC00u
#define ICFGR_END        0xD00u
#define PRIORITY_BITS    0xF8u

/* The interrupts that a register access affects. */
struct place {
    struct domain *domain;
    struct vcpu *here;      /* the VCPU that executes the access */
    struct vcpu *owner;     /* the VCPU of a private bank; NULL: SPIs */
    struct vgic_bank *bank; /* NULL: there are no such interrupts; reads as zero and ignores writes */
    uint32_t first;         /* INTID of the bank's bit 0 */
};

/* The 32 interrupts from `first` on. */
static struct place place_of(struct vcpu *here, struct vcpu *owner, uint32_t first)
{
    struct place place = {.domain = here->domain, .here = here, .owner = owner, .first = first};

    if (owner != NULL) {
        place.bank = first == 0 ? &owner->vgic.bank : NULL;
    } else if (first >= GIC_PRIVATE_COUNT && first < VGIC_INTID_LIMIT) {
        place.bank = &here->domain->vgic.spis[first / 32 - 1];
    }
    return place;
}

static uint32_t affected(const struct place *place, uint32_t mask, bool look_again)
{
    return vgic_concerned(place->domain, place->owner, place->first, mask, look_again);
}

/* Makes a VCPU deactivate physical interrupts that are no longer pending or enabled. */
static uint32_t check_held(const struct place *place, uint32_t mask)
{
    if ((place->bank->held & mask) == 0) {
        return 0;
    }
    struct vcpu *vcpu = place->owner != NULL ? place->owner : place->here;

    vcpu->vgic.stale = true;
    return 1u << vcpu->index;
}

/* The physical enable of passed-through SPIs follows the guest's. For private interrupts, see
 * mirror_private(). */
static void mirror_spis(const struct place *place, uint32_t mask, bool enable)
{
    mask &= place->owner == NULL ? place->bank->hw : 0;
    while (mask != 0) {
        uint32_t intid = place->first + vgic_next_bit(&mask);
        uint32_t target = place->domain->vgic.target[intid - GIC_PRIVATE_COUNT];

        if (!enable) {
            gic_disable(intid);
        } else if (target < place->domain->vcpu_count && vgic_domain_runs(place->domain)) {
            gic_enable(intid, place->domain->vcpus[target].cpu->mpidr);
        }
    }
}

static uint32_t read_pending(const struct place *place)
{
    uint32_t pending = vgic_pending(place->bank) | vgic_peek(place->here, place->first, VGIC_LR_PENDING);
    uint32_t physical = place->bank->hw & ~place->bank->enabled;

    /* A passed-through interrupt that the guest has disabled is pending in the physical GIC. */
    if (physical != 0 && (place->owner == NULL || place->owner == place->here)) {
        pending |= gic_pending_word(place->first / 32) & physical;
    }
    return pending;
}

static uint32_t read_bits(const struct place *place, enum bank_register which)
{
    bool own = place->owner == NULL || place->owner == place->here;

    switch (which) {
    case IGROUPR:
        return place->bank->group1;
    case ISENABLER:
    case ICENABLER:
        return place->bank->enabled;
    case ISPENDR:
    case ICPENDR:
        return own ? read_pending(place) : vgic_pending(place->bank);
    case ISACTIVER:
    case ICACTIVER:
        return place->bank->active | (own ? vgic_peek(place->here, place->first, VGIC_LR_ACTIVE) : 0);
    default:
        return 0;
    }
}

static uint32_t write_bits(const struct place *place, enum bank_register which, uint32_t value)
{
    struct vgic_bank *bank = place->bank;
    uint32_t changed;

    switch (which) {
    case IGROUPR:
        changed = bank->group1 ^ value;
        bank->group1 = value;
        return affected(place, changed & (vgic_pending(bank) | bank->resident), true);
    case ISENABLER:
        changed = value & ~bank->enabled;
        bank->enabled |= value;
        mirror_spis(place, changed, true);
        changed &= vgic_pending(bank) | bank->resident | (place->owner != NULL ? bank->hw : 0);
        return affected(place, changed, true);
    case ICENABLER:
        changed = value & bank->enabled;
        bank->enabled &= ~value;
        mirror_spis(place, changed, false);
        return check_held(place, changed) |
               affected(place, changed & (bank->resident | (place->owner != NULL ? bank->hw : 0)), true);
    case ISPENDR:
        bank->pending |= value;
        return affected(place, value, false);
    case ICPENDR:
        bank->pending &= ~value;
        bank->drop_pending |= value & bank->resident;
        return check_held(place, value) | affected(place, value & bank->resident, true);
    case ISACTIVER:
        changed = value & ~bank->active;
        bank->active |= value;
        bank->forced |= changed & ~bank->resident;
        if (place->owner == NULL) {
            for (uint32_t mask = changed & ~bank->resident; mask != 0;) {
                uint32_t spi = place->first - GIC_PRIVATE_COUNT + vgic_next_bit(&mask);

                vgic_set_owner(place->domain, spi, place->domain->vgic.target[spi]);
            }
        }
        return affected(place, changed, true);
    case ICACTIVER:
        bank->active &= ~value;
        bank->drop_active |= value & bank->resident;
        return check_held(place, value) |
               affected(place, value & (bank->resident | vgic_pending(bank)), true);
    default:
        return 0;
    }
}

/* One byte for each interrupt. */
static uint32_t access_priority(const struct place *place, struct mmio_access *access)
{
    uint32_t n = (uint32_t)access->offset % 32;
    uint32_t changed = 0;

    if (!access->write) {
        access->value = 0;
    }
    for (uint32_t i = 0; i < access->bytes; i++) {
        if (access->write) {
            vgic_set_priority(place->bank, n + i, (uint8_t)(access->value >> 8 * i) & PRIORITY_BITS);
            changed |= 1u << (n + i);
        } else {
            access->value |= (uint64_t)place->bank->priority[n + i] << 8 * i;
        }
    }
    return affected(place, changed & (place->bank->resident | place->bank->active), true);
}

/* Two bits for each interrupt; the upper one is the trigger. SGIs are always edges. */
static void access_trigger(const struct place *place, struct mmio_access *access)
{
    uint32_t n = (uint32_t)access->offset / 4 % 2 * 16;
    uint32_t edges = 0;

    if (!access->write) {
        access->value = 0;
        for (uint32_t i = 0; i < 16; i++) {
            access->value |= (place->bank->edge >> (n + i) & 1u) != 0 ? UINT64_C(2) << 2 * i : 0;
        }
        return;
    }
    if (place->owner != NULL && n == 0) {
        return;
    }
    for (uint32_t i = 0; i < 16; i++) {
        edges |= (uint32_t)(access->value >> (2 * i + 1) & 1u) << (n + i);
    }
    uint32_t changed = (place->bank->edge ^ edges) & 0xFFFFu << n;

    /* The physical trigger of an enabled interrupt must not change. */
    changed &= ~(place->bank->hw & place->bank->enabled);
    place->bank->edge ^= changed;
    changed &= place->owner == NULL ? place->bank->hw : 0; /* a timer's own trigger never changes */
    while (changed != 0) {
        uint32_t bit = vgic_next_bit(&changed);

        gic_set_edge(place->first + bit, (place->bank->edge >> bit & 1u) != 0);
    }
}

bool vgic_bank_access(struct vcpu *here, struct vcpu *owner, struct mmio_access *access, uint32_t *kick)
{
    uint32_t offset = (uint32_t)access->offset;
    struct place place;

    if (offset >= IPRIORITYR_START && offset < IPRIORITYR_END) {
        if (access->bytes != 1 && access->bytes != 4) {
            return false;
        }
        place = place_of(here, owner, (offset - IPRIORITYR_START) & ~31u);
        if (place.bank != NULL) {
            *kick |= access_priority(&place, access);
            return true;
        }
    } else if (access->bytes != 4) {
        return false;
    } else if (offset < IPRIORITYR_START) {
        place = place_of(here, owner, offset % 0x80 / 4 * 32);
        if (place.bank != NULL && access->write) {
            *kick |= write_bits(&place, (enum bank_register)(offset / 0x80), (uint32_t)access->value);
        } else if (place.bank != NULL) {
            access->value = read_bits(&place, (enum bank_register)(offset / 0x80));
            return true;
        }
    } else if (offset >= ICFGR_START && offset < ICFGR_END) {
        place = place_of(here, owner, (offset - ICFGR_START) / 8 * 32);
        if (place.bank != NULL) {
            access_trigger(&place, access);
            return true;
        }
    }
    if (!access->write) {
        access->value = 0;
    }
    return true;
}
