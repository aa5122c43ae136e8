// SPDX-License-Identifier: Apache-2.0
//
// The shortest period and the smallest budget that the hypervisor enforces, as `bulkhead limits` finds them
// on the simulated machine: all VCPUs read as fast as they can within the same budget. A budget holds if the
// events that the hypervisor counted are its own within 5 %. The program is a manager and changes the budget
// of its own domain, whose VCPU n runs on core n.
#include <bulkhead_layout.h>
#include <stddef.h>

#include "guests/programs/self_test/self_test.h"
#include "guests/runtime/manager.h"
#include "guests/runtime/ticks.h"
#include "guests/runtime/timer.h"

enum { own_domain = 0, tolerance = 20, least_periods = 20 };

static const uint32_t periods_ns[] = {1000000, 500000, 200000, 100000, 50000, 20000, 10000, 5000, 2000, 1000};
static const uint32_t budgets[] = {5000, 2000, 1000, 500, 200, 100, 50, 20, 10, 5, 2, 1};

enum { period_count = sizeof(periods_ns) / sizeof(periods_ns[0]) };
enum { budget_count = sizeof(budgets) / sizeof(budgets[0]) };

struct counted {
    uint64_t periods; // of all cores together
    uint64_t events;
    bool is_complete; // of each core something was kept
};

// What the hypervisor counted in the periods that lie between the two counter values. The rings keep the last
// some hundred periods of a core.
static struct counted counted_between(uint32_t cpus, uint64_t from, uint64_t until)
{
    struct counted counted = {.is_complete = true};

    for (uint32_t core = 0; core < cpus; core++) {
        struct manager_sample next = manager_sample(core, 0);
        uint64_t before = counted.periods;

        for (; next.result == 0 && next.sample.time <= until; next = manager_sample(core, next.number)) {
            if (next.sample.time < from)
                continue;
            counted.periods++;
            counted.events += next.sample.events;
        }
        counted.is_complete = counted.is_complete && counted.periods != before;
    }
    return counted;
}

// Returns whether the budget held. `reads`: a pattern whose steps take no longer than some periods.
static bool measure(const struct self_test *test, const struct pattern *reads,
                    const struct budget_setting *setting)
{
    struct manager_budget changed = manager_change_budget(own_domain, setting->events, setting->period_ns);
    uint64_t period = ns_to_ticks(setting->period_ns, timer_frequency());
    uint64_t window = ticks_of_us(test->window_us);
    static struct place place;
    struct team_rate others;

    if (changed.result != 0)
        return false;
    if (place.base == NULL)
        place = place_of(test, reads, 0);
    if (window < least_periods * period)
        window = least_periods * period;
    uint64_t from = changed.from + 2 * period;
    uint64_t until = from + window;

    team_begin(test, reads, test->cpus - 1, from, until);
    struct moved own = pattern_run(reads, &place, from, until, false);

    others = team_end(test->cpus - 1);
    struct counted counted = counted_between(test->cpus, from + period, until);
    uint64_t expected = counted.periods * setting->events;
    uint64_t beside = counted.events > expected ? counted.events - expected : expected - counted.events;

    report_append("  - { events: %lu, period: %lu ns, periods: %lu, counted: %lu, read_kb_s: %lu }\n",
                  setting->events, setting->period_ns, counted.periods, counted.events,
                  kilobytes_per_s(own.lines * line_bytes, own.ticks) + others.sum);
    return counted.is_complete && beside * tolerance <= expected;
}

void measure_enforcement(const struct self_test *test, const struct budget_setting *budget, uint64_t typical)
{
    bool holds = true;

    report_append("periods:  # shorter and shorter, until one does not hold\n");
    for (unsigned i = 0; holds && i < period_count; i++) {
        struct budget_setting next = {budget->events * periods_ns[i] / budget->period_ns, periods_ns[i]};

        // A core that has an interrupt all the time would get no further.
        if (next.events == 0 || ns_to_ticks(next.period_ns, timer_frequency()) < 2 * typical)
            break;
        holds = measure(test, &patterns[sequential_reads], &next);
    }
    report_append("budgets:  # smaller and smaller, until one does not hold\n");
    holds = true;
    for (unsigned i = 0; holds && i < budget_count; i++) {
        struct budget_setting next = {budgets[i], periods_ns[0]};

        // Twice the rate of the file is what the memory guarantees.
        if (budgets[i] * budget->period_ns <= 2 * budget->events * periods_ns[0])
            holds = measure(test, &few_reads, &next);
    }
    (void)manager_change_budget(own_domain, budget->events, budget->period_ns);
}
