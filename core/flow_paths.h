/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * How the files of the exchange look at its paths.
 */
#ifndef BULKHEAD_CORE_FLOW_PATHS_H
#define BULKHEAD_CORE_FLOW_PATHS_H

#include "core/atomic.h"
#include "core/flow_exchange.h"

/* FLOW_END_…, or 0 if the device is no end of the flow. */
static inline uint32_t flow_path_end(const struct flow_path *path, uint32_t device)
{
    return path->source == device ? FLOW_END_SOURCE : path->destination == device ? FLOW_END_DESTINATION : 0;
}

static inline uint32_t flow_path_count(const struct flow_exchange *exchange)
{
    return (uint32_t)atomic_word_load_acquire(&exchange->path_count);
}

#endif
