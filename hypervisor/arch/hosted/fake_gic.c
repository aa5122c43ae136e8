/* SPDX-License-Identifier: Apache-2.0
 *
 * Model of a GICv3 for unit tests. Priorities exist on the virtual side only; physically, the lowest INTID
 * wins.
 */
#include "fake_gic.h"

#include <string.h>

#define WORDS (FAKE_GIC_INTIDS / 32)

#define LR_STATE_PENDING (UINT64_C(1) << 62)
#define LR_STATE_ACTIVE  (UINT64_C(1) << 63)
#define LR_STATE         (LR_STATE_PENDING | LR_STATE_ACTIVE)
#define LR_HW            (UINT64_C(1) << 61)
#define LR_EOI           (UINT64_C(1) << 41)
#define LR_INTID(lr)     ((uint32_t)(lr))
#define LR_PRIORITY(lr)  ((uint32_t)((lr) >> 48) & 0xFF)
#define LR_PHYSICAL(lr)  ((uint32_t)((lr) >> 32) & 0x3FF)
#define HCR_EN           1u
#define IDLE_PRIORITY    0x100u

/* Word 0 of a core's set is private; SPIs are in set 0, words 1 and up. */
struct state {
    uint32_t enabled[WORDS];
    uint32_t latched[WORDS];
    uint32_t line[WORDS];
    uint32_t active[WORDS];
};

static struct fake_gic {
    uint64_t gicd_pa;
    uint64_t gicr_pa;
    uint32_t cores;
    uint32_t list_registers;
    uint32_t core_of_redistributor[FAKE_CORES];
    struct state states[FAKE_CORES];
    bool running[FAKE_CORES]; /* acknowledged, priority not dropped */
    bool asleep[FAKE_CORES];
    uint32_t priorities[FAKE_CORES][32]; /* virtual: active priorities, innermost last */
    uint32_t depth[FAKE_CORES];
    uint32_t violations;
} gic;

static uint32_t core(void)
{
    return fake_current_core();
}

static struct state *state_of(uint32_t intid, uint32_t of_core)
{
    return &gic.states[intid < 32 ? of_core : 0];
}

static uint32_t bit_of(uint32_t intid)
{
    return 1u << intid % 32;
}

static uint64_t lr(uint32_t n)
{
    return fake_sysreg((enum sysreg_id)(SYSREG_ID_ICH_LR0_EL2 + n));
}

static void set_lr(uint32_t n, uint64_t value)
{
    fake_set_sysreg((enum sysreg_id)(SYSREG_ID_ICH_LR0_EL2 + n), value);
}

static uint64_t ended_mask(void)
{
    uint64_t mask = 0;

    for (uint32_t n = 0; n < gic.list_registers; n++) {
        mask |= (lr(n) & (LR_STATE | LR_HW | LR_EOI)) == LR_EOI ? UINT64_C(1) << n : 0;
    }
    return mask;
}

static uint64_t empty_mask(void)
{
    uint64_t mask = 0;

    for (uint32_t n = 0; n < gic.list_registers; n++) {
        mask |= (lr(n) & LR_STATE) == 0 ? UINT64_C(1) << n : 0;
    }
    return mask & ~ended_mask();
}

static uint64_t maintenance_status(void)
{
    uint64_t hcr = fake_sysreg(SYSREG_ID_ICH_HCR_EL2);
    uint32_t valid = 0;
    uint32_t pending = 0;
    uint64_t status = 0;

    if ((hcr & HCR_EN) == 0) {
        return 0;
    }
    for (uint32_t n = 0; n < gic.list_registers; n++) {
        valid += (lr(n) & LR_STATE) != 0;
        pending += (lr(n) & LR_STATE) == LR_STATE_PENDING;
    }
    status |= ended_mask() != 0 ? 1u : 0;
    status |= (hcr & 2u) != 0 && valid <= 1 ? 2u : 0;
    status |= (hcr & 4u) != 0 && (hcr >> 27 & 0x1F) != 0 ? 4u : 0;
    status |= (hcr & 8u) != 0 && pending == 0 ? 8u : 0;
    return status;
}

bool fake_gic_is_pending(uint32_t intid)
{
    const struct state *state = state_of(intid, core());
    uint64_t frame = intid < 32 ? 0 : gic.gicd_pa;
    bool edge = intid < 16;

    if (intid == FAKE_GIC_MAINTENANCE) {
        return maintenance_status() != 0;
    }
    if (intid >= 32) {
        edge = (fake_mmio32(frame + 0xC00 + (uint64_t)(intid / 16) * 4) >> (intid % 16 * 2 + 1) & 1) != 0;
    }
    return ((state->latched[intid / 32] | (edge ? 0 : state->line[intid / 32])) & bit_of(intid)) != 0;
}

