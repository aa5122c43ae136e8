/* SPDX-License-Identifier: Apache-2.0
 *
 * Replaces the sources of flows in programs without them. core/manifest_space_only.c refuses a manifest that
 * has flows. Functions that only such a manifest could reach trap, which ends EL2 with a panic.
 */
#include "core/path_costs.h"
#include "flow/flows.h"
#include "flow/hypercall_flows.h"

static void not_supported(uint64_t x[31])
{
    x[0] = (uint64_t) - (int64_t)BH_HYPERCALL_ERROR_NOT_SUPPORTED;
}

/* hypercall_flows.h: the calls return 'not supported'. */
/* NOLINTNEXTLINE(readability-non-const-parameter): as its header has it */
bool hypercall_flows(const struct domain *caller, uint64_t x[31])
{
    (void)caller;
    if ((uint32_t)x[0] < BH_HYPERCALL_FLOW_ADD || (uint32_t)x[0] > BH_HYPERCALL_PATH_COST_READ) {
        return false;
    }
    not_supported(x);
    return true;
}

/* flows.h: there are no flows. */
bool flows_init_all(void)
{
    return true;
}

bool flows_is_broker(const struct domain *domain)
{
    (void)domain;
    return false;
}

/* NOLINTNEXTLINE(readability-non-const-parameter): as its header has it */
bool flows_device_at(const struct domain *domain, uint64_t page, uint64_t *offset)
{
    (void)domain;
    (void)page;
    (void)offset;
    return false;
}

bool flows_device_access(struct vcpu *vcpu, struct mmio_access *access)
{
    (void)vcpu;
    (void)access;
    __builtin_trap();
}

bool flows_engine_interrupt(uint32_t intid)
{
    (void)intid;
    return false;
}

/* NOLINTNEXTLINE(readability-non-const-parameter): as its header has it */
bool flows_broker_call(const struct vcpu *vcpu, uint64_t x[31])
{
    (void)vcpu;
    (void)x;
    return false;
}

void flows_ended(void) {}

void flows_domain_stops(const struct domain *domain)
{
    (void)domain;
}

void flows_domain_stopped(struct domain *domain)
{
    (void)domain;
}

void flows_vcpu_off(const struct vcpu *vcpu)
{
    (void)vcpu;
}

const struct domain *flows_leaving(void)
{
    return NULL;
}

void flows_left(const struct domain *broker)
{
    (void)broker;
}

bool flows_touch(const struct domain *domain)
{
    (void)domain;
    return false;
}

void flows_domain_reset(struct domain *domain)
{
    (void)domain;
}

/* core/path_costs.h: nothing is measured. */
struct path_recorder *path_recorder_here(void)
{
    return NULL;
}

uint64_t path_clock(void)
{
    __builtin_trap();
}

/* NOLINTNEXTLINE(readability-non-const-parameter): as its header has it */
void path_record(struct path_recorder *recorder, const struct path_mark *mark, enum bh_path_part part,
                 uint64_t allowance, uint32_t steps)
{
    (void)recorder;
    (void)mark;
    (void)part;
    (void)allowance;
    (void)steps;
    __builtin_trap();
}
