/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * What has been counted of a system's budgets, and the room that it leaves for who comes next. Shared by the
 * parts of budget_admission.h only.
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
    struct memory_capacity capacity; /* without points nothing but the limit is tested */
    uint64_t rate;                   /* of all that are bounded */
    struct memory_load load;
    bool is_open;             /* a domain is beside them that nothing bounds: no later change can help */
    uint64_t interval_events; /* of an interval, of cores that are not regulated */
};

/* With nothing counted. */
struct tally tally_begin(const struct manifest_header *manifest, const struct admission_state *state);

/* Counts a domain that is no member of the regulator's set. */
void tally_add_domain(struct tally *tally, uint32_t number);

/* Whether what was counted is admitted by itself. */
bool tally_fits(const struct tally *tally);

/* The largest rates that are left: below the limit, and, for an owner with so many cores, by the curve. */
uint64_t tally_room_below_limit(const struct tally *tally);
uint64_t tally_room_by_curve(const struct tally *tally, uint32_t cores);

/* What an event of the domain's is on the memory's side; 0: its events do not bound what it asks for, or
 * nobody says. */
uint64_t tally_event_bytes(const struct manifest_header *manifest, const struct manifest_domain *domain);

/* As what so many events count: a budget too small to be enforced is as good as the smallest that works. */
uint64_t tally_counted(const struct manifest_header *manifest, uint64_t events);

/* `most` of these, or none if that is no budget that works. */
uint64_t tally_workable(const struct manifest_header *manifest, uint64_t most);

/* How many have as much each: its VCPUs, if they do not share one budget. */
uint32_t tally_holders(const struct manifest_domain *domain);

/* The domain's events of an interval, as the regulator takes the limits of others: rounded up for each core.
 * And the most events of which that makes no more than `room`. */
uint64_t tally_interval_events(const struct tally *tally, const struct manifest_domain *domain,
                               const struct budget_parameters *budget);
uint64_t tally_events_within(const struct tally *tally, const struct manifest_domain *domain, uint64_t room,
                             uint64_t period_ns);

static inline bool tally_has_curve(const struct tally *tally)
{
    return tally->capacity.point_count != 0;
}

/* What the broker moves is its rate, which is counted by itself. */
static inline bool tally_is_broker(const struct manifest_header *manifest, uint32_t domain)
{
    return manifest->flows.count != 0 && manifest->broker.domain == domain;
}

/* All cores of a domain are members of the regulator's set, or none. */
static inline bool tally_is_member(const struct manifest_header *manifest, uint32_t domain)
{
    uint32_t first = manifest_domains(manifest)[domain].first_vcpu;

    return (manifest->regulation.members >> manifest_vcpus(manifest)[first].core & 1) != 0;
}

#ifdef __cplusplus
}
#endif

#endif
