/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls of managers that read and change how much of the memory system a domain may use (B8). hypercall.c
 * has found out that the caller is a manager; numbers and answers are in schema/manifest.yaml.
 */
#ifndef BULKHEAD_HYPERCALL_BANDWIDTH_H
#define BULKHEAD_HYPERCALL_BANDWIDTH_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct domain;

/* Work on x[0] to x[3]. The second changes only what is admitted (admission.h). */
void hypercall_budget_read(struct domain *domain, uint64_t x[31]);
void hypercall_budget_change(struct domain *domain, uint64_t x[31]);
void hypercall_samples_store(uint64_t x[31]);

/* Works on x[0] to x[10]. */
void hypercall_sample_read(uint64_t x[31]);

/* Work on x[0] to x[17]. The second changes only what is admitted, as above. */
void hypercall_regulation_read(uint64_t x[31]);
void hypercall_regulation_change(uint64_t x[31]);

#ifdef __cplusplus
}
#endif

#endif
