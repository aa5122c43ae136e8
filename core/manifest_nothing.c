/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Checks that unused fields of a manifest are zero: those of budgets, their regulation, flows, the memory
 * bandwidth for them, and MPAM. Part of manifest_check().
 */
#include "core/manifest_internal.h"

bool manifest_has_no_budget(const struct manifest_domain *domain)
{
    return (domain->budget_events | domain->budget_period_ns | domain->budget_chunk_events |
            domain->budget_second_events | domain->budget_slack_events) == 0 &&
           domain->budget_counts == 0 && (domain->flags & BH_DOMAIN_FLAG_RECLAIM) == 0;
}

bool manifest_has_no_regulation(const struct manifest_header *manifest)
{
    const struct manifest_regulation *regulation = &manifest->regulation;
    uint64_t any = regulation->policy | regulation->hold | regulation->threshold | regulation->step |
                   regulation->regulated | regulation->store_samples | regulation->horizon_intervals |
                   regulation->interval_ns | regulation->bandwidth_threshold_events |
                   regulation->floor_events | regulation->ceiling_events | regulation->saturation_events;

    for (uint32_t i = 0; i < BH_MAX_CORES; i++) {
        any |= regulation->budget_events[i];
    }
    return any == 0;
}

bool manifest_has_nothing_of(const struct manifest_broker *broker)
{
    const uint64_t *words = (const uint64_t *)(const void *)broker;
    uint64_t any = 0;

    for (uint32_t i = 0; i < sizeof *broker / sizeof *words; i++) {
        any |= words[i];
    }
    return any == 0;
}

bool manifest_has_no_flows(const struct manifest_header *manifest)
{
    uint64_t any = 0;

    for (uint32_t i = 0; i < manifest->domains.count; i++) {
        const struct manifest_domain *domain = &manifest_domains(manifest)[i];

        any |= domain->socket_ipa | domain->socket_root_ipa | domain->socket_cid | domain->socket_irq |
               domain->socket_broker | domain->interrupted_ns;
    }
    for (uint32_t i = 0; i < manifest->segments.count; i++) {
        any |= manifest_segments(manifest)[i].flags & BH_SEGMENT_FLAG_SOCKET_POOL;
    }
    return any == 0 && manifest->flows.count == 0 && manifest_has_nothing_of(&manifest->broker) &&
           manifest_has_nothing_of(&manifest->second_broker);
}

bool manifest_has_no_bandwidth(const struct manifest_header *manifest)
{
    const struct manifest_bandwidth *stated = &manifest->bandwidth;

    return (stated->event_bytes | stated->smallest_events | stated->access_bytes | stated->accesses_are_all |
            stated->limit_bytes_per_s | stated->shortest_period_ns | stated->broker_bytes_per_s |
            stated->broker_full_bytes_per_s) == 0 &&
           manifest->bandwidth_curve.count == 0 && manifest->bandwidth_table.count == 0;
}

bool manifest_has_no_mpam(const struct manifest_header *manifest)
{
    const uint64_t *words = (const uint64_t *)(const void *)&manifest->mpam;
    uint64_t any = 0;

    for (uint32_t i = 0; i < sizeof manifest->mpam / sizeof *words; i++) {
        any |= words[i];
    }
    for (uint32_t i = 0; i < manifest->domains.count; i++) {
        const struct manifest_domain *domain = &manifest_domains(manifest)[i];

        any |= domain->mpam_partid | domain->mpam_virtual | domain->mpam_pmg;
    }
    return any == 0 && manifest->mpam_components.count == 0 && manifest->mpam_instances.count == 0 &&
           manifest->mpam_settings.count == 0 && manifest->mpam_words.count == 0;
}
