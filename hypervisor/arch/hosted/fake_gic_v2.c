/* SPDX-License-Identifier: Apache-2.0
 *
 * Model of a GICv2 for unit tests, behind fake_gic.h: distributor, CPU interface and hypervisor interface as
 * device registers, banked by core; software-generated interrupts with their senders. Physically, the lowest
 * INTID wins. Written from IHI 0048, independently of the driver.
 */
#include "fake_gic_v2.h"

#include <string.h>

#define WORDS        (FAKE_GIC_INTIDS / 32)
#define LR_COUNT_MAX 16u

#define LR_STATE_PENDING (1u << 28)
#define LR_STATE_ACTIVE  (1u << 29)
#define LR_STATE         (LR_STATE_PENDING | LR_STATE_ACTIVE)
#define LR_HW            (1u << 31)
#define LR_EOI           (1u << 19)
#define LR_INTID(lr)     ((lr)&0x3FFu)
#define LR_PHYSICAL(lr)  ((lr) >> 10 & 0x3FFu)
#define LR_SENDER(lr)    ((lr) >> 10 & 7u)
#define LR_PRIORITY(lr)  (((lr) >> 23 & 0x1Fu) << 3)
#define HCR_EN           1u
#define IDLE_PRIORITY    0x100u

/* Word 0 is the core's own; SPIs are in set 0, words 1 and up. */
struct state {
    uint32_t enabled[WORDS];
    uint32_t latched[WORDS];
    uint32_t line[WORDS];
    uint32_t active[WORDS];
    uint8_t senders[16]; /* of pending software-generated interrupts */
    uint32_t sgi;        /* value of GICC_IAR of the one that is active */
    bool running;        /* acknowledged, priority not dropped */
    uint32_t hcr;
    uint32_t vmcr;
    uint32_t apr;
    uint32_t lr[LR_COUNT_MAX];
    uint32_t priorities[32]; /* virtual: active priorities, innermost last */
    uint32_t depth;
    uint32_t sender; /* of what the guest acknowledged last */
};

static struct fake_gic {
    uint64_t gicd_pa;
    uint32_t cores;
    uint32_t list_registers;
    struct state states[FAKE_CORES];
    uint32_t violations;
} gic;

static struct state *here(void)
{
    return &gic.states[fake_current_core()];
}

static struct state *state_of(uint32_t intid)
{
    return intid < 32 ? here() : &gic.states[0];
}

static uint32_t bit_of(uint32_t intid)
{
    return 1u << intid % 32;
}

static uint32_t mask_of(bool ended)
{
    uint32_t mask = 0;

    for (uint32_t n = 0; n < gic.list_registers; n++) {
        uint32_t lr = here()->lr[n];

        if ((lr & LR_STATE) == 0 && ((lr & (LR_HW | LR_EOI)) == LR_EOI) == ended) {
            mask |= 1u << n;
        }
    }
    return mask;
}

static uint32_t maintenance_status(void)
{
    uint32_t hcr = here()->hcr;
    uint32_t valid = 0;
    uint32_t pending = 0;

    if ((hcr & HCR_EN) == 0) {
        return 0;
    }
    for (uint32_t n = 0; n < gic.list_registers; n++) {
        valid += (here()->lr[n] & LR_STATE) != 0;
        pending += (here()->lr[n] & LR_STATE) == LR_STATE_PENDING;
    }
    return (mask_of(true) != 0 ? 1u : 0) | ((hcr & 2u) != 0 && valid <= 1 ? 2u : 0) |
           ((hcr & 4u) != 0 && hcr >> 27 != 0 ? 4u : 0) | ((hcr & 8u) != 0 && pending == 0 ? 8u : 0);
}

bool fake_gic_is_pending(uint32_t intid)
{
    const struct state *state = state_of(intid);
    bool edge = intid < 16;

    if (intid == FAKE_GIC_MAINTENANCE) {
        return maintenance_status() != 0;
    }
    if (intid >= 32) {
        edge =
            (fake_mmio32(gic.gicd_pa + 0xC00 + UINT64_C(4) * (intid / 16)) >> (intid % 16 * 2 + 1) & 1) != 0;
    }
    return ((state->latched[intid / 32] | (edge ? 0 : state->line[intid / 32])) & bit_of(intid)) != 0;
}

bool fake_gic_is_enabled(uint32_t intid)
{
    return (state_of(intid)->enabled[intid / 32] & bit_of(intid)) != 0;
}

bool fake_gic_is_active(uint32_t intid)
{
    return (state_of(intid)->active[intid / 32] & bit_of(intid)) != 0;
}

