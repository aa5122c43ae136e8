// SPDX-License-Identifier: Apache-2.0
//
// What the interrupts of a budget cost a guest: the longest step of a loop of the first VCPU around the
// moment at which the hypervisor has one. The hypervisor counts its interrupts by reason; a step counts only
// if there was exactly one interrupt, of the expected kind. The other VCPUs write to memory, so that the
// hypervisor misses the shared cache.
//
// An overflow is seen where a budget counts the sum of two events: a counter overflows when it has half of
// what is left, and the guest goes on. Where one event is counted, its overflow stops the guest until the
// next period, and there is nothing to be seen of its cost.
#include <bulkhead_layout.h>

#include "guests/programs/self_test/self_test.h"
#include "guests/runtime/console.h"
#include "guests/runtime/manager.h"
#include "guests/runtime/ticks.h"
#include "guests/runtime/timer.h"

enum { samples = 50, attempts = 4 * samples };

// Of a budget of n lines the first overflow is after n / 2, and the second one after 3 n / 4.
enum { lines_of = 5, of_lines = 8 };

struct step {
    uint64_t begin; // counter value
    uint64_t ticks;
};

struct exits {
    uint64_t periods;
    uint64_t overflows;
};

static struct exits exits_now(void)
{
    return (struct exits){own_exits(BH_EXIT_REASON_IRQ_HYPERVISOR_TIMER),
                          own_exits(BH_EXIT_REASON_IRQ_OVERFLOW)};
}

static bool were(const struct exits *before, uint64_t periods, uint64_t overflows)
{
    struct exits now = exits_now();

    return now.periods - before->periods == periods && now.overflows - before->overflows == overflows;
}

static struct step longest_until(uint64_t until)
{
    struct step longest = {0};
    uint64_t last = timer_now();

    while (last < until) {
        uint64_t now = timer_now();

        if (now - last > longest.ticks)
            longest = (struct step){last, now - last};
        last = now;
    }
    return longest;
}

// The same, while it reads so many lines.
static struct step longest_of_reads(const struct self_test *test, uint64_t *at, uint64_t lines)
{
    struct step longest = {0};
    uint64_t last = timer_now();

    for (; lines > 0; lines--) {
        (void)*(volatile uint64_t *)(void *)(test->memory + *at);
        *at = (*at + line_bytes) & (test->core_bytes - 1);
        uint64_t now = timer_now();

        if (now - last > longest.ticks)
            longest = (struct step){last, now - last};
        last = now;
    }
    return longest;
}

// The interrupt of a period, around which the loop runs. `alone`: there was no other interrupt meanwhile;
// otherwise the answer is the expected moment.
static struct step find_period(uint64_t expected, uint64_t period, bool *alone)
{
    while (timer_now() < expected - period / 2) {
    }
    struct exits before = exits_now();
    struct step found = longest_until(expected + period / 2);

    *alone = were(&before, 1, 0);
    return *alone ? found : (struct step){.begin = expected};
}

static uint64_t measure_periods(uint64_t period, uint64_t *taken)
{
    struct step last = longest_until(timer_now() + 2 * period);
    uint64_t count = 0;

    for (unsigned i = 0; i < attempts && count < samples; i++) {
        bool alone;

        last = find_period(last.begin + period, period, &alone);
        if (alone)
            taken[count++] = last.ticks;
    }
    return count;
}

// Of two periods the program reads in the first, when its interrupt is over, and finds the beginning of the
// second.
static uint64_t measure_overflows(const struct self_test *test, uint64_t lines, uint64_t period,
                                  uint64_t *taken)
{
    struct step last = longest_until(timer_now() + 2 * period);
    uint64_t count = 0, at = 0;

    for (unsigned i = 0; i < attempts && count < samples; i++) {
        bool alone;

        while (timer_now() < last.begin + period + period / 8) {
        }
        struct exits before = exits_now();
        struct step found = longest_of_reads(test, &at, lines);

        if (were(&before, 0, 1))
            taken[count++] = found.ticks;
        uint64_t next = last.begin + 2 * period;

        while (next < timer_now() + period / 2) // if the budget has stopped it, periods have gone by
            next += period;
        last = find_period(next, period, &alone);
    }
    return count;
}

// The others write for as long as the samples take, if nothing disturbs them.
static void begin_writers(const struct self_test *test, uint64_t ticks)
{
    uint64_t now = timer_now();

    team_begin(test, &patterns[sequential_writes], test->cpus - 1, now, now + ticks);
}

bool measure_interruptions(const struct self_test *test, const struct budget_setting *budget,
                           uint64_t *typical)
{
    static uint64_t taken[samples];
    uint64_t period = ns_to_ticks(budget->period_ns, timer_frequency());

    begin_writers(test, (samples + 2) * period);
    uint64_t count = measure_periods(period, taken);

    (void)team_end(test->cpus - 1);
    if (count == 0) {
        console_write("self-test: no period of the budget was seen\n");
        return false;
    }
    report_append("interruptions:  # of the first core by its budget, while the other cores write\n");
    report_append_times("period", taken, count);
    *typical = taken[count / 2];
    begin_writers(test, 2 * (samples + 1) * period);
    count = measure_overflows(test, budget->events * lines_of / of_lines, period, taken);
    (void)team_end(test->cpus - 1);
    if (count != 0)
        report_append_times("overflow", taken, count);
    return true;
}
