/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Checks the memory bandwidth that a manifest states, and whether its own budgets are admitted. Last part of
 * manifest_check(); manifest_space_only.c replaces it in programs without budgets.
 */
#include "core/budget_admission.h"
#include "core/manifest_internal.h"

#define MOST_PERIOD_NS 3600000000000u
#define MOST_EVENTS    (1u << 31)
#define MOST_ROW_CORES (1u << 10)

static bool is_rate(uint64_t bytes_per_s)
{
    return bytes_per_s != 0 && bytes_per_s <= MEMORY_MAX_BYTES_PER_S;
}

/* Rates increase strictly, and utilizations never decrease. */
static bool check_curve(struct manifest_check *check)
{
    const struct manifest_header *manifest = check->manifest;
    struct manifest_bandwidth_point before = {.utilization = 1};

    for (uint32_t i = 0; i < manifest->bandwidth_curve.count; i++) {
        const struct manifest_bandwidth_point *point = &manifest_bandwidth_curve(manifest)[i];

        if (!is_rate(point->bytes_per_s) || point->bytes_per_s <= before.bytes_per_s ||
            point->utilization < before.utilization || point->utilization > MEMORY_UTILIZATION_ONE) {
            return manifest_refuse(check, BH_MANIFEST_ERROR_BANDWIDTH, point);
        }
        before = *point;
    }
    return true;
}

static bool check_table(struct manifest_check *check)
{
    const struct manifest_header *manifest = check->manifest;

    for (uint32_t i = 0; i < manifest->bandwidth_table.count; i++) {
        const struct manifest_bandwidth_row *row = &manifest_bandwidth_table(manifest)[i];

        if (row->cores > MOST_ROW_CORES || row->refills == 0 || row->refills > MOST_EVENTS ||
            !is_rate(row->bytes_per_s)) {
            return manifest_refuse(check, BH_MANIFEST_ERROR_BANDWIDTH, row);
        }
    }
    return true;
}

/* Smallest budget, shortest period, broker rates and table are stated only together with a curve, and a curve
 * only in a system with flows. */
static bool curve_fits(const struct manifest_header *manifest)
{
    const struct manifest_bandwidth *stated = &manifest->bandwidth;

    if (manifest->bandwidth_curve.count == 0) {
        return (stated->smallest_events | stated->shortest_period_ns | stated->broker_bytes_per_s |
                stated->broker_full_bytes_per_s | manifest->bandwidth_table.count) == 0;
    }
    return manifest->flows.count != 0 && stated->smallest_events <= MOST_EVENTS &&
           stated->shortest_period_ns != 0 && stated->shortest_period_ns <= MOST_PERIOD_NS &&
           is_rate(stated->broker_bytes_per_s) && is_rate(stated->broker_full_bytes_per_s);
}

static bool is_stated_well(const struct manifest_header *manifest)
{
    if (manifest->bandwidth.event_bytes == 0) {
        return manifest_has_no_bandwidth(manifest);
    }
    return manifest->bandwidth.limit_bytes_per_s <= MEMORY_MAX_BYTES_PER_S &&
           manifest->bandwidth.access_bytes <= manifest->bandwidth.event_bytes &&
           manifest->bandwidth.accesses_are_all <= 1 && curve_fits(manifest);
}

bool manifest_check_bandwidth(struct manifest_check *check)
{
    const struct manifest_header *manifest = check->manifest;
    const struct manifest_bandwidth *stated = &manifest->bandwidth;
    struct admission_state state;

    if (!is_stated_well(manifest)) {
        return manifest_refuse(check, BH_MANIFEST_ERROR_BANDWIDTH, stated);
    }
    if (!check_curve(check) || !check_table(check)) {
        return false;
    }
    admission_begin(manifest, &state);
    return admission_holds(manifest, &state) ||
           manifest_refuse(check, BH_MANIFEST_ERROR_BANDWIDTH, &stated->limit_bytes_per_s);
}
