/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * How a budget for several cores is divided among them (B5): by what they used. Called by the regulator.
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
 * accesses, or equally if there were none. Nobody gets less than `floor_events`, where the total is enough
 * for that: the others share the rest. Rounded down, so the shares never sum up to more than the total, and
 * to at most one event a core less. Other cores' budgets stay as they are. */
void regulator_share(uint64_t total_events, uint64_t floor_events, uint32_t cores,
                     const uint32_t accesses[REGULATOR_MAX_CORES], uint64_t budgets[REGULATOR_MAX_CORES]);

/* Number of cores in a mask. */
uint32_t regulator_count(uint32_t cores);

#ifdef __cplusplus
}
#endif

#endif
