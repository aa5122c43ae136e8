/* SPDX-License-Identifier: Apache-2.0
 *
 * Hypercalls with which managers read and change how much of the memory system a domain may use (B8).
 * hypercall.c has checked that the caller is a manager; call numbers and answers are in schema/manifest.yaml.
 */
#ifndef BULKHEAD_HYPERCALL_BANDWIDTH_H
#define BULKHEAD_HYPERCALL_BANDWIDTH_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct domain;

/* Use x[0] to x[3]. hypercall_budget_change() changes the budget only if it is admitted (admission.h). */
void hypercall_budget_read(struct domain *domain, uint64_t x[31]);
void hypercall_budget_change(struct domain *domain, uint64_t x[31]);
void hypercall_samples_store(uint64_t x[31]);

/* Uses x[0] to x[10]. */
void hypercall_sample_read(uint64_t x[31]);

/* Use x[0] to x[17]. hypercall_regulation_change() changes the parameters only if they are admitted. */
void hypercall_regulation_read(uint64_t x[31]);
void hypercall_regulation_change(uint64_t x[31]);

#ifdef __cplusplus
}
#endif

#endif
