/* SPDX-License-Identifier: Apache-2.0
 *
 * Flows between domains at EL2 (F8): registers of socket devices, the broker's calls, and what happens to
 * both when a domain ends. Packets, queues and deadlines are the broker's (core/flow_exchange.h); here are
 * traps, interrupts and the memory behind addresses.
 */
#ifndef BULKHEAD_FLOWS_H
#define BULKHEAD_FLOWS_H

#include "base/mmio_access.h"
#include <bulkhead_layout.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct cpu;
struct domain;
struct vcpu;

/* Makes devices and flows of the manifest, and gives the broker the memory of their ends. First core, when
 * all domains are set up and before the pool is sealed. False: the pool is exhausted. */
bool flows_init_all(void);

/* Whether it is the broker. */
bool flows_is_broker(const struct domain *domain);

/* Whether guest-physical page `page` is the domain's socket device; `*offset`: of it within. */
bool flows_device_at(const struct domain *domain, uint64_t page, uint64_t *offset);

/* An access to it by one of the domain's VCPUs. False: of a size that it does not have. A driver that stops
 * its device while a transfer touches its buffers does that `again`. */
bool flows_device_access(struct vcpu *vcpu, struct mmio_access *access);

/* The end of a flow, and another one in an unused place: `number` is below BH_MAX_FLOWS, the flow sound. */
void flows_close(uint32_t number);
void flows_open(uint32_t number, const struct manifest_flow *flow);
bool flows_is_unused(uint32_t number);

/* A shared interrupt that is EL2's: of the engine that copies for the broker. False: it is another one. */
bool flows_engine_interrupt(uint32_t intid);

/* The broker's call in x[0]. False: it is none of its calls. */
bool flows_broker_call(const struct vcpu *vcpu, uint64_t x[31]);

/* The domain is not to run any more: its connections end. Any core, in the step to that state. */
void flows_domain_stopped(struct domain *domain);

/* A VCPU does not run any more. On its core, before others are told. */
void flows_vcpu_off(const struct vcpu *vcpu);

/* Whether a transfer may still touch the domain's memory. If so its cores get a request later, if it restarts
 * or waits for that. */
bool flows_touch(const struct domain *domain);

/* What the broker and its engine owe when the machine ends, for the statistics page: packets that are late by
 * then, and that nobody has counted. On the core that ends the machine, after system_ended(). */
void flows_ended(void);

/* Its device out of reset, for a domain that starts again. While nothing touches its memory. */
void flows_domain_reset(struct domain *domain);

#ifdef __cplusplus
}
#endif

#endif