void fake_gic_raise(uint32_t intid)
{
    state_of(intid)->latched[intid / 32] |= bit_of(intid);
}

void fake_gic_set_line(uint32_t intid, bool high)
{
    uint32_t *line = &state_of(intid)->line[intid / 32];

    *line = high ? *line | bit_of(intid) : *line & ~bit_of(intid);
}

static bool is_targeted_here(uint32_t intid)
{
    uint32_t targets = fake_mmio32(gic.gicd_pa + 0x800 + (intid & ~3u)) >> intid % 4 * 8;

    return intid < 32 || (targets & 1u << fake_current_core()) != 0;
}

static uint32_t highest(void)
{
    if (here()->running) {
        return FAKE_GIC_SPURIOUS;
    }
    for (uint32_t intid = 0; intid < FAKE_GIC_INTIDS; intid++) {
        if (fake_gic_is_enabled(intid) && !fake_gic_is_active(intid) && fake_gic_is_pending(intid) &&
            is_targeted_here(intid)) {
            return intid;
        }
    }
    return FAKE_GIC_SPURIOUS;
}

bool fake_gic_has_interrupt(void)
{
    return highest() != FAKE_GIC_SPURIOUS;
}

static uint32_t acknowledge(void)
{
    uint32_t intid = highest();
    struct state *state = state_of(intid % FAKE_GIC_INTIDS);

    if (intid == FAKE_GIC_SPURIOUS) {
        return intid;
    }
    here()->running = true;
    state->active[intid / 32] |= bit_of(intid);
    if (intid >= 16) {
        state->latched[intid / 32] &= ~bit_of(intid);
        return intid;
    }
    uint32_t sender = (uint32_t)__builtin_ctz(state->senders[intid] | 0x100u) % 8;

    state->senders[intid] &= (uint8_t) ~(1u << sender);
    if (state->senders[intid] == 0) {
        state->latched[0] &= ~bit_of(intid);
    }
    state->sgi = intid | sender << 10;
    return state->sgi;
}

static void deactivate(uint32_t intid)
{
    if (intid < FAKE_GIC_INTIDS) {
        gic.violations += !fake_gic_is_active(intid);
        state_of(intid)->active[intid / 32] &= ~bit_of(intid);
    }
}

/* A software-generated interrupt must be ended with its sender. */
static void check_sender(uint32_t value)
{
    gic.violations += (value & 0x3FF) < 16 && value != here()->sgi;
}

static void send_sgi(uint32_t value)
{
    uint32_t self = fake_current_core();
    uint32_t targets = value >> 16 & 0xFF;

    targets = (value >> 24 & 3) == 1 ? ~(1u << self) : (value >> 24 & 3) == 2 ? 1u << self : targets;
    for (uint32_t target = 0; target < gic.cores; target++) {
        if ((targets >> target & 1) != 0) {
            gic.states[target].latched[0] |= 1u << (value & 0xF);
            gic.states[target].senders[value & 0xF] |= (uint8_t)(1u << self);
        }
    }
}

/* Set and clear registers of 32 interrupts. */
static bool access_bits(uint64_t offset, bool write, uint64_t *value)
{
    uint32_t word = (uint32_t)offset % 0x80 / 4;
    struct state *state = state_of(word * 32);
    uint32_t *bits;

    if (offset < 0x100 || offset >= 0x400 || word >= WORDS) {
        return false;
    }
    bits = offset < 0x200   ? &state->enabled[word]
           : offset < 0x300 ? &state->latched[word]
                            : &state->active[word];
    if (!write) {
        *value = *bits | (offset >= 0x200 && offset < 0x300 ? state->line[word] : 0);
    } else if (offset % 0x100 < 0x80) {
        *bits |= (uint32_t)*value;
    } else {
        *bits &= ~(uint32_t)*value;
    }
    return true;
}

static bool read_distributor(uint64_t offset, unsigned bytes, uint64_t *value)
{
    gic.violations += bytes != 4;
    if (offset == 0x4) {
        *value = (WORDS - 1) | (gic.cores - 1) << 5;
        return true;
    }
    if (offset >= 0x800 && offset < 0x820) {
        *value = (UINT64_C(1) << fake_current_core()) * 0x01010101u;
        return true;
    }
    return access_bits(offset, false, value);
}

static bool write_distributor(uint64_t offset, unsigned bytes, uint64_t value)
{
    gic.violations += bytes != 4;
    if (offset == 0xF00) {
        send_sgi((uint32_t)value);
        return true;
    }
    return access_bits(offset, true, &value);
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
        gic.violations += !here()->running;
        check_sender((uint32_t)value);
        here()->running = false;
        return true;
    }
    if (offset == 0x1000) {
        check_sender((uint32_t)value);
        deactivate((uint32_t)value & 0x3FF);
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
        return offset >= 0x100 && offset < 0x100 + gic.list_registers * 4 ? &here()->lr[(offset - 0x100) / 4]
                                                                          : NULL;
    }
}

