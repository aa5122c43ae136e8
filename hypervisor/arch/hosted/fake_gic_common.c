/* SPDX-License-Identifier: Apache-2.0
 *
 * The part of fake_gic.h that does not depend on the GIC version. Priorities are modelled for virtual
 * interrupts only; of physical interrupts, the one with the lowest INTID is taken first.
 */
#include "fake_gic_common.h"

#include <string.h>

#define LR_MAX        16u
#define HCR_EN        (1u << 0)
#define HCR_UIE       (1u << 1)
#define HCR_LRENPIE   (1u << 2)
#define HCR_NPIE      (1u << 3)
#define HCR_EOI       (1u << 27) /* one unit of the count */
#define HCR_EOI_COUNT (0x1Fu * HCR_EOI)
#define IDLE_PRIORITY 0x100u

static struct fake_gic {
    uint64_t gicd_pa;
    uint32_t cores;
    uint32_t list_registers;
    struct fake_gic_core core[FAKE_CORES];
    uint32_t violations;
    bool lpis_stay_active; /* in list registers, until their end */
} gic;

void fake_gic_start(uint64_t gicd_pa, uint32_t cores, uint32_t list_registers)
{
    memset(&gic, 0, sizeof gic);
    gic.gicd_pa = gicd_pa;
    gic.cores = cores;
    gic.list_registers = list_registers;
}

uint32_t fake_gic_cores(void)
{
    return gic.cores;
}

uint32_t fake_gic_list_registers(void)
{
    return gic.list_registers;
}

struct fake_gic_core *fake_gic_core_at(uint32_t core)
{
    return &gic.core[core];
}

void fake_gic_violate(bool violated)
{
    gic.violations += violated;
}

uint32_t fake_gic_violations(void)
{
    return gic.violations;
}

void fake_gic_keep_lpis_active(bool keep)
{
    gic.lpis_stay_active = keep;
}

static struct fake_gic_core *here(void)
{
    return &gic.core[fake_current_core()];
}

static struct fake_gic_core *state_of(uint32_t intid)
{
    return intid < 32 ? here() : &gic.core[0];
}

static uint32_t bit_of(uint32_t intid)
{
    return 1u << intid % 32;
}

static bool is_used(const struct fake_lr *lr)
{
    return lr->pending || lr->active;
}

static uint32_t unused(bool ended)
{
    uint32_t mask = 0;

    for (uint32_t n = 0; n < gic.list_registers; n++) {
        struct fake_lr lr = fake_gic_lr(n);

        mask |= !is_used(&lr) && (!lr.hw && lr.eoi) == ended ? 1u << n : 0;
    }
    return mask;
}

uint32_t fake_gic_lrs_empty(void)
{
    return unused(false);
}

uint32_t fake_gic_lrs_ended(void)
{
    return unused(true);
}

uint32_t fake_gic_maintenance(void)
{
    uint32_t hcr = fake_gic_hcr();
    uint32_t valid = 0;
    uint32_t pending = 0;

    if ((hcr & HCR_EN) == 0) {
        return 0;
    }
    for (uint32_t n = 0; n < gic.list_registers; n++) {
        struct fake_lr lr = fake_gic_lr(n);

        valid += is_used(&lr);
        pending += lr.pending && !lr.active;
    }
    return (fake_gic_lrs_ended() != 0 ? 1u : 0) | ((hcr & HCR_UIE) != 0 && valid <= 1 ? 2u : 0) |
           ((hcr & HCR_LRENPIE) != 0 && (hcr & HCR_EOI_COUNT) != 0 ? 4u : 0) |
           ((hcr & HCR_NPIE) != 0 && pending == 0 ? 8u : 0);
}

