/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls of managers that add flows between domains to a running system, and end some (F6). hypercall.c has
 * found out that the caller is a manager; numbers and answers are in schema/manifest.yaml.
 */
#ifndef BULKHEAD_HYPERCALL_FLOWS_H
#define BULKHEAD_HYPERCALL_FLOWS_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct domain;

/* Admits the flows of the manifest, and is ready for more. First core, before the pool is sealed. False: the
 * pool is exhausted. */
bool hypercall_flows_init(void);

/* The call in x[0], if it is one of these. Works on x[0] to x[7]. */
bool hypercall_flows(const struct domain *caller, uint64_t x[31]);

/* Nobody asks any more for what it was testing. */
void hypercall_flows_domain_stopped(const struct domain *domain);

#ifdef __cplusplus
}
#endif

#endif