bool fake_gic_is_enabled(uint32_t intid)
{
    return (state_of(intid, core())->enabled[intid / 32] & bit_of(intid)) != 0;
}

bool fake_gic_is_active(uint32_t intid)
{
    return (state_of(intid, core())->active[intid / 32] & bit_of(intid)) != 0;
}

void fake_gic_raise(uint32_t intid)
{
    state_of(intid, core())->latched[intid / 32] |= bit_of(intid);
}

void fake_gic_set_line(uint32_t intid, bool high)
{
    struct state *state = state_of(intid, core());

    if (high) {
        state->line[intid / 32] |= bit_of(intid);
    } else {
        state->line[intid / 32] &= ~bit_of(intid);
    }
}

static bool is_routed_here(uint32_t intid)
{
    return intid < 32 || fake_mmio32(gic.gicd_pa + 0x6000 + (uint64_t)intid * 8) == core();
}

static uint32_t highest(void)
{
    if (gic.running[core()] || gic.asleep[core()]) {
        return FAKE_GIC_SPURIOUS;
    }
    for (uint32_t word = 0; word < WORDS; word++) {
        const struct state *state = state_of(word * 32, core());
        uint32_t signalled = state->latched[word] | state->line[word];
        uint32_t left;

        signalled |= word == 0 ? bit_of(FAKE_GIC_MAINTENANCE) : 0; /* maybe: it is looked at */
        for (left = signalled & state->enabled[word] & ~state->active[word]; left != 0; left &= left - 1) {
            uint32_t intid = word * 32 + (uint32_t)__builtin_ctz(left);

            if (fake_gic_is_pending(intid) && is_routed_here(intid)) {
                return intid;
            }
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

    if (intid != FAKE_GIC_SPURIOUS) {
        state_of(intid, core())->active[intid / 32] |= bit_of(intid);
        state_of(intid, core())->latched[intid / 32] &= ~bit_of(intid);
        gic.running[core()] = true;
    }
    return intid;
}

static void deactivate(uint32_t intid)
{
    if (intid < FAKE_GIC_INTIDS) {
        gic.violations += !fake_gic_is_active(intid);
        state_of(intid, core())->active[intid / 32] &= ~bit_of(intid);
    }
}

static void send_sgi(uint64_t value)
{
    for (uint32_t target = 0; target < gic.cores; target++) {
        if ((value & 0xFFFF) >> target & 1) {
            gic.states[target].latched[0] |= 1u << (value >> 24 & 0xF);
        }
    }
}

static bool read_sysreg(enum sysreg_id id, uint64_t *value)
{
    switch (id) {
    case SYSREG_ID_ICC_IAR1_EL1:
        *value = acknowledge();
        return true;
    case SYSREG_ID_ICH_VTR_EL2:
        *value = gic.list_registers - 1;
        return true;
    case SYSREG_ID_ICH_ELRSR_EL2:
        *value = empty_mask();
        return true;
    case SYSREG_ID_ICH_EISR_EL2:
        *value = ended_mask();
        return true;
    case SYSREG_ID_ICH_MISR_EL2:
        *value = maintenance_status();
        return true;
    default:
        return false;
    }
}

static bool write_sysreg(enum sysreg_id id, uint64_t value)
{
    switch (id) {
    case SYSREG_ID_ICC_EOIR1_EL1:
        gic.violations += !gic.running[core()];
        gic.running[core()] = false;
        return true;
    case SYSREG_ID_ICC_DIR_EL1:
        deactivate((uint32_t)value);
        return true;
    case SYSREG_ID_ICC_SGI1R_EL1:
        send_sgi(value);
        return true;
    case SYSREG_ID_ICH_AP1R0_EL2:
        gic.depth[core()] = 0; /* only ever written to reset it */
        return false;
    default:
        return false;
    }
}

/* Set and clear registers of 32 interrupts in either frame. */
static bool access_bits(struct state *state, uint64_t offset, bool write, uint64_t *value)
{
    uint32_t word = (uint32_t)offset % 0x80 / 4;
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
    if (offset == 4 && bytes == 4) {
        *value = WORDS - 1;
        return true;
    }
    return bytes == 4 && access_bits(&gic.states[0], offset, false, value);
}

static bool write_distributor(uint64_t offset, unsigned bytes, uint64_t value)
{
    return bytes == 4 && offset % 0x80 != 0 && access_bits(&gic.states[0], offset, true, &value);
}

static bool read_redistributor(uint64_t offset, unsigned bytes, uint64_t *value)
{
    uint32_t index = (uint32_t)(offset / 0x20000);
    uint32_t of_core = gic.core_of_redistributor[index];

    if (offset % 0x20000 == 8 && bytes == 8) {
        *value = (uint64_t)of_core << 32 | index << 8 | (index + 1 == gic.cores ? 1u << 4 : 0);
        return true;
    }
    if (offset % 0x20000 == 0x14) {
        *value = gic.asleep[of_core] ? 6 : 0;
        return true;
    }
    return offset % 0x20000 >= 0x10000 &&
           access_bits(&gic.states[of_core], offset % 0x20000 - 0x10000, false, value);
}

static bool write_redistributor(uint64_t offset, unsigned bytes, uint64_t value)
{
    uint32_t of_core = gic.core_of_redistributor[offset / 0x20000];

    (void)bytes;
    if (offset % 0x20000 == 0x14) {
        gic.asleep[of_core] = (value & 2) != 0;
        return true;
    }
    return offset % 0x20000 >= 0x10000 &&
           access_bits(&gic.states[of_core], offset % 0x20000 - 0x10000, true, &value);
}

void fake_gic_init(uint64_t gicd_pa, uint64_t gicr_pa, uint32_t cores, const uint32_t *affinity_of,
                   uint32_t list_registers)
{
    memset(&gic, 0, sizeof gic);
    gic.gicd_pa = gicd_pa;
    gic.gicr_pa = gicr_pa;
    gic.cores = cores;
    gic.list_registers = list_registers;
    for (uint32_t i = 0; i < cores; i++) {
        gic.core_of_redistributor[i] = affinity_of[i];
        gic.asleep[i] = true;
    }
    fake_map(gicd_pa, 0x10000, read_distributor, write_distributor);
    fake_map(gicr_pa, (size_t)cores * 0x20000, read_redistributor, write_redistributor);
    fake_hook_sysregs(read_sysreg, write_sysreg);
}

/* The guest runs: the list registers must make sense now. */
static void check_list_registers(void)
{
    for (uint32_t n = 0; n < gic.list_registers; n++) {
        if ((lr(n) & LR_STATE) == 0) {
            continue;
        }
        if ((lr(n) & LR_HW) != 0 &&
            ((lr(n) & LR_STATE) == LR_STATE || !fake_gic_is_active(LR_PHYSICAL(lr(n))))) {
            gic.violations++;
        }
        for (uint32_t m = n + 1; m < gic.list_registers; m++) {
            gic.violations += (lr(m) & LR_STATE) != 0 && LR_INTID(lr(m)) == LR_INTID(lr(n));
        }
    }
}

uint32_t fake_gic_violations(void)
{
    return gic.violations;
}

static bool find_pending(uint32_t *found)
{
    uint32_t best = gic.depth[core()] != 0 ? gic.priorities[core()][gic.depth[core()] - 1] : IDLE_PRIORITY;
    bool any = false;

    check_list_registers();
    if ((fake_sysreg(SYSREG_ID_ICH_HCR_EL2) & HCR_EN) == 0) {
        return false;
    }
    for (uint32_t n = 0; n < gic.list_registers; n++) {
        if ((lr(n) & LR_STATE) == LR_STATE_PENDING && LR_PRIORITY(lr(n)) < best) {
            best = LR_PRIORITY(lr(n));
            *found = n;
            any = true;
        }
    }
    return any;
}

bool fake_gic_guest_has_interrupt(void)
{
    uint32_t n;

    return find_pending(&n);
}

uint32_t fake_gic_guest_acknowledge(void)
{
    uint32_t n;

    if (!find_pending(&n)) {
        return FAKE_GIC_SPURIOUS;
    }
    set_lr(n, lr(n) ^ LR_STATE);
    gic.priorities[core()][gic.depth[core()]++] = LR_PRIORITY(lr(n));
    return LR_INTID(lr(n));
}

void fake_gic_guest_deactivate(uint32_t intid)
{
    uint64_t hcr = fake_sysreg(SYSREG_ID_ICH_HCR_EL2);

    for (uint32_t n = 0; n < gic.list_registers; n++) {
        if ((lr(n) & LR_STATE_ACTIVE) != 0 && LR_INTID(lr(n)) == intid) {
            set_lr(n, lr(n) & ~LR_STATE_ACTIVE);
            if ((lr(n) & LR_HW) != 0) {
                deactivate(LR_PHYSICAL(lr(n)));
            }
            return;
        }
    }
    if ((hcr >> 27 & 0x1F) != 0x1F) {
        fake_set_sysreg(SYSREG_ID_ICH_HCR_EL2, hcr + (UINT64_C(1) << 27));
    }
}

void fake_gic_guest_end(uint32_t intid)
{
    gic.violations += gic.depth[core()] == 0;
    gic.depth[core()] -= gic.depth[core()] != 0;
    fake_gic_guest_deactivate(intid);
}

uint32_t fake_gic_guest_depth(void)
{
    return gic.depth[core()];
}
