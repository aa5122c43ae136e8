/* SPDX-License-Identifier: Apache-2.0
 *
 * The scheduler: a component that decides who runs; the kernel only switches. Fixed priorities. A component
 * with a period is released at each multiple of it and has its whole budget then: it runs until its job ends
 * or the budget is spent, and what is left of the budget is lost with the job's end. So it takes from others
 * no more than a periodic task with its budget as execution time, and the usual response-time analysis holds.
 * (A deferrable server would keep the rest for later and could run twice its budget in a row; a sporadic
 * server would have to keep a list of what it gets back when.) Parts: scheduler.c (the loop), jobs.c
 * (releases, budgets, records), time.c, report.c (lines).
 */
#ifndef BULKHEAD_MICROKERNEL_SCHEDULER_SCHEDULER_H
#define BULKHEAD_MICROKERNEL_SCHEDULER_SCHEDULER_H

#include "microkernel/include/microkernel/sys.h"
#include "microkernel/kernel/config.h"
#include <stdbool.h>

#define FOREVER UINT64_MAX
#define NOBODY  MOST_COMPONENTS

/* What a component's jobs have needed, in clocks. */
struct record {
    uint32_t releases;
    uint32_t starting; /* releases until the first job: the component was not yet through with its start */
    uint32_t ended;
    uint32_t late;     /* releases at which the job before had not ended */
    uint32_t overruns; /* jobs that were stopped because the budget was spent */
    uint32_t most_refills;
    uint64_t response_most;
    uint64_t response_sum; /* of jobs that have ended */
    uint64_t execution_most;
};

struct entry {
    bool is_runnable; /* there is one, and it is no idle server */
    bool has_begun;   /* its first job: what was before is its start */
    bool has_job;     /* that has not ended */
    bool is_stopped;  /* the budget is spent */
    bool has_overrun; /* its job was stopped once */
    uint32_t priority;
    uint64_t wakes;  /* without period: not before this time */
    uint64_t period; /* 0: none; all in clocks */
    uint64_t budget;
    uint64_t next;        /* release */
    uint64_t released;    /* the job at hand */
    uint64_t spent;       /* of the budget */
    uint64_t execution;   /* of the job */
    uint64_t busy;        /* in all */
    uint32_t job_refills; /* when the job was released */
    struct record record;
};

extern struct entry table[MOST_COMPONENTS];

/* Reads components and times from the kernel. */
void jobs_start(uint64_t now);

/* Releases all jobs whose time has come. */
void jobs_release(uint64_t now);

/* The component has run. */
void jobs_charge(uint32_t component, uint64_t clocks);

/* It sleeps: its job has ended. */
void jobs_end(uint32_t component, uint64_t now);

/* The most refills of a job, of the one that has not ended, too. */
uint32_t jobs_most_refills(uint32_t component);

/* Whether it may run now. */
bool jobs_may_run(const struct entry *entry, uint64_t now);

/* When a decision is due at the latest if `running` runs from now on. */
uint64_t jobs_next(uint32_t running, uint64_t now);

void time_start(void);
uint64_t time_now(void); /* clocks since the start */
uint64_t time_of_ns(uint64_t ns);
uint64_t time_in_ns(uint64_t clocks);

/* The timer ticks after that many clocks, as exactly as it can. */
void time_set_tick(uint64_t clocks);

uint32_t refills_of(uint32_t component);

void report_overrun(uint32_t component);
void report_ending(uint32_t component); /* who ends the system */
void report_all(void);

#endif
