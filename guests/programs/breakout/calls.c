// SPDX-License-Identifier: Apache-2.0
//
// Calls by the SMC calling convention: PSCI with bad functions, affinities, entries and races; the services
// of every other owner; management of other domains without being a manager. The evidence is a call that
// succeeds although it must not.
#include <arch/sysreg.h>
#include <bulkhead_layout.h>

#include "guests/programs/breakout/breakout.h"
#include "guests/runtime/board.h"
#include "guests/runtime/smp.h"
#include "guests/runtime/start.h"
#include "guests/runtime/timer.h"

#define PSCI          0x84000000u
#define SMC64         0x40000000u
#define CPU_SUSPEND   0x1u
#define CPU_OFF       0x2u
#define CPU_ON        0x3u
#define AFFINITY_INFO 0x4u
#define MIGRATE_TYPE  0x6u
#define SYSTEM_OFF    0x8u
#define SYSTEM_RESET  0x9u
#define FEATURES      0xAu
#define OWNERS        64u
#define FUNCTIONS     0x20u

enum { races = 2000, wait_ticks = 100000 };

static int64_t call(uint64_t function, uint64_t a1, uint64_t a2, uint64_t a3)
{
    return (int64_t)cpu_hypervisor_call(function, a1, a2, a3);
}

static void judge(uint64_t function, int64_t answer)
{
    if (answer < 0)
        note(OUTCOME_ERROR_CODE, 1);
    else
        note_through(function);
}

static void try_call(uint64_t function, uint64_t a1, uint64_t a2, uint64_t a3)
{
    judge(function, call(function, a1, a2, a3));
}

// All functions that must have no effect for a guest.
static void function(uint32_t step)
{
    uint32_t n = step / 2;
    uint64_t id = PSCI | n | (step % 2 != 0 ? SMC64 : 0);

    switch (n) {
    case 0: // VERSION
        if (step % 2 == 0)
            note(OUTCOME_EMULATED, 1);
        break;
    case CPU_SUSPEND:
    case CPU_OFF:
    case CPU_ON:
    case AFFINITY_INFO:
    case SYSTEM_OFF:
    case SYSTEM_RESET:
        break; // tested below, or would end this domain
    case MIGRATE_TYPE:
    case FEATURES:
        if (step % 2 == 0)
            note(OUTCOME_EMULATED, 1);
        break;
    default:
        try_call(id, ~0ull, ~0ull, ~0ull);
        break;
    }
}

static void affinity(uint32_t step)
{
    static const uint64_t nobody[] = {2,
                                      3,
                                      4,
                                      8,
                                      15,
                                      16,
                                      0x100,
                                      0x200,
                                      0x10000,
                                      0x100000000,
                                      0x80000002,
                                      0xFF00FFFFFF,
                                      0xFFFFFFFFFFFFFFFF,
                                      0x40000000000,
                                      0x7FFFFFFF};
    uint64_t who = nobody[step / 3];

    if (step % 3 == 0)
        try_call(PSCI | SMC64 | CPU_ON, who, (uintptr_t)start_secondary_entry, 1);
    else if (step % 3 == 1)
        try_call(PSCI | CPU_ON, who, (uintptr_t)start_secondary_entry, 1);
    else
        try_call(PSCI | SMC64 | AFFINITY_INFO, who, 0, 0);
}

static void entry(uint32_t step)
{
    static const uint64_t nowhere[] = {0x0,          0x8000000,    0x9000000,          0xC0000000,
                                       0x4000000000, 0x7FFFFFFFFC, 0xFFFFFFFFFFFFFFFC, 0x8000000000000000,
                                       0x40080001,   0x40080002};

    try_call(PSCI | SMC64 | CPU_ON, board()->cpu_count > 1 ? 1 : 0, nowhere[step], 0);
}

