/* SPDX-License-Identifier: Apache-2.0
 *
 * Flows between domains at EL2 (F8): registers of socket devices, brokers' calls, and what happens to
 * both when a domain ends. Brokers handle packets, queues and deadlines (core/flow_exchange.h); EL2
 * handles traps, interrupts and address translation.
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
struct door_answer;
struct vcpu;

/* Sets up the devices and flows of the manifest and maps the memory of domains with a socket in their broker.
 * Called on the first core, after all domains are set up and before the pool is sealed. Returns false if the
 * pool is exhausted. */
bool flows_init_all(void);

/* True if the domain is a broker. */
bool flows_is_broker(const struct domain *domain);

/* True if guest-physical page `page` belongs to the domain's socket device; `*offset` is then the page's
 * offset within the device. */
bool flows_device_at(const struct domain *domain, uint64_t page, uint64_t *offset);

/* Handles an access to the device by one of the domain's VCPUs. Returns false if the device does not support
 * the access size. If a driver resets its device while a transfer still uses its buffers, `again` is set and
 * the guest repeats the access. */
bool flows_device_access(struct vcpu *vcpu, struct mmio_access *access);

/* Close a flow, and open one in an unused slot. `number` is less than BH_MAX_FLOWS; the flow must be
 * valid. */
void flows_close(uint32_t number);
void flows_open(uint32_t number, const struct manifest_flow *flow);
bool flows_is_unused(uint32_t number);

/* Whether the broker of the flow's ends can test flows: it has a rate. The flow must be valid. */
bool flows_can_be_tested(const struct manifest_flow *flow);

/* Ask the broker of the flow's ends to test whether the flow can be admitted in the unused slot `number`, in
 * place of any earlier request; and withdraw the request. */
void flows_request_test(uint32_t number, const struct manifest_flow *flow);
void flows_cancel_test(const struct manifest_flow *flow);

/* Copies the answer of the flow's broker to the latest request. Its fields may have any values. Returns false
 * if there is no answer yet. */
bool flows_test_answer(const struct manifest_flow *flow, struct door_answer *answer);

/* Handles shared interrupt `intid` if it is the interrupt of an engine that copies for a broker. Returns
 * false if it is another interrupt. */
bool flows_engine_interrupt(uint32_t intid);

/* Handles a broker's hypercall in x[0]. Returns false if it is not one of the brokers' calls. */
bool flows_broker_call(const struct vcpu *vcpu, uint64_t x[31]);

/* The domain will be stopped: called before its state says so, as part of the change of the state. If it is
 * a broker, its core and its engine count as not having left yet. */
void flows_domain_stops(const struct domain *domain);

/* The domain is being stopped: closes its connections. May be called on any core, as part of the change of
 * the domain's state. */
void flows_domain_stopped(struct domain *domain);

/* A VCPU no longer runs. Called on its core, before other cores are told. */
void flows_vcpu_off(const struct vcpu *vcpu);

/* A broker's domain, if this is its core and has left it, but an engine of its own may still access memory;
 * NULL otherwise. Memory of other domains is not given on before flows_left(). */
const struct domain *flows_leaving(void);

/* The devices of the domain `broker`, which flows_leaving() has returned, are quiet. */
void flows_left(const struct domain *broker);

/* True if a transfer may still access the domain's memory. In that case, the domain's cores get a request
 * when the transfer ends, if the domain is restarting or waits for this. */
bool flows_touch(const struct domain *domain);

/* Records for the statistics page what is outstanding when the machine ends: for how long each engine's
 * transfer has run, and for how long each device's transmit notification has been waiting. Called on the core
 * that ends the machine, after system_ended(). */
void flows_ended(void);

/* Resets the socket device of a domain that restarts, of which no VCPU runs and no device is active. No
 * transfer accesses the domain's memory. */
void flows_domain_reset(struct domain *domain);

#ifdef __cplusplus
}
#endif

#endif
