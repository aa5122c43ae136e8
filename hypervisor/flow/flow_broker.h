/* SPDX-License-Identifier: Apache-2.0
 *
 * The broker's calls, what it is told of flows, and its end (F8).
 */
#ifndef BULKHEAD_FLOW_BROKER_H
#define BULKHEAD_FLOW_BROKER_H

#include <bulkhead_layout.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct vcpu;

/* The engine, the flows of the manifest, and the memory that the broker is shown. First core, when the
 * devices are there. False: the pool is exhausted. */
bool flow_broker_init(void);

/* Its VCPU does not run any more. On its core. */
void flow_broker_vcpu_off(void);

/* It is not to run any more. Any core. What it or its engine is at is finished first: until then nobody gets
 * a buffer back that may be touched. */
void flow_broker_stop(void);

/* Whether its engine, or a broker that has not yet heard of its end, may touch the domain's memory. */
bool flow_broker_touches(uint32_t domain);

#ifdef __cplusplus
}
#endif

#endif
