// SPDX-License-Identifier: Apache-2.0
//
// The hypervisor's management calls (schema/manifest.yaml, `hypercall_…`), for programs of a domain with the
// flag `manager`. May be called on any VCPU. Nothing is retried or interpreted here.
#ifndef BULKHEAD_GUESTS_MANAGER_H
#define BULKHEAD_GUESTS_MANAGER_H

#include <bulkhead_layout.h>
#include <stdbool.h>
#include <stdint.h>

struct manager_answer {
    int64_t result; // 0, or a negated bh_hypercall_error
    uint64_t state; // bh_domain_state: at present, or before a stop or restart
    uint64_t end;   // bh_domain_end; only of manager_state(), as is the next field
    uint64_t restarts;
};

struct manager_answer manager_state(uint64_t domain);
struct manager_answer manager_stop(uint64_t domain);
struct manager_answer manager_restart(uint64_t domain);

// Budget of a domain. manager_budget(): the present one, or the one requested last. manager_change_budget():
// requests another one, which applies from the beginning of a period on.
struct manager_budget {
    int64_t result;
    uint64_t events; // in each period
    uint64_t period_ns;
    bool waits;    // the budget is not in force yet; only of manager_budget()
    uint64_t from; // counter value at which it takes effect; only of manager_change_budget(), as is the next
                   // field
    uint64_t most; // for -BH_HYPERCALL_ERROR_NOT_ADMITTED: the most events that would be admitted with this
                   // period
};

struct manager_budget manager_budget(uint64_t domain);
struct manager_budget manager_change_budget(uint64_t domain, uint64_t events, uint64_t period_ns);

// Parameters of the regulator of all budgets, as requested last. Other parameters take effect at the next
// interval; `members` must not be changed.
struct manager_regulation {
    int64_t result;
    struct manifest_regulation parameters;
};

struct manager_regulation manager_regulation(void);

// 0, or a negated error, with nothing changed. For -BH_HYPERCALL_ERROR_INVALID_PARAMETERS, `bad_word` is the
// index of the first invalid 64-bit word. For -BH_HYPERCALL_ERROR_NOT_ADMITTED, it is the index of the first
// word with which the parameters exceed what can be admitted, and `most` is the admissible value of that
// word, given those before it (for the interval, the least one).
struct manager_change {
    int64_t result;
    uint64_t bad_word;
    uint64_t most;
};

struct manager_change manager_change_regulation(const struct manifest_regulation *parameters);

// A core's activity in one period of its budget: the next sample for a reader that has seen `seen` samples.
struct manager_sample {
    int64_t result;   // -BH_HYPERCALL_ERROR_NO_SAMPLE: there is no newer one
    uint64_t number;  // number of samples including this one: the next `seen`
    uint64_t dropped; // samples overwritten since `seen`
    struct status_sample sample;
};

struct manager_sample manager_sample(uint64_t core, uint64_t seen);

// Starts or stops storing samples of all cores. Returns the previous setting, 1 or 0, or a negated error.
int64_t manager_store_samples(bool stored);

// Requests a flow between two domains with a socket, in force once manager_test_flow() admits it. `number` is
// the flow's number.
struct manager_flow {
    int64_t result;
    uint64_t number;
};

struct manager_flow manager_add_flow(const struct manifest_flow *flow);

// Asks for the result of the admission test of the requested flow: must be repeated while the verdict is
// BH_FLOW_VERDICT_GOES_ON. For BH_FLOW_VERDICT_LATE, the demand until `at` exceeds the available time (half
// ns). If `result` is an error because the fixed parts of the path are too long, or the queue of a domain,
// `culprit` is the number of the flow that has the problem.
struct manager_verdict {
    int64_t result;
    uint64_t verdict; // bh_flow_verdict
    uint64_t number;
    uint64_t at, demand;
    uint64_t longest_away_ns; // the longest time for which the test kept the broker from looking for packets
    uint64_t culprit;
};

struct manager_verdict manager_test_flow(void);

// Ends a flow, whose connections are reset, or cancels the test of the caller's flow.
int64_t manager_remove_flow(uint64_t number);

// What a core has measured of a part of the path of packets (bh_path_part), in ticks, and how many of the
// measured times are in a bucket of the histogram.
struct manager_path_cost {
    int64_t result;
    uint64_t count, min, max, sum;
    uint64_t in_bucket;
};

struct manager_path_cost manager_path_cost(uint64_t core, uint64_t part, uint64_t bucket);

// Ends the run of all domains, including the caller's; if allowed, it may return briefly before.
int64_t manager_end_machine(void);

// How often the core of this VCPU has exited from its guest for a bh_exit_reason since the start; 0 if
// unknown.
uint64_t own_exits(uint32_t reason);

#endif
