// SPDX-License-Identifier: Apache-2.0
//
// The hypervisor's management calls (schema/manifest.yaml, `hypercall_…`), for programs of a domain with the
// flag `manager`. Any VCPU. Nothing is retried or interpreted here.
#ifndef BULKHEAD_GUESTS_MANAGER_H
#define BULKHEAD_GUESTS_MANAGER_H

#include <bulkhead_layout.h>
#include <stdbool.h>
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

// Budget of a domain: as it is, or was asked for last; and another one, from the beginning of a period on.
struct manager_budget {
    int64_t result;
    uint64_t events; // of each period
    uint64_t period_ns;
    bool waits;    // for that beginning; of manager_budget() alone
    uint64_t from; // counter value of it; of manager_change_budget() alone, like the next
    uint64_t most; // of -BH_HYPERCALL_ERROR_NOT_ADMITTED: the most events of such a period that would be
};

struct manager_budget manager_budget(uint64_t domain);
struct manager_budget manager_change_budget(uint64_t domain, uint64_t events, uint64_t period_ns);

// Parameters of the regulator of all budgets, as they were asked for last; and others, from the next interval
// on, of which `members` must stay.
struct manager_regulation {
    int64_t result;
    struct manifest_regulation parameters;
};

struct manager_regulation manager_regulation(void);

// 0, or a negated error, with which nothing changes; of -BH_HYPERCALL_ERROR_INVALID_PARAMETERS `bad_word` is
// the index of the first word of 64 bits that is bad, of -BH_HYPERCALL_ERROR_NOT_ADMITTED of the first with
// which all is too much, and `most` is what that may be beside those before it (of the interval the least).
struct manager_change {
    int64_t result;
    uint64_t bad_word;
    uint64_t most;
};

struct manager_change manager_change_regulation(const struct manifest_regulation *parameters);

// What a core did in one period of its budget: the next of its samples for who has seen `seen` of them.
struct manager_sample {
    int64_t result;   // -BH_HYPERCALL_ERROR_NO_SAMPLE: none that is newer
    uint64_t number;  // of samples, with this one: the next `seen`
    uint64_t dropped; // of these overwritten, since `seen`
    struct status_sample sample;
};

struct manager_sample manager_sample(uint64_t core, uint64_t seen);

// Samples of all cores from now on, or none: 1 or 0 as it was before, or a negated error.
int64_t manager_store_samples(bool stored);

// A flow between two domains with a socket, from now on if manager_test_flow() admits it; its number, or, if
// the fixed parts of the path are too long for one, the number of that one.
struct manager_flow {
    int64_t result;
    uint64_t number;
};

struct manager_flow manager_add_flow(const struct manifest_flow *flow);

// A step of the test of the flow that was added: to be asked again while the verdict is
// BH_FLOW_VERDICT_GOES_ON. Where it is BH_FLOW_VERDICT_LATE, more is asked for until `at` than there is time
// (half ns).
struct manager_verdict {
    int64_t result;
    uint64_t verdict; // bh_flow_verdict
    uint64_t number;
    uint64_t at, demand;
};

struct manager_verdict manager_test_flow(void);

// Ends a flow; its connections are reset.
int64_t manager_remove_flow(uint64_t number);

// Ends the run of all domains, the own one too; returns for a moment if it may.
int64_t manager_end_machine(void);

// How often the core of this VCPU has left its guest for a bh_exit_reason since the start; 0 if nobody knows.
uint64_t own_exits(uint32_t reason);

#endif
