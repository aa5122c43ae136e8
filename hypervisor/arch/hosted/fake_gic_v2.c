/* SPDX-License-Identifier: Apache-2.0
 *
 * Model of a GICv2 for unit tests, behind fake_gic.h: distributor, CPU interface and hypervisor interface as
 * device registers, banked by core; software-generated interrupts with their senders. Written from IHI 0048,
 * independently of the driver.
 */
#include "fake_gic_v2.h"
#include "fake_gic_common.h"

#include <string.h>

#define LR_COUNT_MAX 16u

#define LR_STATE_PENDING (1u << 28)
#define LR_STATE_ACTIVE  (1u << 29)
#define LR_HW            (1u << 31)
#define LR_EOI           (1u << 19)
#define LR_INTID(lr)     ((lr)&0x3FFu)
#define LR_PHYSICAL(lr)  ((lr) >> 10 & 0x3FFu)
#define LR_SENDER(lr)    ((lr) >> 10 & 7u)
#define LR_PRIORITY(lr)  (((lr) >> 23 & 0x1Fu) << 3)

#define SGIS 16u

static struct {
    uint64_t gicd_pa;
    struct interface {
        uint8_t senders[SGIS]; /* senders of pending software-generated interrupts */
        uint32_t sgi;          /* value of GICC_IAR for the active one */
        uint32_t hcr;
        uint32_t vmcr;
        uint32_t apr;
        uint32_t lr[LR_COUNT_MAX];
        uint32_t sender; /* sender of the interrupt that the guest acknowledged last */
    } interfaces[FAKE_CORES];
} gicv2;

static struct interface *here(void)
{
    return &gicv2.interfaces[fake_current_core()];
}

struct fake_lr fake_gic_lr(uint32_t n)
{
    uint32_t lr = here()->lr[n];

    return (struct fake_lr){
        .intid = LR_INTID(lr),
        .physical = LR_PHYSICAL(lr),
        .sender = LR_SENDER(lr),
        .priority = LR_PRIORITY(lr),
        .pending = (lr & LR_STATE_PENDING) != 0,
        .active = (lr & LR_STATE_ACTIVE) != 0,
        .hw = (lr & LR_HW) != 0,
        .eoi = (lr & LR_EOI) != 0,
    };
}

void fake_gic_set_lr_state(uint32_t n, bool pending, bool active)
{
    uint32_t *lr = &here()->lr[n];

    *lr &= ~(LR_STATE_PENDING | LR_STATE_ACTIVE);
    *lr |= (pending ? LR_STATE_PENDING : 0) | (active ? LR_STATE_ACTIVE : 0);
}

uint32_t fake_gic_hcr(void)
{
    return here()->hcr;
}

void fake_gic_set_hcr(uint32_t value)
{
    here()->hcr = value;
}

bool fake_gic_is_routed_here(uint32_t spi)
{
    uint32_t targets = fake_mmio32(gicv2.gicd_pa + 0x800 + (spi & ~3u)) >> spi % 4 * 8;

    return (targets & 1u << fake_current_core()) != 0;
}

void fake_gic_guest_took(const struct fake_lr *lr)
{
    here()->sender = lr->sender;
}

uint32_t fake_gic_guest_sender(void)
{
    return here()->sender;
}

/* GICC_IAR: the number, and the sender of a software-generated interrupt, of which several can be pending. */
static uint32_t acknowledge(void)
{
    uint32_t intid = fake_gic_acknowledge();
    uint8_t *senders;
    uint32_t sender;

    if (intid >= SGIS) {
        return intid;
    }
    senders = &here()->senders[intid];
    sender = (uint32_t)__builtin_ctz(*senders | 0x100u) % 8;
    *senders &= (uint8_t) ~(1u << sender);
    if (*senders != 0) {
        fake_gic_raise(intid);
    }
    here()->sgi = intid | sender << 10;
    return here()->sgi;
}

/* Software must end a software-generated interrupt with the number of its sender. */
static void check_sender(uint32_t value)
{
    fake_gic_violate((value & 0x3FF) < SGIS && value != here()->sgi);
}

