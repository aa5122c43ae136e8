/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Divides a budget among several cores according to their use (B5). Called by the regulator.
 */
#ifndef BULKHEAD_CORE_REGULATOR_SHARE_H
#define BULKHEAD_CORE_REGULATOR_SHARE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define REGULATOR_MAX_CORES  8u
#define REGULATOR_MAX_EVENTS ((1ull << 30) - 1)

/* Divides `total_events` <= REGULATOR_MAX_EVENTS among the cores of the mask `cores`, in proportion to their
 * accesses, or equally if there were none. If the total is large enough, no core gets less than
 * `floor_events`, and the others share the rest. Shares are rounded down, so their sum is at most the total,
 * and less by at most one event for each core. Budgets of other cores do not change. */
void regulator_share(uint64_t total_events, uint64_t floor_events, uint32_t cores,
                     const uint32_t accesses[REGULATOR_MAX_CORES], uint64_t budgets[REGULATOR_MAX_CORES]);

/* Number of cores in a mask. */
uint32_t regulator_count(uint32_t cores);

#ifdef __cplusplus
}
#endif

#endif
