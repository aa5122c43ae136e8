// SPDX-License-Identifier: Apache-2.0
//
// A manager that changes the threshold of the regulator while it runs, checks every answer, and reads the
// samples of a regulated core: its activity under the first threshold and under the second. Parameters:
// `core` (of the board, regulated), `after_ms` (until the change), `threshold_percent` (the second one),
// `settle_ms` (between the two), `end_ms` (until it powers itself off).
#include <arch/sysreg.h>
#include <stddef.h>

#include "guests/runtime/board.h"
#include "guests/runtime/console.h"
#include "guests/runtime/gic.h"
#include "guests/runtime/manager.h"
#include "guests/runtime/params.h"
#include "guests/runtime/program.h"
#include "guests/runtime/ticks.h"
#include "guests/runtime/timer.h"

enum {
    reports = 8,       // wrong answers that are printed
    one = 65536,       // a load of 100 %
    look_us = 500,     // between two reads of samples
    still_periods = 4, // without samples
};

// Sum of the samples between two instants.
struct seen {
    uint64_t samples, events, utilization, global_events;
};

static uint64_t wrong;

static void check(bool right, const char *what, uint64_t value)
{
    if (!right && wrong++ < reports)
        console_printf("tuner: %s (%lx)\n", what, value);
}

void program_interrupt(uint32_t intid)
{
    (void)intid;
    timer_stop();
}

static bool same(const struct manifest_regulation *a, const struct manifest_regulation *b)
{
    bool equal = a->policy == b->policy && a->hold == b->hold && a->threshold == b->threshold &&
                 a->step == b->step && a->members == b->members && a->regulated == b->regulated &&
                 a->store_samples == b->store_samples && a->interval_ns == b->interval_ns &&
                 a->bandwidth_threshold_events == b->bandwidth_threshold_events &&
                 a->floor_events == b->floor_events && a->ceiling_events == b->ceiling_events &&
                 a->saturation_events == b->saturation_events;

    for (unsigned i = 0; i < BH_MAX_CORES; i++)
        equal = equal && a->budget_events[i] == b->budget_events[i];
    return equal;
}

static void refuse(const struct manifest_regulation *now, const struct manifest_regulation *bad,
                   unsigned which, uint64_t bad_word)
{
    struct manager_change answer = manager_change_regulation(bad);

    check(answer.result == -BH_HYPERCALL_ERROR_INVALID_PARAMETERS, "bad parameters", which);
    check(answer.bad_word == bad_word, "another word is bad", answer.bad_word);
    struct manager_regulation after = manager_regulation();
    check(after.result == 0 && same(&after.parameters, now), "a refused change changed something", which);
}

#define WORD_OF(field) (offsetof(struct manifest_regulation, field) / sizeof(uint64_t))

static void try_bad_ones(const struct manifest_regulation *now)
{
    struct manifest_regulation bad[8];
    static const uint64_t bad_words[] = {WORD_OF(policy),       WORD_OF(threshold),
                                         WORD_OF(step),         WORD_OF(interval_ns),
                                         WORD_OF(members),      WORD_OF(regulated),
                                         WORD_OF(floor_events), WORD_OF(budget_events[BH_MAX_CORES - 1])};

    for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        bad[i] = *now;
    bad[0].policy = ~0u;
    bad[1].threshold = 0;
    bad[2].step = one;
    bad[3].interval_ns = 1;
    bad[4].members ^= 1u << (BH_MAX_CORES - 1);
    bad[5].regulated = ~bad[5].regulated;
    bad[6].floor_events = 0;
    bad[7].budget_events[BH_MAX_CORES - 1] = ~bad[7].budget_events[BH_MAX_CORES - 1];
    for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        refuse(now, &bad[i], i, bad_words[i]);
}

// Reads the core's samples until `until`; returns the number of samples so far.
static uint64_t follow(uint64_t core, uint64_t number, uint64_t until, struct seen *seen)
{
    uint64_t step = ns_to_ticks((uint64_t)look_us * 1000, timer_frequency());

    for (;;) {
        struct manager_sample next = manager_sample(core, number);

        if (next.result != 0) {
            check(next.result == -BH_HYPERCALL_ERROR_NO_SAMPLE, "samples were refused",
                  (uint64_t)next.result);
            if (timer_now() >= until)
                return number;
            timer_sleep_until(timer_now() + step);
            continue;
        }
        check(next.number == number + next.dropped + 1, "a sample out of order", next.number);
        number = next.number;
        seen->samples++;
        seen->events += next.sample.events;
        seen->utilization += next.sample.utilization;
        seen->global_events += next.sample.global_events;
    }
}

// While storing is off, no samples come.
static void pause_samples(uint64_t core, uint64_t number, uint64_t period_ns)
{
    struct seen none = {0};
    uint64_t still = ns_to_ticks(still_periods * period_ns, timer_frequency());

    check(manager_store_samples(false) == 1, "samples were not stored", 0);
    number = follow(core, number, timer_now(), &none); // samples that existed already, or were being stored
    none.samples = 0;
    (void)follow(core, number, timer_now() + still, &none);
    check(none.samples <= 1, "samples came", none.samples);
    check(manager_store_samples(true) == 0, "samples were stored", 1);
}

static void tell(const char *name, const struct seen *seen)
{
    uint64_t count = seen->samples != 0 ? seen->samples : 1;

    console_printf(
        "\"%s\": {\"samples\": %lu, \"events\": %lu, \"utilization_percent\": %lu, \"global\": %lu}, ", name,
        seen->samples, seen->events / count, seen->utilization * 100 / one / count,
        seen->global_events / count);
}

void program_main(void)
{
    uint64_t core = param("core", 0);
    uint64_t start = timer_now();
    uint64_t per_ms = ns_to_ticks(1000000, timer_frequency());
    struct manager_regulation now = manager_regulation();
    struct manifest_regulation other = now.parameters;
    struct seen before = {0}, between = {0}, after = {0};

    if (now.result != 0 || !gic_init()) {
        console_printf("tuner: may not manage (%ld)\n", (long)now.result);
        return;
    }
    gic_enable_private(board()->virtual_timer_intid);
    console_write("bulkhead: ready\n");
    try_bad_ones(&now.parameters);
    uint64_t number = follow(core, 0, start + param("after_ms", 10) * per_ms, &before);
    pause_samples(core, number, now.parameters.interval_ns);
    other.threshold = (uint32_t)(param("threshold_percent", 40) * one / 100);
    check(manager_change_regulation(&other).result == 0, "good parameters were refused", other.threshold);
    now = manager_regulation();
    check(same(&now.parameters, &other), "other parameters than were asked for", now.parameters.threshold);
    // Waits until G has decreased.
    number = follow(core, number, timer_now() + param("settle_ms", 5) * per_ms, &between);
    (void)follow(core, number, start + param("end_ms", 30) * per_ms, &after);
    console_write("report {");
    tell("before", &before);
    tell("after", &after);
    console_printf("\"wrong\": %lu}\n", wrong);
}
