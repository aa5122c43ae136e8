/* SPDX-License-Identifier: Apache-2.0
 *
 * The physical core: what EL2 keeps per core and how code finds it. There is one `struct cpu` per core of the
 * manifest, reached through TPIDR_EL2; nothing else at EL2 is per core.
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
    CPU_REQUEST_VCPU_POWER = 1u << 0, /* the VCPU's power state or its domain's state changed */
    CPU_REQUEST_VGIC = 1u << 1,       /* virtual interrupts of the VCPU changed */
    CPU_REQUEST_CONSOLE = 1u << 2,    /* output waits for the console core */
    CPU_REQUEST_BUDGETS = 1u << 3,    /* the regulator has published budgets */
    CPU_REQUEST_SGI = 1u << 5,        /* software-generated interrupts of the VCPU are pending, no more */
    CPU_REQUEST_END = 1u << 6,        /* the run has ended: its guest goes no further */
};

/* Why the core's VCPU may not go on although it is on: bits of cpu->hold. */
enum cpu_hold {
    CPU_HOLD_THROTTLED = 1u << 0,  /* its budget is spent, until the period ends */
    CPU_HOLD_RESCHEDULE = 1u << 1, /* on a shared core: who runs must be decided anew */
};

/* A passed-through interrupt that came before the guest's handler was done (vgic/vgic_early.c). */
struct early_interrupt {
    struct domain *domain; /* whose it is; NULL: there is none */
    uint32_t intid;
    uint32_t wait_ns; /* between the last two looks */
    uint32_t passes;  /* it comes at once when it comes next: the guest waits; 0: none */
};

struct cpu {
    /* First: vectors.S reads at_entry. */
    struct branch_predictors predictors;

    uint64_t mpidr;                     /* affinity fields */
    struct vcpu *vcpu;                  /* whose registers are here, or NULL */
    struct vcpu *pinned;                /* the only VCPU of this core, or NULL */
    struct shared_core *shared;         /* of a core with several, or NULL (shared_core.h) */
    struct status_core *status;         /* this core's statistics page */
    uint32_t hold;                      /* cpu_hold bits; 0: the VCPU may go on */
    uint32_t index;                     /* into the manifest's cpus */
    uint64_t alarms[CLOCK_ALARM_COUNT]; /* counter values, 0: off */
    uint64_t rare_alarms[RARE_ALARM_COUNT];
    _Atomic uint32_t requests;  /* cpu_request bits, set by other cores */
    struct bandwidth bandwidth; /* of its VCPU */
    struct statistics statistics;
    struct gic_core gic; /* of the driver of the interrupt controller */
    struct flow_core flow;
    struct early_interrupt early;
};

_Static_assert(offsetof(struct cpu, predictors) == 0 && offsetof(struct branch_predictors, at_entry) == 0,
               "vectors.S");

/* The core that executes this. */
static inline struct cpu *this_cpu(void)
{
    return (struct cpu *)(uintptr_t)sysreg_read(TPIDR_EL2);
}

/* The core with this index. The index must be valid. */
struct cpu *cpu_at(uint32_t index);

/* Prepares the array of cores from the manifest. First core only, before the others start. */
void cpu_init_all(void);

/* Index of the core with these affinity fields, or BH_MAX_CORES. */
uint32_t cpu_find(uint64_t mpidr);

/* Requests that were made before this core could take interrupts are handled soon. On the core itself, when
 * its interrupt controller is ready. */
void cpu_take_early_requests(const struct cpu *self);

/* Sets `request` for another core (or this one) and interrupts it. Callable from any core with no lock held
 * that the target's handler takes. Cheap when the same request is already pending. */
void cpu_send_request(struct cpu *target, uint32_t request);

static inline void cpu_count_exit(struct cpu *cpu, enum bh_exit_reason reason)
{
    cpu->status->exits[reason]++;
}

#ifdef __cplusplus
}
#endif

#endif
