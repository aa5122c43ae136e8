// SPDX-License-Identifier: Apache-2.0
//
// Tries to break out of its domain, in every way that it knows, one after the other, and reports the outcome
// of each (docs/design/containment.md). Needs `restart: on-failure`: if a step ends the domain, the next life
// notes that. Parameters: `mpam_page`: address of the components' registers; `still_ms` before the first
// attempt, `storm_ms` for each storm, `every`: one of that many steps is tried.
#include <arch/sysreg.h>
#include <stddef.h>

#include "guests/programs/breakout/journal.h"
#include "guests/runtime/board.h"
#include "guests/runtime/console.h"
#include "guests/runtime/gic.h"
#include "guests/runtime/params.h"
#include "guests/runtime/program.h"
#include "guests/runtime/ticks.h"
#include "guests/runtime/timer.h"

static const struct attempt_list *const lists[] = {
    &attempts_memory, &attempts_devices, &attempts_registers,  &attempts_instructions,
    &attempts_calls,  &attempts_gic,     &attempts_partitions, &attempts_storms,
};

enum { list_count = sizeof(lists) / sizeof(lists[0]) };

static struct journal *journal;

static const char *const outcome_names[OUTCOME_COUNT] = {
    "undefined", "fault", "ended", "no-effect", "masked", "emulated", "own", "error-code",
};

void note(enum outcome outcome, uint64_t count)
{
    journal->counts[outcome] += count;
    journal_seal(journal);
}

void note_through(uint64_t evidence)
{
    if (journal->through == 0)
        journal->evidence = evidence;
    journal->through++;
    journal_seal(journal);
}

void note_caught(enum outcome if_none)
{
    uint32_t caught = catch_stop();
    uint32_t class = catch_class();

    note(caught == 0 ? if_none : class == 0 ? OUTCOME_UNDEFINED : OUTCOME_FAULT, 1);
}

uint64_t storm_end(void)
{
    return timer_now() + ns_to_ticks(param("storm_ms", 200) * 1000000, timer_frequency());
}

void program_interrupt(uint32_t intid)
{
    if (intid == board()->virtual_timer_intid)
        timer_stop();
}

static const struct attempt *attempt_at(uint32_t index)
{
    for (uint32_t i = 0; i < list_count; i++) {
        if (index < lists[i]->count)
            return &lists[i]->attempts[index];
        index -= lists[i]->count;
    }
    return NULL;
}

static uint32_t attempt_count(void)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < list_count; i++)
        count += lists[i]->count;
    return count;
}

// Prints the lines of one attempt: one for each kind of outcome.
static void print(const struct attempt *attempt)
{
    for (uint32_t i = 0; i < OUTCOME_COUNT; i++) {
        if (journal->counts[i] == 0)
            continue;
        journal->records++;
        journal->tries += journal->counts[i];
        console_printf("attempt {\"class\": \"%s\", \"what\": \"%s\", \"count\": %lu, \"outcome\": \"%s\", "
                       "\"through\": false}\n",
                       attempt->class, attempt->name, journal->counts[i], outcome_names[i]);
        journal->counts[i] = 0;
    }
    if (journal->through != 0) {
        journal->records++;
        journal->tries += journal->through;
        console_printf(
            "attempt {\"class\": \"%s\", \"what\": \"%s\", \"count\": %lu, \"outcome\": \"through\", "
            "\"through\": true, \"evidence\": \"%lx\"}\n",
            attempt->class, attempt->name, journal->through, journal->evidence);
        journal->all_through += journal->through;
        journal->through = 0;
    }
}

static void next_step(const struct attempt *attempt)
{
    uint64_t every = attempt->whole ? 1 : param("every", 1);

    journal->step += every != 0 ? (uint32_t)every : 1;
    journal_seal(journal);
}

static void try(const struct attempt *attempt)
{
    while (journal->step < attempt->steps) {
        journal->trying = 1;
        journal_seal(journal);
        attempt->run(journal->step);
        journal->trying = 0;
        next_step(attempt);
    }
    print(attempt);
    journal->attempt++;
    journal->step = 0;
    journal_seal(journal);
}

static void keep_still(void)
{
    gic_enable_private(board()->virtual_timer_intid);
    timer_sleep_until(timer_now() + ns_to_ticks(param("still_ms", 0) * 1000000, timer_frequency()));
}

static void begin_life(void)
{
    if (journal->lives == 1) {
        console_printf("bulkhead: ready\nattempts {\"planned\": %u}\n", attempt_count());
        keep_still();
    } else if (journal->trying != 0) {
        journal->trying = 0;
        next_step(attempt_at(journal->attempt));
        note(OUTCOME_ENDED, 1);
    }
}

void program_main(void)
{
    journal = journal_open();
    if (!gic_init()) {
        console_write("breakout: no usable interrupt controller\n");
        return;
    }
    begin_life();
    for (const struct attempt *next; (next = attempt_at(journal->attempt)) != NULL;)
        try(next);
    console_printf(
        "attempts {\"planned\": %u, \"tried\": %u, \"records\": %u, \"tries\": %lu, \"through\": %lu, "
        "\"lives\": %lu}\n",
        attempt_count(), journal->attempt, journal->records, journal->tries, journal->all_through,
        journal->lives);
}
