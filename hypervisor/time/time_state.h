/* SPDX-License-Identifier: Apache-2.0
 *
 * State of budgets, samples and performance monitors of a core, a VCPU and a domain, without functions. The
 * functions that use it are in the other headers of time/.
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

/* EL2's event counters on a core (pmu.h). */
#define PMU_COUNTERS 2u

struct pmu {
    uint32_t counter; /* number of EL2's first counter */
    uint32_t count;   /* number of counters, each for one event */
    /* if `count` is 1: a second counter overflows this many events after the first; 0: no second counter */
    uint32_t backup_events;
};

/* The budget of a domain: in force, and as requested by a manager (bandwidth_update.h). */
struct bandwidth_update {
    struct spinlock lock;
    struct budget_update budget;
    uint64_t period_ns;      /* period of the latest setting */
    uint64_t held_period_ns; /* period of the setting in force, while the latest one is staged */
    /* sequence number of the latest setting; a core that has applied it needs no lock */
    _Atomic uint64_t sequence;
};

/* The setting that a VCPU's budget has now. */
struct bandwidth_applied {
    uint64_t sequence;
    /* limit in a period; for members of a regulator's set, the limit that the regulator has published */
    uint64_t limit_events;
};

/* The budget of a VCPU, whether it has a core of its own or shares one (vcpu_budget.h). */
struct vcpu_budget {
    struct budget *budget; /* stored in the core's or the scheduler's structure */
    struct bandwidth_applied applied;
    /* draws from the budget that the domain's VCPUs share, or from the pool of spare events */
    struct reclaim share;
};

/* The budget of the only VCPU of a core (bandwidth.h). */
struct bandwidth {
    bool limited; /* the VCPU has a budget */
    uint32_t irq; /* overflow interrupt of the counters, EL2's or a guest's; 0 if neither has any */
    struct pmu pmu;
    struct budget budget;
    struct vcpu_budget of_vcpu;
    bool member; /* the core is a member of the regulator's set */
    struct regulated_core regulated;
};

/* Counts of a budget at its last sample. */
struct statistics_seen {
    uint64_t periods;
    uint64_t events;
    uint64_t throttled_ticks;
};

/* Samples of a core (statistics.h). */
struct statistics {
    struct sample_writer writer; /* without a ring: no samples are written */
    struct statistics_seen seen;
    bool waits; /* `sample` waits for the budget of the next period */
    struct status_sample sample;
};

/* Performance monitors of a guest (guest_pmu.h). */
#define GUEST_PMU_MAX_COUNTERS 31u

/* State of a VCPU's monitors. While the VCPU runs, these registers exist only here. Bit 31 of masks is the
 * cycle counter. */
struct guest_pmu {
    uint32_t control;    /* PMCR_EL0, the bits that a guest may write */
    uint32_t enabled;    /* PMCNTENSET_EL0; counters count only if PMCR_EL0.E is set as well */
    uint32_t interrupts; /* PMINTENSET_EL1 */
    uint32_t selected;   /* PMSELR_EL0.SEL */
    bool line;           /* its interrupt line, as passed to the virtual interrupt controller */
    /* Saved here while another VCPU has the core; otherwise in the hardware. */
    uint32_t overflowed;
    uint32_t user;
    uint64_t cycles;
    uint32_t cycle_filter;
    uint32_t types[GUEST_PMU_MAX_COUNTERS];
    uint32_t counts[GUEST_PMU_MAX_COUNTERS];
};

#endif
