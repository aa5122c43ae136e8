/* SPDX-License-Identifier: Apache-2.0
 *
 * Hypercalls with which managers add flows between domains to a running system, close some of them (F6), and
 * read what the path of packets takes.
 * hypercall.c has checked that the caller is a manager; call numbers and answers are in schema/manifest.yaml.
 */
#ifndef BULKHEAD_HYPERCALL_FLOWS_H
#define BULKHEAD_HYPERCALL_FLOWS_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct domain;

/* Counts the manifest's flows as admitted and allocates memory for further ones. Called on the first core,
 * before the pool is sealed. Returns false if the pool is exhausted. */
bool hypercall_flows_init(void);

/* Handles the call in x[0]. Returns false if it is not one of these calls. Reads and writes x[0] to x[7]. */
bool hypercall_flows(const struct domain *caller, uint64_t x[31]);

/* The domain has stopped: cancels the admission test that it had requested. */
void hypercall_flows_domain_stopped(const struct domain *domain);

#ifdef __cplusplus
}
#endif

#endif
