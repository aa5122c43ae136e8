/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * VCPUs that share a core, each with a budget of memory events and one of CPU time (B2, T3): their states,
 * and which of them runs. Called on that core, with interrupts masked, in the order account, what happened,
 * dispatch; requests of other cores come as interrupts. It never touches a guest's registers; the caller
 * switches where the answer says so.
 */
#ifndef BULKHEAD_CORE_VCPU_SCHED_H
#define BULKHEAD_CORE_VCPU_SCHED_H

#include "core/budget.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SCHED_MAX_VCPUS 8u

enum sched_state {
    SCHED_RESET,    /* created or stopped: no periods */
    SCHED_READY,    /* could run */
    SCHED_RUNNING,  /* its budget is in the counters */
    SCHED_RECHARGE, /* a budget is spent: waits for the end of its period */
    SCHED_PAUSED,   /* waits for an interrupt; recharged in time nevertheless */
    SCHED_STATE_COUNT,
};

/* Initialized by the caller but for cpu_time, state and turn. */
struct sched_vcpu {
    struct budget budget;
    struct reservation cpu_time; /* its events are ticks on the core; unlimited: no such budget */
    enum sched_state state;
    uint32_t priority; /* 0 is the highest */
    uint64_t turn;     /* the policy's: who came first */
};

enum sched_policy {
    SCHED_FIXED_PRIORITY, /* round robin among equals */
    SCHED_ROUND_ROBIN,    /* priorities are ignored */
};

struct sched_core {
    enum sched_policy policy;
    struct sched_vcpu *vcpus[SCHED_MAX_VCPUS];
    uint32_t count;
    struct sched_vcpu *running;  /* NULL: none */
    struct sched_vcpu *resident; /* whose registers are in the core: the last that ran, or NULL */
    uint64_t slice_ticks;        /* 0: no slices */
    uint64_t slice_end_ticks;    /* of the running one */
    uint64_t spent_ticks;        /* when the running one will have spent its CPU time; BUDGET_NO_DEADLINE */
    uint64_t turns;              /* the policy's */
};

/* Who runs now. */
struct sched_decision {
    struct sched_vcpu *vcpu; /* NULL: the core idles */
    bool switched;           /* another one than the registers in the core belong to */
    uint64_t preload[RESERVATION_COUNTERS];
};

/* A core without VCPUs. `slice_ticks`: after which an equal has its turn; 0: only when one stops by itself.
 */
void sched_init(struct sched_core *core, enum sched_policy policy, uint64_t slice_ticks);

/* Adds a VCPU (create): its budget is initialized. False if the core has SCHED_MAX_VCPUS. */
bool sched_add(struct sched_core *core, struct sched_vcpu *vcpu);

/* Reserves CPU time for a VCPU that was added and has not been started: it runs for `budget_ticks` in each
 * period of the grid, and no longer. Without this it runs as long as nobody goes before it. */
void sched_reserve_cpu_time(struct sched_vcpu *vcpu, uint64_t budget_ticks, struct period_grid grid);

/* First of all: the counters were stopped at these values, and the running one has run for `ran_ticks`. */
void sched_account(struct sched_core *core, const uint64_t readings[RESERVATION_COUNTERS],
                   uint64_t ran_ticks);

/* RESET to READY: its periods begin. False in any other state. */
bool sched_start(struct sched_core *core, struct sched_vcpu *vcpu, uint64_t now_ticks);

/* Any state to RESET: its periods end. */
void sched_stop(struct sched_core *core, struct sched_vcpu *vcpu, uint64_t now_ticks);

/* The running VCPU waits for an interrupt (WFI): to PAUSED, or to RECHARGE if its budget is spent. */
void sched_block(struct sched_core *core, uint64_t now_ticks);

/* There is an interrupt for it: PAUSED to READY. Nothing in any other state. */
void sched_wake(struct sched_core *core, struct sched_vcpu *vcpu);

/* The core's timer: recharges all whose periods have ended; RECHARGE to READY. */
void sched_timer(struct sched_core *core, uint64_t now_ticks);

/* Last of all: whether the running one goes on or another is entered. */
struct sched_decision sched_dispatch(struct sched_core *core, uint64_t now_ticks);

/* When sched_timer() and sched_dispatch() must be called next; BUDGET_NO_DEADLINE if never. */
uint64_t sched_deadline(const struct sched_core *core);

#ifdef __cplusplus
}
#endif

#endif
