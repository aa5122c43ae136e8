// SPDX-License-Identifier: Apache-2.0
//
// A manager that changes another domain's budget while that domain runs, and checks every answer: refused
// values change nothing, valid ones apply from the next period on. Parameters: `victim` (its index),
// `after_ms`, `factor` (of events; 0: as many as can be admitted, which the answer to a larger request says),
// `period_ns` [as it was], `end_ms` (until it powers itself off).
#include <arch/sysreg.h>

#include "guests/runtime/board.h"
#include "guests/runtime/console.h"
#include "guests/runtime/gic.h"
#include "guests/runtime/manager.h"
#include "guests/runtime/params.h"
#include "guests/runtime/program.h"
#include "guests/runtime/ticks.h"
#include "guests/runtime/timer.h"

enum { reports = 8 }; // wrong answers that are printed

static uint64_t wrong;

static void check(bool right, const char *what, uint64_t value)
{
    if (!right && wrong++ < reports)
        console_printf("governor: %s (%lx)\n", what, value);
}

void program_interrupt(uint32_t intid)
{
    (void)intid;
    timer_stop();
}

static void same(struct manager_budget a, struct manager_budget b, const char *what)
{
    check(a.result == 0 && a.events == b.events && a.period_ns == b.period_ns, what, a.events);
}

static void refused(uint64_t victim, struct manager_budget now)
{
    static const struct {
        uint64_t events, period_ns;
    } bad[] = {{1ull << 40, 1000000}, {~0ull, 1000000},      {1000, 0},
               {1000, 999},           {1000, 3600000000001}, {1000, ~0ull}};

    for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        int64_t result = manager_change_budget(victim, bad[i].events, bad[i].period_ns).result;

        check(result == -BH_HYPERCALL_ERROR_INVALID_PARAMETERS, "a bad budget", i);
        same(manager_budget(victim), now, "a refused change changed something");
    }
    check(manager_budget(BH_MAX_DOMAINS).result == -BH_HYPERCALL_ERROR_INVALID_PARAMETERS, "nobody's budget",
          0);
    check(manager_budget(~0ull).result == -BH_HYPERCALL_ERROR_INVALID_PARAMETERS, "nobody's budget", 1);
}

// The most events that are admitted: a request for one more is refused with that number, whatever was
// requested first.
static uint64_t most_admitted(uint64_t victim, struct manager_budget now, uint64_t period_ns)
{
    const uint64_t all = (1ull << 40) - 1;
    struct manager_budget answer = manager_change_budget(victim, all, period_ns);
    uint64_t most = answer.most;

    check(answer.result == -BH_HYPERCALL_ERROR_NOT_ADMITTED, "any amount was admitted",
          (uint64_t)answer.result);
    answer = manager_change_budget(victim, most + 1, period_ns);
    check(answer.result == -BH_HYPERCALL_ERROR_NOT_ADMITTED && answer.most == most,
          "one more than is admitted was", answer.most);
    same(manager_budget(victim), now, "a change that is not admitted changed something");
    return most;
}

void program_main(void)
{
    uint64_t victim = param("victim", 0);
    uint64_t start = timer_now();
    uint64_t frequency = timer_frequency();
    struct manager_budget before = manager_budget(victim);
    uint64_t period_ns = param("period_ns", before.period_ns);
    uint64_t events = before.events * param("factor", 2);
    struct manager_budget after, asked;

    if (before.result != 0 || !gic_init()) {
        console_printf("governor: may not manage (%ld)\n", (long)before.result);
        return;
    }
    gic_enable_private(board()->virtual_timer_intid);
    console_write("bulkhead: ready\n");
    refused(victim, before);
    timer_sleep_until(start + ns_to_ticks(param("after_ms", 1000) * 1000000, frequency));
    if (events == 0)
        events = most_admitted(victim, before, period_ns);
    asked = manager_change_budget(victim, events, period_ns);
    check(asked.result == 0, "a good budget was refused", (uint64_t)asked.result);
    after = manager_budget(victim);
    check(after.events == events, "another budget than was asked for", after.events);
    check(after.waits, "a change holds at once", 0);
    timer_sleep_until(asked.from + 1);
    check(!manager_budget(victim).waits, "a change still waits", 0);
    timer_sleep_until(start + ns_to_ticks(param("end_ms", 2000) * 1000000, frequency));
    console_printf("report {\"before\": %lu, \"after\": %lu, \"period_ns\": %lu, \"wrong\": %lu}\n",
                   before.events, after.events, after.period_ns, wrong);
}
