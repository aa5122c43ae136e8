// SPDX-License-Identifier: Apache-2.0
//
// Storms: one operation repeated as fast as possible, on both VCPUs, for a while. They must not affect the
// timing of others: the evidence is other domains' jitter and the exits of their cores, which this guest
// cannot see.
#include <arch/mmio.h>
#include <arch/sysreg.h>
#include <stddef.h>

#include "guests/programs/breakout/breakout.h"
#include "guests/programs/breakout/probes.h"
#include "guests/runtime/board.h"
#include "guests/runtime/lines.h"
#include "guests/runtime/memory.h"
#include "guests/runtime/psci.h"
#include "guests/runtime/timer.h"

#define TYPER         4u
#define BRANCH_X12    0xD61F0180u
#define HVC           0xD4000002u
#define MOV_X0(value) (0xD2800000u | (uint32_t)(value) << 5)

enum {
    per_look = 64, // between two readings of the counter
    fault_steps = 50,
    everybody_shift = 40,
};

static void signals(void)
{
    for (uint64_t intid = 0; intid < 16; intid++) {
        sysreg_write(ICC_SGI1R_EL1, 1ull << everybody_shift | intid << 24); // the other VCPU
        sysreg_write(ICC_SGI1R_EL1, 3 | intid << 24);                       // both
    }
}

static void calls(void)
{
    (void)psci_version();
}

static void registers(void)
{
    (void)sysreg_read(ID_AA64PFR0_EL1);
    (void)mmio_read32(board()->gic_distributor.address + TYPER);
}

// Code that changes before each execution, and calls the hypervisor.
static void changing_code(void)
{
    static uint32_t code[3];
    static uint32_t round;

    code[0] = MOV_X0(++round & 0xFFF);
    code[1] = HVC;
    code[2] = BRANCH_X12;
    probe_make_visible((uintptr_t)code, sizeof(code));
    probe_run(code, NULL, NULL);
}

static void maintenance(void)
{
    struct memory_area area = memory_arena();
    uint64_t line = lines_bytes();

    for (uint64_t at = area.start; at < area.start + 1024 * line; at += line)
        (void)probe_clean_line(at, 0);
    probe_broadcast();
}

static void enables(void)
{
    uint64_t distributor = board()->gic_distributor.address;

    for (uint32_t bank = 1; bank < 9; bank++) {
        mmio_write32(distributor + 0x100 + 4 * bank, ~0u);
        mmio_write32(distributor + 0x200 + 4 * bank, ~0u);
        mmio_write32(distributor + 0x180 + 4 * bank, ~0u);
        mmio_write32(distributor + 0x280 + 4 * bank, ~0u);
    }
}

static void (*volatile on_second)(void);

static void second(void)
{
    while (!second_is_told_to_stop())
        on_second();
}

static void storm(void (*on_both)(void))
{
    uint64_t end = storm_end();
    uint64_t count = 0;

    on_second = on_both;
    bool both = second_start(second);
    catch_start();
    while (timer_now() < end) {
        for (int i = 0; i < per_look; i++)
            on_both();
        count += per_look;
    }
    (void)catch_stop();
    if (both)
        second_stop();
    note(OUTCOME_NO_EFFECT, count);
}

static void signal_storm(uint32_t step)
{
    (void)step;
    storm(signals);
}

static void call_storm(uint32_t step)
{
    (void)step;
    storm(calls);
}

static void register_storm(uint32_t step)
{
    (void)step;
    storm(registers);
}

static void code_storm(uint32_t step)
{
    uint64_t end = storm_end();
    uint64_t count = 0;

    (void)step;
    for (; timer_now() < end; count++)
        changing_code();
    note(OUTCOME_ERROR_CODE, count);
}

static void maintenance_storm(uint32_t step)
{
    (void)step;
    storm(maintenance);
}

static void enable_storm(uint32_t step)
{
    (void)step;
    storm(enables);
}

// Ends and restarts this domain as fast as possible, each time while the second VCPU is busy.
static void fault_storm(uint32_t step)
{
    (void)step;
    on_second = signals;
    (void)second_start(second);
    note_through(probe_load64(aim(0x8000000000 - 4096, AIM_DEVICE), 0));
}

static const struct attempt attempts[] = {
    {"storms", "sgi", 1, signal_storm, false},
    {"storms", "hypercall", 1, call_storm, false},
    {"storms", "registers", 1, register_storm, false},
    {"storms", "changing-code", 1, code_storm, false},
    {"storms", "maintenance", 1, maintenance_storm, false},
    {"storms", "gic-enable", 1, enable_storm, false},
    {"storms", "stage2-fault", fault_steps, fault_storm, false},
};

const struct attempt_list attempts_storms = {attempts, sizeof(attempts) / sizeof(attempts[0])};
