/* SPDX-License-Identifier: Apache-2.0
 *
 * EL2's services for brokers: their hypercalls, how each learns of new and closed flows, and what happens
 * when one ends (F8). `domain` is a broker's own domain, unless a comment says otherwise.
 */
#ifndef BULKHEAD_FLOW_BROKER_H
#define BULKHEAD_FLOW_BROKER_H

#include <bulkhead_layout.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct domain;

/* Sets up the copy engines, the flows of the manifest, and the guest memory that is mapped in each broker.
 * Called on the first core, after the socket devices are set up. Returns false if the pool is exhausted. */
bool flow_broker_init(void);

/* The broker's VCPU no longer runs. Called on its core. */
void flow_broker_vcpu_off(const struct domain *domain);

/* A broker's domain, if this is its core and has left it, but an engine of its own may still access memory;
 * NULL otherwise. */
const struct domain *flow_broker_leaving(void);

/* No access of the broker's own engine can reach memory any more. Called on the broker's core, after it has
 * left the broker. */
void flow_broker_left(const struct domain *domain);

/* The broker's domain begins a new life: no core runs it, and nothing of the last life can access memory. */
void flow_broker_reset(const struct domain *domain);

/* The broker will be stopped: called before its domain's state says so. From now on its core, or an engine of
 * its own, may still access memory of others. */
void flow_broker_stops(const struct domain *domain);

/* The broker is to be stopped, after flow_broker_stops(). May be called on any core. The broker's current
 * step and the engine's current transfer are finished first, or the SMMU aborts the broker's own engine;
 * until then, no guest gets back a buffer that may still be accessed. */
void flow_broker_stop(const struct domain *domain);

/* True if memory of `domain`, which has a socket, may still be accessed by its broker's engine, by a broker
 * that has not yet been told to stop, or by the own engine of a broker that ended. */
bool flow_broker_touches(const struct domain *domain);

#ifdef __cplusplus
}
#endif

#endif
