/* SPDX-License-Identifier: Apache-2.0
 *
 * The scheduler: a component that decides which thread runs; the kernel only switches. Fixed priorities. A
 * component with a period is released at each multiple of it with its whole budget: it runs until its job
 * ends or the budget is spent; the rest of the budget is lost when the job ends. So it interferes with others
 * no more than a periodic task whose execution time is the budget, and the usual response-time analysis
 * applies. (A deferrable server would keep the rest and could run twice its budget in a row; a sporadic
 * server would need a list of replenishments.) Parts: scheduler.c (the loop), jobs.c (releases, budgets,
 * records), time.c, report.c (lines).
 */
#ifndef BULKHEAD_MICROKERNEL_SCHEDULER_SCHEDULER_H
#define BULKHEAD_MICROKERNEL_SCHEDULER_SCHEDULER_H

#include "microkernel/include/microkernel/sys.h"
#include "microkernel/kernel/config.h"
#include <stdbool.h>

#define FOREVER UINT64_MAX
#define NOBODY  MOST_COMPONENTS

/* Statistics of a component's jobs, in clocks. */
struct record {
    uint32_t releases;
    uint32_t starting; /* releases before the first job, while the component was still starting */
    uint32_t ended;
    uint32_t late;     /* releases at which the previous job had not ended */
    uint32_t overruns; /* jobs that were stopped because the budget was spent */
    uint32_t most_refills;
    uint64_t response_most;
    uint64_t response_sum; /* sum for jobs that have ended */
    uint64_t execution_most;
};

struct entry {
    bool is_runnable; /* the component exists and is not an idle server */
    bool has_begun;   /* its first job has begun; before that it was starting */
    bool has_job;     /* it has a job that has not ended */
    bool is_stopped;  /* the budget is spent */
    bool has_overrun; /* its present job was stopped */
    uint32_t priority;
    uint64_t wakes;  /* without a period: earliest time to run */
    uint64_t period; /* 0: none; all in clocks */
    uint64_t budget;
    uint64_t next;        /* time of the next release */
    uint64_t released;    /* release time of the present job */
    uint64_t spent;       /* part of the budget that is spent */
    uint64_t execution;   /* execution time of the present job */
    uint64_t busy;        /* execution time in total */
    uint32_t job_refills; /* count of refills when the job was released */
    struct record record;
};

extern struct entry table[MOST_COMPONENTS];

/* Reads components and times from the kernel. */
void jobs_start(uint64_t now);

/* Releases all jobs that are due. */
void jobs_release(uint64_t now);

/* Charges the time for which the component has run. */
void jobs_charge(uint32_t component, uint64_t clocks);

/* The component sleeps: its job has ended. */
void jobs_end(uint32_t component, uint64_t now);

/* The most refills in a job, including the present one. */
uint32_t jobs_most_refills(uint32_t component);

/* Whether the component may run now. */
bool jobs_may_run(const struct entry *entry, uint64_t now);

/* Latest time of the next decision if `running` runs from now on. */
uint64_t jobs_next(uint32_t running, uint64_t now);

void time_start(void);
uint64_t time_now(void); /* clocks since the start */
uint64_t time_of_ns(uint64_t ns);
uint64_t time_in_ns(uint64_t clocks);

/* Sets the timer's next tick after that many clocks, as exactly as possible. */
void time_set_tick(uint64_t clocks);

uint32_t refills_of(uint32_t component);

void report_overrun(uint32_t component);
void report_ending(uint32_t component); /* the component that ends the system */
void report_all(void);

#endif
