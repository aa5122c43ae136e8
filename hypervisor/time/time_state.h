/* SPDX-License-Identifier: Apache-2.0
 *
 * What budgets, samples and performance monitors keep of a core, a VCPU and a domain: state only. The other
 * headers of time/ have what works on it.
 */
#ifndef BULKHEAD_TIME_STATE_H
#define BULKHEAD_TIME_STATE_H

#include "core/budget_update.h"
#include "core/regulated_core.h"
#include "core/sample_ring.h"
#include "core/spinlock.h"
#include <bulkhead_layout.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* EL2's counters of a core (pmu.h). */
#define PMU_COUNTERS 2u

struct pmu {
    uint32_t counter;       /* EL2's first */
    uint32_t count;         /* of them, of an event each */
    uint32_t backup_events; /* with one: the one after it overflows so many events later; 0: there is none */
};

/* The budget of a domain, as it is and as a manager wants it (bandwidth_update.h). */
struct bandwidth_update {
    struct spinlock lock;
    struct budget_update budget;
    uint64_t period_ns;        /* of the latest */
    uint64_t held_period_ns;   /* while that waits: of the one that holds */
    _Atomic uint64_t sequence; /* of the latest: a core that has taken it need not look */
};

/* Which setting a VCPU's budget has. */
struct bandwidth_applied {
    uint64_t sequence;
    uint64_t limit_events; /* of a period; in a regulator's set, as that has published it */
};

/* The budget of a VCPU, whoever runs it (vcpu_budget.h). */
struct vcpu_budget {
    struct budget *budget; /* its owner's */
    struct bandwidth_applied applied;
    struct reclaim share; /* of a budget that the domain's VCPUs have together, or of what all give away */
};

/* The budget of the only VCPU of a core (bandwidth.h). */
struct bandwidth {
    bool limited; /* its VCPU has a budget */
    uint32_t irq; /* of counters' overflow, EL2's or a guest's; 0 if neither has any */
    struct pmu pmu;
    struct budget budget;
    struct vcpu_budget of_vcpu;
    bool member; /* of the regulator's set */
    struct regulated_core regulated;
};

/* Of a budget, at its last sample. */
struct statistics_seen {
    uint64_t periods;
    uint64_t events;
    uint64_t throttled_ticks;
};

/* Samples of a core (statistics.h). */
struct statistics {
    struct sample_writer writer; /* no ring: nothing is written */
    struct statistics_seen seen;
    bool waits; /* a sample, for the budget of the next period */
    struct status_sample sample;
};

/* Performance monitors of a guest (guest_pmu.h). */
#define GUEST_PMU_MAX_COUNTERS 31u

/* Of a VCPU: registers that are not the hardware's while it runs. Bit 31 of masks is the cycle counter. */
struct guest_pmu {
    uint32_t control;    /* PMCR_EL0, as far as a guest may write it */
    uint32_t enabled;    /* PMCNTENSET_EL0: counts if PMCR_EL0.E, too */
    uint32_t interrupts; /* PMINTENSET_EL1 */
    uint32_t selected;   /* PMSELR_EL0.SEL */
    bool line;           /* its interrupt, as the virtual interrupt controller knows it */
    /* While another VCPU has the core. */
    uint32_t overflowed;
    uint32_t user;
    uint64_t cycles;
    uint32_t cycle_filter;
    uint32_t types[GUEST_PMU_MAX_COUNTERS];
    uint32_t counts[GUEST_PMU_MAX_COUNTERS];
};

#endif
