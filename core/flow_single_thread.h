/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Transforms a set of tasks for the single-threaded broker. Part of flow_transform(), the only caller.
 */
#ifndef BULKHEAD_CORE_FLOW_SINGLE_THREAD_H
#define BULKHEAD_CORE_FLOW_SINGLE_THREAD_H

#include "core/flow.h"

/* On entry, `set` holds the tasks of `flows` with their plain costs. On return, the costs are in the share of
 * time that parsing and EL2's interrupts leave, and the lead is set. */
enum flow_problem flow_single_thread(const struct flow flows[], uint32_t count,
                                     const struct flow_costs *costs, uint32_t senders, struct flow_set *set,
                                     uint32_t *culprit);

#endif
