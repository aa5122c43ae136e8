// SPDX-License-Identifier: Apache-2.0
//
// A manager that adds a flow between two other domains while they run, and checks every answer: an invalid
// flow is refused, one that would delay others is not admitted, one that fits is admitted, kept for a while,
// and ended. A test can be cancelled. Parameters: `from`, `to` (domains), `port`, `bytes`, `period_ns`,
// `deadline_ns` of the flow, `after_ms` (until it is added), `refusals` (how often the flow that is not
// schedulable is tested), `keep_ms` (until the flow ends). Powers itself off.
#include <arch/sysreg.h>

#include "guests/runtime/board.h"
#include "guests/runtime/console.h"
#include "guests/runtime/gic.h"
#include "guests/runtime/manager.h"
#include "guests/runtime/params.h"
#include "guests/runtime/program.h"
#include "guests/runtime/ticks.h"
#include "guests/runtime/timer.h"

enum { reports = 8, most_bytes = 65536 };

// Runs a test, from the first call to the verdict.
struct tested {
    struct manager_flow added;
    int64_t result; // of the last call
    uint64_t verdict, calls, longest_ticks, longest_away_ns;
};

static uint64_t wrong;

static void check(bool right, const char *what, uint64_t value)
{
    if (!right && wrong++ < reports)
        console_printf("switchboard: %s (%lx)\n", what, value);
}

void program_interrupt(uint32_t intid)
{
    (void)intid;
    timer_stop();
}

static struct manifest_flow wished(void)
{
    return (struct manifest_flow){.source = (uint32_t)param("from", 1),
                                  .destination = (uint32_t)param("to", 2),
                                  .port = (uint32_t)param("port", 6000),
                                  .packet_bytes = (uint32_t)param("bytes", 4096),
                                  .period_ns = param("period_ns", 1000000),
                                  .deadline_ns = param("deadline_ns", 1000000)};
}

// Requests a flow, and waits for the result.
static struct tested test(const struct manifest_flow *flow)
{
    struct tested tested = {.added = manager_add_flow(flow)};
    struct manager_verdict answer = {.verdict = BH_FLOW_VERDICT_GOES_ON};

    check(tested.added.result == 0, "a flow was refused", (uint64_t)tested.added.result);
    while (tested.added.result == 0 && answer.result == 0 && answer.verdict == BH_FLOW_VERDICT_GOES_ON) {
        uint64_t before = timer_now();
        uint64_t ticks;

        answer = manager_test_flow();
        ticks = timer_now() - before;
        tested.calls++;
        tested.longest_ticks = ticks > tested.longest_ticks ? ticks : tested.longest_ticks;
    }
    tested.result = answer.result;
    tested.verdict = answer.verdict;
    tested.longest_away_ns = answer.longest_away_ns;
    return tested;
}

static void refuse_bad_ones(const struct manifest_flow *good)
{
    struct manifest_flow bad[6];

    for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        bad[i] = *good;
    bad[0].destination = good->source;
    bad[1].source = BH_MAX_DOMAINS;
    bad[2].packet_bytes = 0;
    bad[3].period_ns = 0;
    bad[4].deadline_ns = ~0ull;
    bad[5].transfers = ~0u;
    for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        int64_t result = manager_add_flow(&bad[i]).result;

        check(result == -BH_HYPERCALL_ERROR_INVALID_PARAMETERS, "a bad flow", i);
    }
    bad[0] = *good;
    bad[0].deadline_ns = 1;
    check(test(&bad[0]).result == -BH_HYPERCALL_ERROR_FLOW_FIXED, "a deadline of 1 ns", 0);
    check(manager_remove_flow(manager_add_flow(good).number) == 0, "a test is not cancelled", 0);
    check(manager_test_flow().result == -BH_HYPERCALL_ERROR_FLOW_BUSY, "a test of nothing", 0);
    check(manager_remove_flow(BH_MAX_FLOWS) == -BH_HYPERCALL_ERROR_INVALID_PARAMETERS, "nobody's flow", 0);
}

static void keep(uint64_t source, uint64_t until, uint64_t step)
{
    while (timer_now() < until && manager_state(source).state == BH_DOMAIN_STATE_RUNNING)
        timer_sleep_until(timer_now() + step);
}

static bool is_refused(uint64_t verdict)
{
    return verdict == BH_FLOW_VERDICT_OVERLOADED || verdict == BH_FLOW_VERDICT_LATE;
}

void program_main(void)
{
    uint64_t start = timer_now();
    uint64_t per_ms = ns_to_ticks(1000000, timer_frequency());
    struct manifest_flow flow = wished();
    struct manifest_flow large = flow;
    struct tested refused = {0}, admitted;

    if (manager_state(0).result != 0 || !gic_init()) {
        console_write("switchboard: may not manage\n");
        return;
    }
    gic_enable_private(board()->virtual_timer_intid);
    console_write("bulkhead: ready\n");
    refuse_bad_ones(&flow);
    timer_sleep_until(start + param("after_ms", 20) * per_ms);
    large.packet_bytes = most_bytes; // exceeds every rate of these systems with that period
    large.period_ns = flow.period_ns / 8;
    for (uint64_t left = param("refusals", 1); left != 0; left--) {
        refused = test(&large);
        check(refused.result == 0 && is_refused(refused.verdict), "what is too much was admitted",
              refused.verdict);
    }
    admitted = test(&flow);
    check(admitted.result == 0 && admitted.verdict == BH_FLOW_VERDICT_ADMITTED, "what fits was not admitted",
          admitted.verdict);
    check(manager_add_flow(&flow).result == -BH_HYPERCALL_ERROR_INVALID_PARAMETERS, "the same again", 0);
    keep(flow.source, timer_now() + param("keep_ms", 10000) * per_ms, per_ms);
    check(manager_remove_flow(admitted.added.number) == 0, "it does not end", admitted.added.number);
    console_printf("report {\"number\": %lu, \"refused\": %lu, \"admitted\": %lu, \"calls\": %lu, "
                   "\"longest_call_ns\": %lu, \"longest_away_ns\": %lu, \"wrong\": %lu}\n",
                   admitted.added.number, refused.verdict, admitted.verdict, admitted.calls,
                   ticks_to_ns(admitted.longest_ticks, timer_frequency()), admitted.longest_away_ns, wrong);
}
