// SPDX-License-Identifier: Apache-2.0
//
// The hypervisor's management calls (schema/manifest.yaml, `hypercall_…`), for programs of a domain with the
// flag `manager`. Any VCPU. Nothing is retried or interpreted here.
#ifndef BULKHEAD_GUESTS_MANAGER_H
#define BULKHEAD_GUESTS_MANAGER_H

#include <bulkhead_layout.h>
#include <stdint.h>

struct manager_answer {
    int64_t result; // 0, or a negated bh_hypercall_error
    uint64_t state; // bh_domain_state: now, or before a stop or restart
    uint64_t end;   // bh_domain_end; of manager_state() alone, like the next
    uint64_t restarts;
};

struct manager_answer manager_state(uint64_t domain);
struct manager_answer manager_stop(uint64_t domain);
struct manager_answer manager_restart(uint64_t domain);

// Ends the run of all domains, the own one too; returns for a moment if it may.
int64_t manager_end_machine(void);

// How often the core of this VCPU has left its guest for a bh_exit_reason since the start; 0 if nobody knows.
uint64_t own_exits(uint32_t reason);

#endif
