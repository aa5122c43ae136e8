/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * A tally of the budgets of a system: which memory load has been counted so far, and how much room it leaves
 * for the next budget. Only the source files behind budget_admission.h include this.
 */
#ifndef BULKHEAD_CORE_ADMISSION_TALLY_H
#define BULKHEAD_CORE_ADMISSION_TALLY_H

#include "core/budget_admission.h"

#ifdef __cplusplus
extern "C" {
#endif

struct tally {
    const struct manifest_header *manifest;
    const struct admission_state *state;
    struct memory_capacity capacity; /* without curve points, only the limit is tested */
    uint64_t rate;                   /* sum over all domains that are bounded */
    struct memory_load load;
    bool is_open;             /* a domain without any bound exists: no later change can make the rest fit */
    uint64_t interval_events; /* events in an interval of cores that are not regulated */
};

/* An empty tally. */
struct tally tally_begin(const struct manifest_header *manifest, const struct admission_state *state);

/* Adds a domain that is not in the regulator's set. */
void tally_add_domain(struct tally *tally, uint32_t number);

/* Whether everything counted so far is admitted. */
bool tally_fits(const struct tally *tally);

/* The largest rate that is still free: below the limit and, for an owner with `cores` cores, by the curve. */
uint64_t tally_room_below_limit(const struct tally *tally);
uint64_t tally_room_by_curve(const struct tally *tally, uint32_t cores);

/* Bytes that one event of the domain moves in memory. 0: its events do not bound its memory traffic, or the
 * manifest does not state the size. */
uint64_t tally_event_bytes(const struct manifest_header *manifest, const struct manifest_domain *domain);

/* The number of events to count for a budget of `events`: a budget too small to be enforced counts as the
 * smallest enforceable one. */
uint64_t tally_counted(const struct manifest_header *manifest, uint64_t events);

/* `most`, or 0 if a budget of `most` events is too small to be enforced. */
uint64_t tally_workable(const struct manifest_header *manifest, uint64_t most);

/* The number of holders that have the budget each: the domain's VCPUs, or 1 if they share one budget. */
uint32_t tally_holders(const struct manifest_domain *domain);

/* The domain's events in a regulator interval, computed as the regulator does for the limits of cores outside
 * its set: rounded up for each core. tally_events_within() is the inverse: the most events whose interval
 * count is at most `room`. */
uint64_t tally_interval_events(const struct tally *tally, const struct manifest_domain *domain,
                               const struct budget_parameters *budget);
uint64_t tally_events_within(const struct tally *tally, const struct manifest_domain *domain, uint64_t room,
                             uint64_t period_ns);

static inline bool tally_has_curve(const struct tally *tally)
{
    return tally->capacity.point_count != 0;
}

/* A broker's traffic is its rate, which is counted separately. */
static inline bool tally_is_broker(const struct manifest_header *manifest, uint32_t domain)
{
    return manifest_is_broker(manifest, domain);
}

/* Whether the domain is in the regulator's set. Either all cores of a domain are members, or none. */
static inline bool tally_is_member(const struct manifest_header *manifest, uint32_t domain)
{
    uint32_t first = manifest_domains(manifest)[domain].first_vcpu;

    return (manifest->regulation.members >> manifest_vcpus(manifest)[first].core & 1) != 0;
}

#ifdef __cplusplus
}
#endif

#endif
