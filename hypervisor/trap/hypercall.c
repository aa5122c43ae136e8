/* SPDX-License-Identifier: Apache-2.0
 *
 * The hypervisor's own services. Only managers may control other domains; for all other domains, those calls
 * do not exist.
 */
#include "trap/hypercall.h"
#include "flow/flows.h"
#include "flow/hypercall_flows.h"
#include "run/domain_life.h"
#include "time/hypercall_bandwidth.h"
#include "vm/cpu.h"
#include "vm/domain.h"
#include "vm/system.h"
#include <arch/speculation.h>

static uint64_t failure(enum bh_hypercall_error error)
{
    return (uint64_t) - (int64_t)error;
}

static void own_exits(const struct vcpu *vcpu, uint64_t x[31])
{
    if (x[1] >= BH_EXIT_REASON_COUNT) {
        x[0] = failure(BH_HYPERCALL_ERROR_INVALID_PARAMETERS);
        return;
    }
    x[0] = 0;
    x[1] = vcpu->cpu->status->exits[x[1] & arch_index_mask(x[1], BH_EXIT_REASON_COUNT)];
}

/* Services for every domain: those of the calling convention, and the exit counts of the guest's own core. */
static void serve(const struct vcpu *vcpu, uint64_t x[31])
{
    switch ((uint32_t)x[0]) {
    case BH_HYPERCALL_COUNT:
        x[0] = BH_HYPERCALL_OWN_COUNT;
        break;
    case BH_HYPERCALL_UID:
        x[0] = BH_HYPERCALL_UID_0;
        x[1] = BH_HYPERCALL_UID_1;
        x[2] = BH_HYPERCALL_UID_2;
        x[3] = BH_HYPERCALL_UID_3;
        break;
    case BH_HYPERCALL_REVISION:
        x[0] = BH_HYPERCALL_MAJOR;
        x[1] = BH_HYPERCALL_MINOR;
        break;
    case BH_HYPERCALL_OWN_EXITS:
        own_exits(vcpu, x);
        break;
    default:
        x[0] = failure(BH_HYPERCALL_ERROR_NOT_SUPPORTED);
        break;
    }
}

static bool is_of_managers(uint32_t function)
{
    return function >= BH_HYPERCALL_DOMAIN_STATE && function <= BH_HYPERCALL_PATH_COST_READ;
}

static void state(struct domain *domain, uint64_t x[31])
{
    struct domain_life life = domain_life_of(domain);

    x[0] = 0;
    x[1] = life.state;
    x[2] = life.end;
    x[3] = life.restarts;
}

static void restart(struct domain *domain, uint64_t x[31])
{
    enum bh_domain_state before;

    if (!domain_restart_from_any(domain, &before)) {
        x[0] = failure(BH_HYPERCALL_ERROR_NOT_LOADABLE);
        return;
    }
    x[0] = 0;
    x[1] = before;
}

/* Handles calls of managers that name no domain. Returns false if it is another call. */
static bool manage_system(uint64_t x[31])
{
    switch ((uint32_t)x[0]) {
    case BH_HYPERCALL_MACHINE_END:
        system_end(BH_END_REASON_MANAGER_REQUEST);
        x[0] = 0;
        return true;
    case BH_HYPERCALL_SAMPLE_READ:
        hypercall_sample_read(x);
        return true;
    case BH_HYPERCALL_SAMPLES_STORE:
        hypercall_samples_store(x);
        return true;
    case BH_HYPERCALL_REGULATION_READ:
        hypercall_regulation_read(x);
        return true;
    case BH_HYPERCALL_REGULATION_CHANGE:
        hypercall_regulation_change(x);
        return true;
    default:
        return false;
    }
}

static void manage(const struct domain *caller, uint64_t x[31])
{
    uint32_t function = (uint32_t)x[0];
    struct domain *domain;

    if (manage_system(x) || hypercall_flows(caller, x)) {
        return;
    }
    if (x[1] >= domain_count()) {
        x[0] = failure(BH_HYPERCALL_ERROR_INVALID_PARAMETERS);
        return;
    }
    domain = domain_at((uint32_t)(x[1] & arch_index_mask(x[1], domain_count())));
    switch (function) {
    case BH_HYPERCALL_DOMAIN_STATE:
        state(domain, x);
        break;
    case BH_HYPERCALL_DOMAIN_STOP:
        x[0] = 0;
        x[1] = domain_stop(domain);
        break;
    case BH_HYPERCALL_DOMAIN_RESTART:
        restart(domain, x);
        break;
    case BH_HYPERCALL_BUDGET_READ:
        hypercall_budget_read(domain, x);
        break;
    default:
        hypercall_budget_change(domain, x);
        break;
    }
}

void hypercall_service(struct vcpu *vcpu, uint64_t x[31])
{
    if (domain_has_flag(vcpu->domain, BH_DOMAIN_FLAG_MANAGER) && is_of_managers((uint32_t)x[0])) {
        manage(vcpu->domain, x);
    } else if (!flows_is_broker(vcpu->domain) || !flows_broker_call(vcpu, x)) {
        serve(vcpu, x);
    }
}
