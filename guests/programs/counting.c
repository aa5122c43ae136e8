// SPDX-License-Identifier: Apache-2.0
//
// The performance monitors that a domain with `pmu: true` has: counts its own instructions and cycles, takes
// an overflow interrupt, and tries accesses that must not reach other counters. Ends with a report in which
// `wrong` is 0. Parameters: `turns` (of the loop that is counted), `rounds` (of overflows),
// `counts_instructions` (0: INST_RETIRED does not count here).
#include <arch/sysreg.h>

#include "guests/runtime/console.h"
#include "guests/runtime/gic.h"
#include "guests/runtime/params.h"
#include "guests/runtime/program.h"

#include <bulkhead_layout.h>

enum {
    event_software_increment = 0x00,
    event_instructions = 0x08,
    event_cycles = 0x11,
    control_enable = 1,
    control_reset_events = 2,
    control_reset_cycles = 4,
    control_long_cycles = 64,
    reports = 8,           // wrong results that are printed
    overflow_after = 5000, // events before an overflow interrupt
};

#define ALL_COUNTERS 0xFFFFFFFFull
#define CYCLE_BIT    0x80000000ull

static volatile uint64_t interrupts;
static volatile uint64_t unexpected;
static uint64_t wrong;

static void check(bool right, const char *what, uint64_t value)
{
    if (!right && wrong++ < reports)
        console_printf("counting: %s (%lx)\n", what, value);
}

void program_interrupt(uint32_t intid)
{
    if (intid != BH_GUEST_PMU_INTID) {
        unexpected++;
        return;
    }
    interrupts++;
    sysreg_write(PMCNTENCLR_EL0, 1);
    sysreg_write(PMOVSCLR_EL0, 1);
    cpu_sync_context();
}

static void turn(uint64_t turns)
{
    for (volatile uint64_t i = 0; i < turns; i++) {
    }
}

static void prepare(uint64_t event, uint64_t start)
{
    sysreg_write(PMCNTENCLR_EL0, ALL_COUNTERS);
    sysreg_write(PMSELR_EL0, 0);
    cpu_sync_context();
    sysreg_write(PMXEVTYPER_EL0, event);
    sysreg_write(PMXEVCNTR_EL0, start);
    sysreg_write(PMOVSCLR_EL0, ALL_COUNTERS);
    cpu_sync_context();
}

static uint64_t count(uint64_t event, uint64_t turns)
{
    prepare(event, 0);
    sysreg_write(PMCNTENSET_EL0, 1);
    cpu_sync_context();
    turn(turns);
    sysreg_write(PMCNTENCLR_EL0, 1);
    cpu_sync_context();
    return sysreg_read(PMEVCNTR0_EL0);
}

// A turn always costs the same, and so do starting and stopping.
static void count_events(const char *name, uint64_t event, uint64_t turns)
{
    uint64_t once = count(event, turns);
    uint64_t twice = count(event, 2 * turns);

    check(once >= turns, name, once);
    check(twice > once + once * 9 / 10 && twice < 2 * once + once / 10, name, twice);
    sysreg_write(PMCR_EL0, control_long_cycles); // nothing counts without E
    check(count(event, turns) == 0, "counts while PMCR_EL0.E is 0", sysreg_read(PMEVCNTR0_EL0));
    sysreg_write(PMCR_EL0, control_enable | control_long_cycles);
    console_printf("counting: %s: %lu in %lu turns, %lu in twice as many\n", name, once, turns, twice);
}

static void count_cycles(uint64_t turns)
{
    uint64_t before, after;

    sysreg_write(PMCCFILTR_EL0, 0);
    sysreg_write(PMCR_EL0, control_enable | control_reset_cycles | control_long_cycles);
    sysreg_write(PMCNTENSET_EL0, CYCLE_BIT);
    cpu_sync_context();
    before = sysreg_read(PMCCNTR_EL0);
    turn(turns);
    after = sysreg_read(PMCCNTR_EL0);
    check(after > before, "the cycle counter stands", after);
    sysreg_write(PMCNTENCLR_EL0, CYCLE_BIT);
    cpu_sync_context();
    before = sysreg_read(PMCCNTR_EL0);
    turn(turns);
    check(sysreg_read(PMCCNTR_EL0) == before, "the cycle counter runs while it is off", before);
}

static void count_software(void)
{
    prepare(event_software_increment, 0xFFFFFFFE);
    sysreg_write(PMCNTENSET_EL0, 1);
    for (unsigned i = 0; i < 3; i++)
        sysreg_write(PMSWINC_EL0, 1);
    check(sysreg_read(PMEVCNTR0_EL0) == 1, "software increments", sysreg_read(PMEVCNTR0_EL0));
    check((sysreg_read(PMOVSSET_EL0) & 1) != 0, "no overflow of software increments", 0);
    sysreg_write(PMCNTENCLR_EL0, 1);
    sysreg_write(PMOVSCLR_EL0, 1);
}

