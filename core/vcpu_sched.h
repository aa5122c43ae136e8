/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Scheduler for VCPUs that share a core, each with a budget of memory events and one of CPU time (B2, T3):
 * their states, and which of them runs. Called on that core, with interrupts masked, in the order: account,
 * then the events, then dispatch. Requests of other cores arrive as interrupts. It never accesses a guest's
 * registers; the caller switches guests if the decision says so.
 */
#ifndef BULKHEAD_CORE_VCPU_SCHED_H
#define BULKHEAD_CORE_VCPU_SCHED_H

#include "core/budget.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SCHED_MAX_VCPUS 8u

enum sched_state {
    SCHED_RESET,    /* created or stopped: has no periods */
    SCHED_READY,    /* could run */
    SCHED_RUNNING,  /* its budget is loaded in the counters */
    SCHED_RECHARGE, /* a budget is spent: waits for the end of the period */
    SCHED_PAUSED,   /* waits for an interrupt; refilled on time nevertheless */
    SCHED_STATE_COUNT,
};

/* A VCPU. The caller initializes everything except cpu_time, state and turn. */
struct sched_vcpu {
    struct budget budget;
    struct reservation cpu_time; /* its events are ticks on the core; unlimited: no budget of CPU time */
    enum sched_state state;
    uint32_t priority; /* 0 is the highest */
    uint64_t turn;     /* used by the policy: order of waiting */
};

enum sched_policy {
    SCHED_FIXED_PRIORITY, /* round robin among equal priorities */
    SCHED_ROUND_ROBIN,    /* priorities are ignored */
};

struct sched_core {
    enum sched_policy policy;
    struct sched_vcpu *vcpus[SCHED_MAX_VCPUS];
    uint32_t count;
    struct sched_vcpu *running;  /* NULL: no VCPU is running */
    struct sched_vcpu *resident; /* VCPU whose registers are in the core: the last that ran, or NULL */
    uint64_t slice_ticks;        /* length of a time slice; 0: no time slices */
    uint64_t slice_end_ticks;    /* end of the running VCPU's time slice */
    /* when the running VCPU will have spent its CPU time; BUDGET_NO_DEADLINE: never */
    uint64_t spent_ticks;
    uint64_t turns; /* used by the policy */
};

/* The VCPU to run. */
struct sched_decision {
    struct sched_vcpu *vcpu; /* NULL: the core idles */
    bool switched;           /* the registers in the core belong to another VCPU */
    uint64_t preload[RESERVATION_COUNTERS];
};

/* Initializes a core without VCPUs. `slice_ticks`: time after which an equal VCPU gets its turn; 0: only when
 * the running one stops by itself. */
void sched_init(struct sched_core *core, enum sched_policy policy, uint64_t slice_ticks);

/* Adds a VCPU whose budget has been initialized. Returns false if the core has SCHED_MAX_VCPUS. */
bool sched_add(struct sched_core *core, struct sched_vcpu *vcpu);

/* Reserves CPU time for a VCPU that was added and has not been started: it runs for at most `budget_ticks` in
 * each period of the grid. Without a reservation it runs as long as no other VCPU precedes it. */
void sched_reserve_cpu_time(struct sched_vcpu *vcpu, uint64_t budget_ticks, struct period_grid grid);

/* Called first: the counters were stopped at these readings, and the running VCPU has run for `ran_ticks`. */
void sched_account(struct sched_core *core, const uint64_t readings[RESERVATION_COUNTERS],
                   uint64_t ran_ticks);

/* RESET to READY: its periods begin. Returns false in any other state. */
bool sched_start(struct sched_core *core, struct sched_vcpu *vcpu, uint64_t now_ticks);

/* Any state to RESET: its periods end. */
void sched_stop(struct sched_core *core, struct sched_vcpu *vcpu, uint64_t now_ticks);

/* The running VCPU waits for an interrupt (WFI): to PAUSED, or to RECHARGE if its budget is spent. */
void sched_block(struct sched_core *core, uint64_t now_ticks);

/* An interrupt for the VCPU is pending: PAUSED to READY. Does nothing in any other state. */
void sched_wake(struct sched_core *core, struct sched_vcpu *vcpu);

/* Called at the core's timer: refills all VCPUs whose periods have ended; RECHARGE to READY. */
void sched_timer(struct sched_core *core, uint64_t now_ticks);

/* Called last: decides whether the running VCPU continues or another one is entered. */
struct sched_decision sched_dispatch(struct sched_core *core, uint64_t now_ticks);

/* The time at which sched_timer() and sched_dispatch() must be called next; BUDGET_NO_DEADLINE if never. */
uint64_t sched_deadline(const struct sched_core *core);

#ifdef __cplusplus
}
#endif

#endif