bool fake_gic_is_pending(uint32_t intid)
{
    const struct fake_gic_core *state = state_of(intid);
    bool edge = intid < 16;

    if (intid == FAKE_GIC_MAINTENANCE) {
        return fake_gic_maintenance() != 0;
    }
    if (intid >= 32) {
        uint32_t triggers = fake_mmio32(gic.gicd_pa + 0xC00 + UINT64_C(4) * (intid / 16));

        edge = (triggers >> (intid % 16 * 2 + 1) & 1) != 0;
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

uint32_t fake_gic_distributor(uint64_t offset)
{
    return fake_mmio32(gic.gicd_pa + offset);
}

void fake_gic_guest_open(void) {}

static bool is_lpi(uint32_t intid)
{
    return intid >= FAKE_GIC_FIRST_LPI;
}

void fake_gic_pend_lpi(uint32_t core, uint32_t intid)
{
    uint32_t lpi = intid - FAKE_GIC_FIRST_LPI;

    if (lpi < FAKE_GIC_LPIS) {
        gic.core[core].lpis[lpi / 32] |= bit_of(lpi);
    }
}

/* The pending LPI with the lowest INTID, or FAKE_GIC_SPURIOUS. */
static uint32_t lowest_lpi(void)
{
    for (uint32_t word = 0; word < FAKE_GIC_LPIS / 32; word++) {
        if (here()->lpis[word] != 0) {
            return FAKE_GIC_FIRST_LPI + word * 32 + (uint32_t)__builtin_ctz(here()->lpis[word]);
        }
    }
    return FAKE_GIC_SPURIOUS;
}

static uint32_t highest(void)
{
    if (here()->running || here()->asleep) {
        return FAKE_GIC_SPURIOUS;
    }
    for (uint32_t word = 0; word < FAKE_GIC_WORDS; word++) {
        const struct fake_gic_core *state = state_of(word * 32);
        uint32_t signalled = state->latched[word] | state->line[word];

        signalled |= word == 0 ? bit_of(FAKE_GIC_MAINTENANCE)
                               : 0; /* offered as a candidate; its state is checked later */
        signalled &= state->enabled[word] & ~state->active[word];
        for (; signalled != 0; signalled &= signalled - 1) {
            uint32_t intid = word * 32 + (uint32_t)__builtin_ctz(signalled);

            if (fake_gic_is_pending(intid) && (intid < 32 || fake_gic_is_routed_here(intid))) {
                return intid;
            }
        }
    }
    return lowest_lpi();
}

bool fake_gic_has_interrupt(void)
{
    return highest() != FAKE_GIC_SPURIOUS;
}

uint32_t fake_gic_acknowledge(void)
{
    uint32_t intid = highest();

    if (is_lpi(intid)) { /* has no active state */
        here()->lpis[(intid - FAKE_GIC_FIRST_LPI) / 32] &= ~bit_of(intid);
        here()->running = true;
    } else if (intid != FAKE_GIC_SPURIOUS) {
        state_of(intid)->active[intid / 32] |= bit_of(intid);
        state_of(intid)->latched[intid / 32] &= ~bit_of(intid);
        here()->running = true;
    }
    return intid;
}

void fake_gic_drop_priority(void)
{
    fake_gic_violate(!here()->running);
    here()->running = false;
}

void fake_gic_deactivate(uint32_t intid)
{
    if (intid < FAKE_GIC_INTIDS) {
        fake_gic_violate(!fake_gic_is_active(intid));
        state_of(intid)->active[intid / 32] &= ~bit_of(intid);
    }
}

bool fake_gic_access_bits(uint32_t of_core, uint64_t offset, bool write, uint64_t *value)
{
    uint32_t word = (uint32_t)offset % 0x80 / 4;
    struct fake_gic_core *state = &gic.core[word == 0 ? of_core : 0];
    uint32_t *bits;

    if (offset < 0x100 || offset >= 0x400 || word >= FAKE_GIC_WORDS) {
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

/* The list registers must be consistent when the guest runs. */
static void check_list_registers(const struct fake_lr *lrs)
{
    for (uint32_t n = 0; n < gic.list_registers; n++) {
        if (!is_used(&lrs[n])) {
            continue;
        }
        fake_gic_violate(is_lpi(lrs[n].intid) &&
                         (lrs[n].hw || (lrs[n].active && (lrs[n].pending || !gic.lpis_stay_active))));
        fake_gic_violate(lrs[n].hw &&
                         ((lrs[n].pending && lrs[n].active) || !fake_gic_is_active(lrs[n].physical)));
        for (uint32_t m = n + 1; m < gic.list_registers; m++) {
            fake_gic_violate(is_used(&lrs[m]) && lrs[m].intid == lrs[n].intid);
        }
    }
}

/* Finds the list register whose interrupt is signalled to the guest. */
static bool find_signalled(uint32_t *found, struct fake_lr *lr)
{
    uint32_t best = here()->depth != 0 ? here()->priorities[here()->depth - 1] : IDLE_PRIORITY;
    struct fake_lr lrs[LR_MAX] = {0};
    bool any = false;

    for (uint32_t n = 0; n < gic.list_registers; n++) {
        lrs[n] = fake_gic_lr(n);
    }
    check_list_registers(lrs);
    if ((fake_gic_hcr() & HCR_EN) == 0) {
        return false;
    }
    for (uint32_t n = 0; n < gic.list_registers; n++) {
        if (lrs[n].pending && !lrs[n].active && lrs[n].priority < best) {
            best = lrs[n].priority;
            *found = n;
            *lr = lrs[n];
            any = true;
        }
    }
    return any;
}

bool fake_gic_guest_has_interrupt(void)
{
    uint32_t n;
    struct fake_lr lr;

    return find_signalled(&n, &lr);
}

uint32_t fake_gic_guest_acknowledge(void)
{
    uint32_t n;
    struct fake_lr lr;

    if (!find_signalled(&n, &lr)) {
        return FAKE_GIC_SPURIOUS;
    }
    fake_gic_set_lr_state(n, false, !is_lpi(lr.intid) || gic.lpis_stay_active);
    here()->priorities[here()->depth++] = lr.priority;
    fake_gic_guest_took(&lr);
    return lr.intid;
}

void fake_gic_guest_deactivate(uint32_t intid)
{
    uint32_t hcr = fake_gic_hcr();

    for (uint32_t n = 0; n < gic.list_registers; n++) {
        struct fake_lr lr = fake_gic_lr(n);

        if (lr.active && lr.intid == intid) {
            fake_gic_set_lr_state(n, lr.pending, false);
            if (lr.hw) {
                fake_gic_deactivate(lr.physical);
            }
            return;
        }
    }
    if (!is_lpi(intid) && (hcr & HCR_EOI_COUNT) != HCR_EOI_COUNT) {
        fake_gic_set_hcr(hcr + HCR_EOI);
    }
}

void fake_gic_guest_drop_priority(void)
{
    fake_gic_violate(here()->depth == 0);
    here()->depth -= here()->depth != 0;
}

void fake_gic_guest_end(uint32_t intid)
{
    fake_gic_guest_drop_priority();
    fake_gic_guest_deactivate(intid);
}

uint32_t fake_gic_guest_depth(void)
{
    return here()->depth;
}
