/* SPDX-License-Identifier: Apache-2.0
 *
 * Releases, budgets, and records of jobs. A job that has not ended at the next release continues with the new
 * budget, and counts as late; no further job is released at that time.
 */
#include "microkernel/scheduler/scheduler.h"

#define WORD_BITS 32u
#define SLICE_NS  1000000u /* time slice of components of equal priority */

struct entry table[MOST_COMPONENTS];

static uint64_t info_ns(uint32_t component, enum sys_info what)
{
    struct sys_words info = sys_call(SYS_INFO, SLOT_THREADS + component, what, 0, 0);

    return info.word[1] | (uint64_t)info.word[2] << WORD_BITS;
}

uint32_t refills_of(uint32_t component)
{
    return sys_call(SYS_INFO, SLOT_THREADS + component, INFO_REFILLS, 0, 0).word[1];
}

void jobs_start(uint64_t now)
{
    for (uint32_t i = 0; i < MOST_COMPONENTS; i++) {
        struct sys_words info = sys_call(SYS_INFO, SLOT_THREADS + i, INFO_SELF, 0, 0);
        struct entry *entry = &table[i];

        if (info.word[0] == SYS_OK && i != MANAGER && i != SCHEDULER) {
            entry->is_runnable = true;
            entry->priority = info.word[2];
            entry->period = time_of_ns(info_ns(i, INFO_PERIOD));
            entry->budget = time_of_ns(info_ns(i, INFO_BUDGET));
            entry->next = now;
        }
    }
}

static void release(uint32_t component)
{
    struct entry *entry = &table[component];

    entry->released = entry->next;
    entry->has_job = true;
    entry->has_overrun = false;
    entry->execution = 0;
    entry->record.releases += entry->has_begun;
    entry->job_refills = refills_of(component);
}

void jobs_release(uint64_t now)
{
    for (uint32_t i = 0; i < MOST_COMPONENTS; i++) {
        struct entry *entry = &table[i];

        while (entry->is_runnable && entry->period != 0 && entry->next <= now) {
            entry->record.starting += !entry->has_begun;
            if (entry->has_job) {
                entry->record.late += entry->has_begun;
            } else {
                release(i);
            }
            entry->spent = 0;
            entry->is_stopped = false;
            entry->next += entry->period;
        }
    }
}

void jobs_charge(uint32_t component, uint64_t clocks)
{
    struct entry *entry = &table[component];

    entry->busy += clocks;
    entry->execution += clocks;
    entry->spent += clocks;
    if (entry->period != 0 && entry->has_job && entry->spent >= entry->budget && !entry->is_stopped) {
        entry->is_stopped = true;
        if (entry->has_begun && !entry->has_overrun) {
            entry->has_overrun = true;
            entry->record.overruns++;
            if (entry->record.overruns == 1) {
                report_overrun(component);
            }
        }
    }
}

uint32_t jobs_most_refills(uint32_t component)
{
    const struct entry *entry = &table[component];
    uint32_t refills = entry->has_begun && entry->has_job ? refills_of(component) - entry->job_refills : 0;

    return refills > entry->record.most_refills ? refills : entry->record.most_refills;
}

static void record_job(uint32_t component, uint64_t now)
{
    struct entry *entry = &table[component];
    struct record *record = &entry->record;
    uint64_t response = now - entry->released;

    record->ended++;
    record->response_sum += response;
    record->response_most = response > record->response_most ? response : record->response_most;
    record->execution_most =
        entry->execution > record->execution_most ? entry->execution : record->execution_most;
    record->most_refills = jobs_most_refills(component);
}

void jobs_end(uint32_t component, uint64_t now)
{
    struct entry *entry = &table[component];

    if (entry->has_begun && entry->has_job) {
        record_job(component, now);
    }
    entry->has_begun = true;
    entry->has_job = false;
}

bool jobs_may_run(const struct entry *entry, uint64_t now)
{
    if (!entry->is_runnable) {
        return false;
    }
    return entry->period != 0 ? entry->has_job && !entry->is_stopped : entry->wakes <= now;
}

static uint64_t sooner(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

uint64_t jobs_next(uint32_t running, uint64_t now)
{
    uint64_t next = FOREVER;

    for (uint32_t i = 0; i < MOST_COMPONENTS; i++) {
        const struct entry *entry = &table[i];

        if (!entry->is_runnable) {
            continue;
        }
        if (entry->period != 0) {
            next = sooner(next, entry->next);
        } else if (entry->wakes > now) {
            next = sooner(next, entry->wakes);
        } else if (running != NOBODY && i != running && entry->priority == table[running].priority) {
            next = sooner(next, now + time_of_ns(SLICE_NS));
        }
    }
    if (running != NOBODY && table[running].period != 0) {
        next = sooner(next, now + (table[running].budget - table[running].spent));
    }
    return next;
}
