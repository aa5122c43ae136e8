// SPDX-License-Identifier: Apache-2.0
//
// One call for each function.
#include "guests/runtime/manager.h"

#include <arch/sysreg.h>

#define SAMPLE_WORDS (sizeof(struct status_sample) / sizeof(uint64_t))

// Records as they are passed in registers.
union parameter_words {
    struct manifest_regulation parameters;
    uint64_t words[BH_REGULATION_WORDS];
};

union sample_words {
    struct status_sample sample;
    uint64_t words[SAMPLE_WORDS];
};

static struct manager_answer call(uint64_t function, uint64_t domain)
{
    uint64_t x[CALL_REGISTERS] = {function, domain, 0, 0};

    cpu_hypervisor_call_all(x);
    return (struct manager_answer){.result = (int64_t)x[0], .state = x[1], .end = x[2], .restarts = x[3]};
}

struct manager_answer manager_state(uint64_t domain)
{
    return call(BH_HYPERCALL_DOMAIN_STATE, domain);
}

struct manager_answer manager_stop(uint64_t domain)
{
    return call(BH_HYPERCALL_DOMAIN_STOP, domain);
}

struct manager_answer manager_restart(uint64_t domain)
{
    return call(BH_HYPERCALL_DOMAIN_RESTART, domain);
}

struct manager_budget manager_budget(uint64_t domain)
{
    uint64_t x[CALL_REGISTERS] = {BH_HYPERCALL_BUDGET_READ, domain, 0, 0};

    cpu_hypervisor_call_all(x);
    return (struct manager_budget){
        .result = (int64_t)x[0], .events = x[1], .period_ns = x[2], .waits = x[3] != 0};
}

struct manager_budget manager_change_budget(uint64_t domain, uint64_t events, uint64_t period_ns)
{
    uint64_t x[CALL_REGISTERS] = {BH_HYPERCALL_BUDGET_CHANGE, domain, events, period_ns};

    cpu_hypervisor_call_all(x);
    return (struct manager_budget){
        .result = (int64_t)x[0], .events = events, .period_ns = period_ns, .from = x[1], .most = x[1]};
}

struct manager_regulation manager_regulation(void)
{
    uint64_t x[CALL_REGISTERS] = {BH_HYPERCALL_REGULATION_READ};
    union parameter_words answer;

    cpu_hypervisor_call_all(x);
    for (unsigned i = 0; i < BH_REGULATION_WORDS; i++)
        answer.words[i] = x[1 + i];
    return (struct manager_regulation){.result = (int64_t)x[0], .parameters = answer.parameters};
}

struct manager_change manager_change_regulation(const struct manifest_regulation *parameters)
{
    uint64_t x[CALL_REGISTERS] = {BH_HYPERCALL_REGULATION_CHANGE};
    union parameter_words asked = {.parameters = *parameters};

    for (unsigned i = 0; i < BH_REGULATION_WORDS; i++)
        x[1 + i] = asked.words[i];
    cpu_hypervisor_call_all(x);
    return (struct manager_change){.result = (int64_t)x[0], .bad_word = x[1], .most = x[2]};
}

struct manager_sample manager_sample(uint64_t core, uint64_t seen)
{
    uint64_t x[CALL_REGISTERS] = {BH_HYPERCALL_SAMPLE_READ, core, seen};
    union sample_words answer;

    cpu_hypervisor_call_all(x);
    for (unsigned i = 0; i < SAMPLE_WORDS; i++)
        answer.words[i] = x[3 + i];
    return (struct manager_sample){
        .result = (int64_t)x[0], .number = x[1], .dropped = x[2], .sample = answer.sample};
}

int64_t manager_store_samples(bool stored)
{
    struct manager_answer answer = call(BH_HYPERCALL_SAMPLES_STORE, stored);

    return answer.result == 0 ? (int64_t)answer.state : answer.result;
}

struct manager_flow manager_add_flow(const struct manifest_flow *flow)
{
    uint64_t x[CALL_REGISTERS] = {BH_HYPERCALL_FLOW_ADD, flow->source,    flow->destination, flow->port,
                                  flow->packet_bytes,    flow->period_ns, flow->deadline_ns, flow->transfers};

    cpu_hypervisor_call_all(x);
    return (struct manager_flow){.result = (int64_t)x[0], .number = x[1]};
}

struct manager_verdict manager_test_flow(void)
{
    uint64_t x[CALL_REGISTERS] = {BH_HYPERCALL_FLOW_TEST};

    cpu_hypervisor_call_all(x);
    return (struct manager_verdict){
        .result = (int64_t)x[0],
        .verdict = x[1],
        .number = x[2],
        .at = x[3],
        .demand = x[4],
        .longest_away_ns = x[5],
        .culprit = x[1],
    };
}

int64_t manager_remove_flow(uint64_t number)
{
    return call(BH_HYPERCALL_FLOW_REMOVE, number).result;
}

struct manager_path_cost manager_path_cost(uint64_t core, uint64_t part, uint64_t bucket)
{
    uint64_t x[CALL_REGISTERS] = {BH_HYPERCALL_PATH_COST_READ, core, part, bucket};

    cpu_hypervisor_call_all(x);
    return (struct manager_path_cost){
        .result = (int64_t)x[0], .count = x[1], .min = x[2], .max = x[3], .sum = x[4], .in_bucket = x[5]};
}

int64_t manager_end_machine(void)
{
    return call(BH_HYPERCALL_MACHINE_END, 0).result;
}

uint64_t own_exits(uint32_t reason)
{
    struct manager_answer answer = call(BH_HYPERCALL_OWN_EXITS, reason);

    return answer.result == 0 ? answer.state : 0;
}
