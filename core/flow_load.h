/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * U'(b) against 1, exactly, and how long the demand of a set has to be looked at (F4).
 */
#ifndef BULKHEAD_CORE_FLOW_LOAD_H
#define BULKHEAD_CORE_FLOW_LOAD_H

#include "core/flow.h"

#ifdef __cplusplus
extern "C" {
#endif

enum flow_load_verdict {
    FLOW_LOAD_BELOW, /* U' < 1 */
    FLOW_LOAD_FULL,  /* U' = 1 */
    FLOW_LOAD_OVER,  /* U' > 1 */
};

#define FLOW_MAX_HORIZON (1ull << 61) /* half ns: 36 years */

/* How far demand is looked at, in times of the longest P' or D' - J' of a set. T* grows without bound where
 * U' comes near to 1; a set that needs more than this is refused, which costs a user no more than 1/65536 of
 * the broker's time. */
#define FLOW_MAX_LONGEST (1ull << 16)

/* U'(b) for 1 <= b <= FLOW_MAX_BYTES_PER_S; its cost is that of a few divisions for each flow. If it is not
 * above 1, `*horizon` is T*(b), or a little more: demand needs to be looked at only before. FLOW_MAX_HORIZON:
 * none that is short enough is known. */
enum flow_load_verdict flow_load(const struct flow_set *set, uint64_t bytes_per_s, uint64_t *horizon);

/* U'_i(b) b of every task, in bytes/s, rounded up; where U' <= 1. */
void flow_load_rates(const struct flow_set *set, uint64_t bytes_per_s, uint64_t rates[FLOW_MAX]);

/* The smallest b with U'(b) <= 1. 0: there is none up to FLOW_MAX_BYTES_PER_S. */
uint64_t flow_load_bandwidth(const struct flow_set *set);

/* The smallest b of at least `from`, where U' <= 1, whose horizon is short enough. 0: there is none. */
uint64_t flow_load_decided_bandwidth(const struct flow_set *set, uint64_t from);

#ifdef __cplusplus
}
#endif

#endif