// One interrupt for each overflow, none after it was cleared.
static void take_overflows(uint64_t event, uint64_t rounds, uint64_t turns)
{
    uint64_t expected = interrupts;

    sysreg_write(PMINTENSET_EL1, 1);
    for (uint64_t i = 0; i < rounds; i++) {
        prepare(event, 0x100000000ull - overflow_after);
        sysreg_write(PMCNTENSET_EL0, 1);
        cpu_sync_context();
        turn(turns);
        expected++;
        check(interrupts == expected, "overflow interrupts", interrupts);
    }
    sysreg_write(PMINTENCLR_EL1, 1);
    prepare(event, 0x100000000ull - overflow_after);
    sysreg_write(PMCNTENSET_EL0, 1);
    cpu_sync_context();
    turn(turns);
    check(interrupts == expected, "an interrupt that is off", interrupts);
    check((sysreg_read(PMOVSSET_EL0) & 1) != 0, "no overflow without its interrupt",
          sysreg_read(PMOVSSET_EL0));
    sysreg_write(PMINTENSET_EL1, 1); // now the counter is on
    cpu_sync_context();
    check(interrupts == expected + 1, "an overflow whose interrupt comes on later", interrupts);
    sysreg_write(PMINTENCLR_EL1, 1);
}

// Counters above PMCR_EL0.N are not the guest's: their bits read as zero, whatever is written.
static void reach_out(uint32_t counters)
{
    const uint64_t own = CYCLE_BIT | ((1ull << counters) - 1);

    sysreg_write(PMCNTENSET_EL0, ALL_COUNTERS);
    check(sysreg_read(PMCNTENSET_EL0) == own, "enables counters of others", sysreg_read(PMCNTENSET_EL0));
    sysreg_write(PMINTENSET_EL1, ALL_COUNTERS);
    check(sysreg_read(PMINTENSET_EL1) == own, "interrupts of others", sysreg_read(PMINTENSET_EL1));
    sysreg_write(PMINTENCLR_EL1, ALL_COUNTERS);
    sysreg_write(PMOVSSET_EL0, ALL_COUNTERS);
    check(sysreg_read(PMOVSSET_EL0) == own, "overflows of others", sysreg_read(PMOVSSET_EL0));
    sysreg_write(PMOVSCLR_EL0, ALL_COUNTERS);
    sysreg_write(PMCNTENCLR_EL0, ALL_COUNTERS);
    for (uint64_t n = counters; n < 31; n++) {
        sysreg_write(PMSELR_EL0, n);
        cpu_sync_context();
        sysreg_write(PMXEVTYPER_EL0, event_cycles);
        sysreg_write(PMXEVCNTR_EL0, ALL_COUNTERS);
        check(sysreg_read(PMXEVTYPER_EL0) == 0 && sysreg_read(PMXEVCNTR_EL0) == 0, "a counter of others", n);
    }
    sysreg_write(PMCR_EL0, control_reset_events | control_enable | control_long_cycles);
    check((sysreg_read(PMCR_EL0) & 0xFF) == (control_enable | control_long_cycles), "PMCR_EL0",
          sysreg_read(PMCR_EL0));
}

void program_main(void)
{
    uint64_t turns = param("turns", 20000);
    uint64_t rounds = param("rounds", 20);
    bool counts_instructions = param("counts_instructions", 1) != 0;
    uint32_t counters = (uint32_t)sysreg_read(PMCR_EL0) >> 11 & 0x1F;

    if (!gic_init()) {
        console_write("counting: no usable interrupt controller\n");
        return;
    }
    check(counters != 0, "no counters", 0);
    sysreg_write(PMCR_EL0, control_enable | control_long_cycles);
    gic_enable_private(BH_GUEST_PMU_INTID);
    cpu_unmask_interrupts();
    console_write("bulkhead: ready\n");
    reach_out(counters);
    count_cycles(turns);
    count_software();
    if (counts_instructions) {
        count_events("instructions", event_instructions, turns);
        take_overflows(event_instructions, rounds, turns);
    } else {
        take_overflows(event_cycles, rounds, turns);
    }
    reach_out(counters);
    check(unexpected == 0, "other interrupts", unexpected);
    console_printf("report {\"counters\": %lu, \"interrupts\": %lu, \"wrong\": %lu}\n", (uint64_t)counters,
                   interrupts, wrong);
}
