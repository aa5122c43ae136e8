// SPDX-License-Identifier: Apache-2.0
//
// A manager that stops and restarts another domain at random instants, and checks the answer of each call and
// that every promised restart has happened. Ends the machine with a report. Parameters: `victim` (its index),
// `rounds`, `gap_us` (at most that long between two calls), `seed`, `stops` (0: it restarts only),
// `end_machine` (0: powers itself off instead).
#include <arch/sysreg.h>

#include "guests/runtime/board.h"
#include "guests/runtime/console.h"
#include "guests/runtime/gic.h"
#include "guests/runtime/manager.h"
#include "guests/runtime/params.h"
#include "guests/runtime/program.h"
#include "guests/runtime/random.h"
#include "guests/runtime/ticks.h"
#include "guests/runtime/timer.h"

enum {
    settle_ms = 20000, // how long a restart may take, on an emulator whose host is busy
    reports = 8,       // wrong answers that are printed
    wait_of_rounds = 8 // in one of that many rounds the victim may start first
};

static struct {
    uint64_t victim;
    uint64_t asked;     // restarts that were promised
    uint64_t coalesced; // calls during a restart
    bool may_stop;
    uint64_t stops;
    uint64_t taken_back; // restarts that a stop preceded
    uint64_t wrong;
} reaper;

static void wrong(const char *what, uint64_t value)
{
    if (reaper.wrong++ < reports)
        console_printf("reaper: %s (%lx)\n", what, value);
}

void program_interrupt(uint32_t intid)
{
    (void)intid;
    timer_stop();
}

// Sleeps: on an emulator, a loop would take as much of the host's time as all that the others do.
static void pause_ticks(uint64_t ticks)
{
    timer_sleep_until(timer_now() + ticks);
}

static void restart(bool stopped)
{
    struct manager_answer answer = manager_restart(reaper.victim);

    if (answer.result != 0) {
        wrong("restart was refused", (uint64_t)answer.result);
    } else if (answer.state == BH_DOMAIN_STATE_RESTARTING) {
        reaper.coalesced++;
    } else {
        reaper.asked++;
        if (answer.state != (stopped ? BH_DOMAIN_STATE_STOPPED : BH_DOMAIN_STATE_RUNNING))
            wrong("state before a restart", answer.state);
    }
}

static void stop(void)
{
    struct manager_answer answer = manager_stop(reaper.victim);

    reaper.stops++;
    if (answer.result != 0)
        wrong("stop was refused", (uint64_t)answer.result);
    else if (answer.state == BH_DOMAIN_STATE_RESTARTING)
        reaper.taken_back++;
    else if (answer.state != BH_DOMAIN_STATE_RUNNING)
        wrong("state before a stop", answer.state);
    answer = manager_state(reaper.victim);
    if (answer.state != BH_DOMAIN_STATE_STOPPED || answer.end != BH_DOMAIN_END_MANAGER_REQUEST)
        wrong("state after a stop", answer.state << 32 | answer.end);
}

static void wait_until_running(void)
{
    uint64_t end = timer_now() + timer_frequency() / 1000 * settle_ms;
    uint64_t now = 0;

    // The time is read first: if the host suspends a core for long, the state is read after that.
    while (now <= end) {
        now = timer_now();
        if (manager_state(reaper.victim).state == BH_DOMAIN_STATE_RUNNING)
            return;
    }
    wrong("the victim does not get up", manager_state(reaper.victim).state);
}

static void round(struct random *random, uint64_t gap_ticks)
{
    if (reaper.may_stop && random_below(random, 2) == 0) {
        stop();
        pause_ticks(random_below(random, gap_ticks));
        restart(true);
    } else {
        restart(false);
    }
    if (random_below(random, wait_of_rounds) == 0)
        wait_until_running();
    pause_ticks(random_below(random, gap_ticks));
}

static void check_refusals(void)
{
    static const uint64_t nobody[] = {BH_MAX_DOMAINS, 1ull << 32, ~0ull};

    for (unsigned i = 0; i < sizeof(nobody) / sizeof(nobody[0]); i++) {
        if (manager_state(nobody[i]).result != -BH_HYPERCALL_ERROR_INVALID_PARAMETERS ||
            manager_stop(nobody[i]).result != -BH_HYPERCALL_ERROR_INVALID_PARAMETERS ||
            manager_restart(nobody[i]).result != -BH_HYPERCALL_ERROR_INVALID_PARAMETERS)
            wrong("a domain that does not exist was accepted", nobody[i]);
    }
}

void program_main(void)
{
    uint64_t rounds = param("rounds", 1000);
    uint64_t gap_ticks = ns_to_ticks(param("gap_us", 2000) * 1000, timer_frequency());
    struct random random = {.state = param("seed", 1)};

    reaper.victim = param("victim", 0);
    reaper.may_stop = param("stops", 1) != 0;
    struct manager_answer before = manager_state(reaper.victim);
    if (before.result != 0 || !gic_init()) {
        console_printf("reaper: may not manage (%ld)\n", (long)before.result);
        return;
    }
    gic_enable_private(board()->virtual_timer_intid);
    console_write("bulkhead: ready\n");
    check_refusals();
    for (uint64_t i = 0; i < rounds; i++)
        round(&random, gap_ticks);
    wait_until_running();
    uint64_t happened = manager_state(reaper.victim).restarts - before.restarts;
    if (happened != reaper.asked - reaper.taken_back)
        wrong("restarts that were promised did not happen", reaper.asked - reaper.taken_back - happened);
    console_printf(
        "report {\"rounds\": %lu, \"restarts\": %lu, \"asked\": %lu, \"coalesced\": %lu, \"stops\": %lu, "
        "\"taken_back\": %lu, \"wrong\": %lu}\n",
        rounds, happened, reaper.asked, reaper.coalesced, reaper.stops, reaper.taken_back, reaper.wrong);
    if (param("end_machine", 1) != 0) {
        (void)manager_end_machine();
        for (;;)
            cpu_wait_for_interrupt();
    }
}
