/* SPDX-License-Identifier: Apache-2.0
 *
 * The physical core: EL2's per-core state, and how code finds it. There is one `struct cpu` for each core of
 * the manifest, reached through TPIDR_EL2; EL2 has no other per-core state.
 */
#ifndef BULKHEAD_CPU_H
#define BULKHEAD_CPU_H

#include "flow/flow_state.h"
#include "time/time_state.h"
#include "vm/branch_predictors.h"
#include "vm/clock.h"
#include "vm/rare_alarm.h"
#include <arch/gic_state.h>
#include <arch/sysreg.h>
#include <bulkhead_layout.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct domain;
struct vcpu;
struct shared_core;

/* Reasons to interrupt another core (software-generated interrupt 0, the only one that EL2 uses). */
enum cpu_request {
    CPU_REQUEST_VCPU_POWER = 1u << 0, /* the power state of the VCPU or the state of its domain has changed */
    CPU_REQUEST_VGIC = 1u << 1,       /* virtual interrupts of the VCPU have changed */
    CPU_REQUEST_CONSOLE = 1u << 2,    /* output waits for the console core */
    CPU_REQUEST_BUDGETS = 1u << 3,    /* the regulator has published budgets */
    CPU_REQUEST_SGI = 1u << 5,        /* only software-generated interrupts of the VCPU have become pending */
    CPU_REQUEST_END = 1u << 6,        /* the run has ended: stop the guest */
};

/* Reasons why the core's VCPU may not run although it is on: bits of cpu->hold. */
enum cpu_hold {
    CPU_HOLD_THROTTLED = 1u << 0,  /* throttled: its budget is spent until the period ends */
    CPU_HOLD_RESCHEDULE = 1u << 1, /* shared core: the scheduler must choose again which VCPU runs */
};

/* A passed-through interrupt that arrived before the guest's handler of its previous one had finished
 * (vgic/vgic_early.c). */
struct early_interrupt {
    struct domain *domain; /* the domain that owns it; NULL: there is none */
    uint32_t intid;
    uint32_t wait_ns; /* time between the last two checks */
    /* INTID to deliver at once when it arrives next, because the guest waits or the checks have ended; 0:
     * none */
    uint32_t passes;
};

struct cpu {
    /* First member, because vectors.S reads at_entry. */
    struct branch_predictors predictors;

    uint64_t mpidr;      /* affinity fields of MPIDR_EL1 */
    struct vcpu *vcpu;   /* the VCPU whose registers are loaded on this core, or NULL */
    struct vcpu *pinned; /* the only VCPU of this core, or NULL */
    /* state of a core that several VCPUs share, or NULL (shared_core.h) */
    struct shared_core *shared;
    struct status_core *status;         /* this core's statistics page */
    uint32_t hold;                      /* cpu_hold bits; 0: the VCPU may go on */
    uint32_t index;                     /* index into the manifest's cpus */
    uint64_t alarms[CLOCK_ALARM_COUNT]; /* deadlines as counter values; 0: off */
    uint64_t rare_alarms[RARE_ALARM_COUNT];
    _Atomic uint32_t requests;  /* cpu_request bits, set by other cores */
    struct bandwidth bandwidth; /* budget of the core's only VCPU */
    struct statistics statistics;
    struct gic_core gic; /* state of the interrupt controller's driver */
    struct flow_core flow;
    struct early_interrupt early;
};

_Static_assert(offsetof(struct cpu, predictors) == 0 && offsetof(struct branch_predictors, at_entry) == 0,
               "vectors.S");

/* The core that executes the call. */
static inline struct cpu *this_cpu(void)
{
    return (struct cpu *)(uintptr_t)sysreg_read(TPIDR_EL2);
}

/* The core with this index, which must be valid. */
struct cpu *cpu_at(uint32_t index);

/* Sets up the array of cores from the manifest. Called on the first core only, before the others start. */
void cpu_init_all(void);

/* The index of the core with these affinity fields, or BH_MAX_CORES if there is none. */
uint32_t cpu_find(uint64_t mpidr);

/* Makes the core handle requests that were sent before it could take interrupts. Called on the core itself,
 * when its interrupt controller is ready. */
void cpu_take_early_requests(const struct cpu *self);

/* Sets `request` for another core (or this one) and interrupts it. May be called on any core; the caller must
 * not hold a lock that the target's handler takes. Cheap if the same request is already pending. */
void cpu_send_request(struct cpu *target, uint32_t request);

static inline void cpu_count_exit(struct cpu *cpu, enum bh_exit_reason reason)
{
    cpu->status->exits[reason]++;
}

#ifdef __cplusplus
}
#endif

#endif
