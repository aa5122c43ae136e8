// SPDX-License-Identifier: Apache-2.0
//
// One call each.
#include "guests/runtime/manager.h"

#include <arch/sysreg.h>

static struct manager_answer call(uint64_t function, uint64_t domain)
{
    uint64_t x[4] = {function, domain, 0, 0};

    cpu_hypervisor_call_4(x);
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
    uint64_t x[4] = {BH_HYPERCALL_BUDGET_READ, domain, 0, 0};

    cpu_hypervisor_call_4(x);
    return (struct manager_budget){
        .result = (int64_t)x[0], .events = x[1], .period_ns = x[2], .waits = x[3] != 0};
}

struct manager_budget manager_change_budget(uint64_t domain, uint64_t events, uint64_t period_ns)
{
    uint64_t x[4] = {BH_HYPERCALL_BUDGET_CHANGE, domain, events, period_ns};

    cpu_hypervisor_call_4(x);
    return (struct manager_budget){
        .result = (int64_t)x[0], .events = events, .period_ns = period_ns, .from = x[1]};
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
