/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * What the single-threaded broker makes of a set of tasks: part of flow_transform(), its only caller.
 */
#ifndef BULKHEAD_CORE_FLOW_SINGLE_THREAD_H
#define BULKHEAD_CORE_FLOW_SINGLE_THREAD_H

#include "core/flow.h"

/* `set` has the tasks of `flows` with their costs as they are. Then it has these in time that is left beside
 * parsing, and the lead. */
enum flow_problem flow_single_thread(const struct flow flows[], uint32_t count,
                                     const struct flow_costs *costs, uint32_t senders, struct flow_set *set,
                                     uint32_t *culprit);

#endif