// Powers down with another entry point: the call may return, but must not resume there.
static void suspend(uint32_t step)
{
    static const uint64_t states[] = {0, 0x10000, 0x1010000, 0x3010033, 0xFFFFFFFF};
    uint64_t nowhere = 0x8000000;

    timer_set(timer_now() + wait_ticks);
    (void)call(PSCI | (step % 2 != 0 ? SMC64 : 0) | CPU_SUSPEND, states[step / 2], nowhere, 0);
    cpu_unmask_interrupts();
    cpu_mask_interrupts();
    timer_stop();
    note(OUTCOME_OWN, 1);
}

// The second VCPU asks to be turned on, while the first does the same.
static void ask_to_be_on(void)
{
    while (!second_is_told_to_stop())
        (void)call(PSCI | SMC64 | CPU_ON, 1, (uintptr_t)start_secondary_entry, 1);
}

static void race(uint32_t step)
{
    (void)step;
    if (!second_start(ask_to_be_on))
        return;
    for (uint32_t i = 0; i < races; i++) {
        // The second VCPU runs all the time: being turned on again would start it twice.
        int64_t answer = call(PSCI | SMC64 | CPU_ON, 1, (uintptr_t)start_secondary_entry, 1);
        if (answer == 0)
            note_through(i);
    }
    second_stop();
    note(OUTCOME_ERROR_CODE, races);
}

// Functions for the core's own branch predictors (SMCCC 1.4, 7.5 to 7.7).
static bool is_workaround(uint64_t id)
{
    return id == 0x80008000 || id == 0x80007FFF || id == 0x80003FFF;
}

// Functions that any guest may call, and CPU_SUSPEND, which was tried above.
static bool is_for_everyone(uint64_t id)
{
    return id == BH_HYPERCALL_COUNT || id == BH_HYPERCALL_UID || id == BH_HYPERCALL_REVISION ||
           id == BH_HYPERCALL_OWN_EXITS || is_workaround(id) ||
           (id & ~(uint64_t)SMC64) == (PSCI | CPU_SUSPEND);
}

// First functions, queries and 64-bit variants of all owners.
static void other_owner(uint32_t step)
{
    static const uint64_t base[] = {0x80000000, 0xC0000000, 0x00000000, 0x40000000};
    static const uint32_t numbers[] = {1, 0x20, 0x50, 0x60, 0x84, 0x8000, 0xFF00, 0xFF01, 0xFF03, 0xFFFF};

    for (uint32_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        uint64_t id = base[step % 4] | (uint64_t)(step / 4) << 24 | numbers[i];
        if (is_for_everyone(id))
            (void)call(id, ~0ull, ~0ull, ~0ull);
        else
            try_call(id, ~0ull, ~0ull, ~0ull);
    }
}

static void manage(uint32_t step)
{
    static const uint64_t functions[] = {BH_HYPERCALL_DOMAIN_STATE, BH_HYPERCALL_DOMAIN_STOP,
                                         BH_HYPERCALL_DOMAIN_RESTART, BH_HYPERCALL_MACHINE_END};
    uint64_t victim = step / 4 < BH_MAX_DOMAINS ? step / 4 : 1ull << (step / 4 + 20);

    try_call(functions[step % 4], victim, 0, 0);
    judge(functions[step % 4], (int64_t)cpu_firmware_call(functions[step % 4], victim, 0, 0));
}

static void reset(uint32_t step)
{
    (void)call(step % 2 == 0 ? PSCI | SYSTEM_RESET : PSCI | 0x12, 0, 0, 0); // SYSTEM_RESET2 is refused
    note(OUTCOME_ERROR_CODE, 1);
}

static const struct attempt attempts[] = {
    {"calls", "psci-function", FUNCTIONS * 2, function, false},
    {"calls", "psci-affinity", 15 * 3, affinity, false},
    {"calls", "psci-entry", 10, entry, false},
    {"calls", "psci-suspend", 10, suspend, false},
    {"calls", "psci-cpu-on-race", 1, race, false},
    {"calls", "psci-reset", 4, reset, false},
    {"calls", "other-owner", OWNERS * 4, other_owner, false},
    {"calls", "manage", (BH_MAX_DOMAINS + 4) * 4, manage, false},
};

const struct attempt_list attempts_calls = {attempts, sizeof(attempts) / sizeof(attempts[0])};