static void send_sgi(uint32_t value)
{
    uint32_t self = fake_current_core();
    uint32_t targets = value >> 16 & 0xFF;

    targets = (value >> 24 & 3) == 1 ? ~(1u << self) : (value >> 24 & 3) == 2 ? 1u << self : targets;
    for (uint32_t target = 0; target < fake_gic_cores(); target++) {
        if ((targets >> target & 1) != 0) {
            fake_gic_core_at(target)->latched[0] |= 1u << (value & 0xF);
            gicv2.interfaces[target].senders[value & 0xF] |= (uint8_t)(1u << self);
        }
    }
}

static bool read_distributor(uint64_t offset, unsigned bytes, uint64_t *value)
{
    fake_gic_violate(bytes != 4);
    if (offset == 0x4) {
        *value = (FAKE_GIC_WORDS - 1) | (fake_gic_cores() - 1) << 5;
        return true;
    }
    if (offset >= 0x800 && offset < 0x820) {
        *value = (UINT64_C(1) << fake_current_core()) * 0x01010101u;
        return true;
    }
    return fake_gic_access_bits(fake_current_core(), offset, false, value);
}

static bool write_distributor(uint64_t offset, unsigned bytes, uint64_t value)
{
    fake_gic_violate(bytes != 4);
    if (offset == 0xF00) {
        send_sgi((uint32_t)value);
        return true;
    }
    return fake_gic_access_bits(fake_current_core(), offset, true, &value);
}

static bool read_interface(uint64_t offset, unsigned bytes, uint64_t *value)
{
    (void)bytes;
    if (offset != 0xC) {
        return false;
    }
    *value = acknowledge();
    return true;
}

static bool write_interface(uint64_t offset, unsigned bytes, uint64_t value)
{
    (void)bytes;
    if (offset == 0x10) {
        check_sender((uint32_t)value);
        fake_gic_drop_priority();
        return true;
    }
    if (offset == 0x1000) {
        check_sender((uint32_t)value);
        fake_gic_deactivate((uint32_t)value & 0x3FF);
        return true;
    }
    return false;
}

static uint32_t *hypervisor_register(uint64_t offset)
{
    switch (offset) {
    case 0x0:
        return &here()->hcr;
    case 0x8:
        return &here()->vmcr;
    case 0xF0:
        return &here()->apr;
    default:
        return offset >= 0x100 && offset < 0x100 + fake_gic_list_registers() * 4
                   ? &here()->lr[(offset - 0x100) / 4]
                   : NULL;
    }
}

static bool read_hypervisor(uint64_t offset, unsigned bytes, uint64_t *value)
{
    const uint32_t *place = hypervisor_register(offset);

    (void)bytes;
    *value = place != NULL    ? *place
             : offset == 0x4  ? fake_gic_list_registers() - 1
             : offset == 0x10 ? fake_gic_maintenance()
             : offset == 0x20 ? fake_gic_lrs_ended()
             : offset == 0x30 ? fake_gic_lrs_empty()
                              : 0;
    return true;
}

static bool write_hypervisor(uint64_t offset, unsigned bytes, uint64_t value)
{
    uint32_t *place = hypervisor_register(offset);

    (void)bytes;
    fake_gic_violate(place == NULL); /* a missing list register, or a read-only register */
    if (place != NULL) {
        *place = (uint32_t)value;
    }
    if (place == &here()->apr) {
        fake_gic_core_at(fake_current_core())->depth = 0; /* EL2 writes this register only to reset it */
    }
    return true;
}

void fake_gic_v2_init(uint64_t gicd_pa, uint64_t gicc_pa, uint64_t gich_pa, uint32_t cores,
                      uint32_t list_registers)
{
    fake_gic_start(gicd_pa, cores, list_registers);
    memset(&gicv2, 0, sizeof gicv2);
    gicv2.gicd_pa = gicd_pa;
    fake_map(gicd_pa, 0x1000, read_distributor, write_distributor);
    fake_map(gicc_pa, 0x2000, read_interface, write_interface);
    fake_map(gich_pa, 0x1000, read_hypervisor, write_hypervisor);
}