static bool read_hypervisor(uint64_t offset, unsigned bytes, uint64_t *value)
{
    const uint32_t *place = hypervisor_register(offset);

    (void)bytes;
    *value = place != NULL    ? *place
             : offset == 0x4  ? gic.list_registers - 1
             : offset == 0x10 ? maintenance_status()
             : offset == 0x20 ? mask_of(true)
             : offset == 0x30 ? mask_of(false)
                              : 0;
    return true;
}

static bool write_hypervisor(uint64_t offset, unsigned bytes, uint64_t value)
{
    uint32_t *place = hypervisor_register(offset);

    (void)bytes;
    if (place == NULL) {
        gic.violations++; /* a list register that does not exist, or what can only be read */
        return true;
    }
    *place = (uint32_t)value;
    if (place == &here()->apr) {
        here()->depth = 0; /* only ever written to reset it */
    }
    return true;
}

void fake_gic_v2_init(uint64_t gicd_pa, uint64_t gicc_pa, uint64_t gich_pa, uint32_t cores,
                      uint32_t list_registers)
{
    memset(&gic, 0, sizeof gic);
    gic.gicd_pa = gicd_pa;
    gic.cores = cores;
    gic.list_registers = list_registers;
    fake_map(gicd_pa, 0x1000, read_distributor, write_distributor);
    fake_map(gicc_pa, 0x2000, read_interface, write_interface);
    fake_map(gich_pa, 0x1000, read_hypervisor, write_hypervisor);
}

/* The guest runs: the list registers must make sense now. */
static void check_list_registers(void)
{
    for (uint32_t n = 0; n < gic.list_registers; n++) {
        uint32_t lr = here()->lr[n];

        if ((lr & LR_STATE) == 0) {
            continue;
        }
        gic.violations +=
            (lr & LR_HW) != 0 && ((lr & LR_STATE) == LR_STATE || !fake_gic_is_active(LR_PHYSICAL(lr)));
        for (uint32_t m = n + 1; m < gic.list_registers; m++) {
            gic.violations += (here()->lr[m] & LR_STATE) != 0 && LR_INTID(here()->lr[m]) == LR_INTID(lr);
        }
    }
}

uint32_t fake_gic_violations(void)
{
    return gic.violations;
}

/* The list register that is signalled to the guest, or NULL. */
static uint32_t *most_urgent(void)
{
    struct state *state = here();
    uint32_t best = state->depth != 0 ? state->priorities[state->depth - 1] : IDLE_PRIORITY;
    uint32_t *found = NULL;

    check_list_registers();
    for (uint32_t n = 0; (state->hcr & HCR_EN) != 0 && n < gic.list_registers; n++) {
        if ((state->lr[n] & LR_STATE) == LR_STATE_PENDING && LR_PRIORITY(state->lr[n]) < best) {
            best = LR_PRIORITY(state->lr[n]);
            found = &state->lr[n];
        }
    }
    return found;
}

bool fake_gic_guest_has_interrupt(void)
{
    return most_urgent() != NULL;
}

uint32_t fake_gic_guest_acknowledge(void)
{
    uint32_t *lr = most_urgent();

    if (lr == NULL) {
        return FAKE_GIC_SPURIOUS;
    }
    *lr ^= LR_STATE;
    here()->priorities[here()->depth++] = LR_PRIORITY(*lr);
    here()->sender = LR_SENDER(*lr);
    return LR_INTID(*lr);
}

uint32_t fake_gic_guest_sender(void)
{
    return here()->sender;
}

void fake_gic_guest_deactivate(uint32_t intid)
{
    for (uint32_t n = 0; n < gic.list_registers; n++) {
        uint32_t *lr = &here()->lr[n];

        if ((*lr & LR_STATE_ACTIVE) != 0 && LR_INTID(*lr) == intid) {
            *lr &= ~LR_STATE_ACTIVE;
            if ((*lr & LR_HW) != 0) {
                deactivate(LR_PHYSICAL(*lr));
            }
            return;
        }
    }
    if (here()->hcr >> 27 != 0x1F) {
        here()->hcr += 1u << 27;
    }
}

void fake_gic_guest_end(uint32_t intid)
{
    gic.violations += here()->depth == 0;
    here()->depth -= here()->depth != 0;
    fake_gic_guest_deactivate(intid);
}

uint32_t fake_gic_guest_depth(void)
{
    return here()->depth;
}
