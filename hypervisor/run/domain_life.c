/* SPDX-License-Identifier: Apache-2.0
 *
 * Domains: built once from the manifest, ended and restarted one by one.
 */
#include "run/domain_life.h"
#include "console/vuart.h"
#include "flow/flows.h"
#include "iommu/smmu.h"
#include "pci/pci.h"
#include "run/device_reset.h"
#include "run/flash.h"
#include "run/life_log.h"
#include "run/loader.h"
#include "run/shared_core.h"
#include "time/vcpu_budget.h"
#include "vgic/vgic.h"
#include "vgic/vgic_its.h"
#include "vgic/vgic_model.h"
#include "vm/clock.h"
#include "vm/cpu.h"
#include "vm/system.h"

/* Sets of states. */
#define RUNNING    (1u << BH_DOMAIN_STATE_RUNNING)
#define STOPPED    (1u << BH_DOMAIN_STATE_STOPPED)
#define CRASHED    (1u << BH_DOMAIN_STATE_CRASHED)
#define RESTARTING (1u << BH_DOMAIN_STATE_RESTARTING)

/* Returns false if the pool is exhausted. */
static bool init_vcpus(struct domain *domain)
{
    const struct manifest_vcpu *config = manifest_vcpus(system_manifest()) + domain->config->first_vcpu;

    domain->vcpus = vcpu_at(domain->config->first_vcpu);
    domain->vcpu_count = domain->config->vcpu_count;
    domain->spread = false;
    for (uint32_t i = 0; i < domain->vcpu_count; i++) {
        struct vcpu *vcpu = &domain->vcpus[i];
        struct cpu *cpu = cpu_at(config[i].core);

        vcpu->domain = domain;
        vcpu->index = i;
        vcpu->cpu = cpu;
        domain->spread = domain->spread || config[i].core != config[0].core;
        if (cpu->vcpu != NULL) {
            if (!shared_core_add(cpu, vcpu)) {
                return false;
            }
            continue;
        }
        cpu->vcpu = vcpu;
        cpu->pinned = vcpu;
        cpu->status->domain = domain->index;
        cpu->status->vcpu = i;
    }
    return true;
}

/* Resets the domain's virtual devices and its VCPUs' power states. No VCPU runs. */
static void reset(struct domain *domain)
{
    const struct manifest_irq *irqs = manifest_irqs(system_manifest()) + domain->config->first_irq;

    vgic_domain_init(domain);
    vuart_reset(domain);
    for (uint32_t i = 0; i < domain->config->irq_count; i++) {
        (void)vgic_add_spi_hw(domain, irqs[i].intid, irqs[i].vcpu);
    }
    for (uint32_t i = 1; i < domain->vcpu_count; i++) {
        atomic_store(&domain->vcpus[i].power, VCPU_OFF);
    }
    domain->vcpus[0].entry = ipaddr(domain->config->entry_ipa);
    domain->vcpus[0].boot_argument = domain->config->boot_argument;
    atomic_store(&domain->vcpus[0].power, VCPU_STARTING);
}

static bool init_domain(struct domain *domain, uint32_t index)
{
    const struct manifest_header *manifest = system_manifest();

    domain->config = &manifest_domains(manifest)[index];
    domain->index = index;
    if (!stage2_create(&domain->stage2, manifest, domain->config, index + 1) ||
        !vgic_map_registers(&domain->stage2) || !init_vcpus(domain) || !vgic_its_init(domain)) {
        return false;
    }
    system_status()->domains[index].vttbr = domain->stage2.vttbr;
    system_status()->domains[index].vtcr = domain->stage2.vtcr;
    vuart_init(domain);
    vcpu_budget_share_init(domain);
    flash_init(domain);
    reset(domain);
    return true;
}

bool domain_init_all(void)
{
    for (uint32_t i = 0; i < domain_count(); i++) {
        if (!init_domain(domain_at(i), i)) {
            return false;
        }
    }
    return true;
}

void domain_start_all(void)
{
    for (uint32_t i = 0; i < domain_count(); i++) {
        struct status_domain *status = &system_status()->domains[i];

        pci_domain_start(domain_at(i));
        smmu_domain_start(domain_at(i));
        status->started_at = clock_now();
        status->state = BH_DOMAIN_STATE_RUNNING;
        atomic_store(&domain_at(i)->state, BH_DOMAIN_STATE_RUNNING);
    }
}

static bool any_domain_runs(void)
{
    for (uint32_t i = 0; i < domain_count(); i++) {
        uint32_t state = atomic_load(&domain_at(i)->state);

        /* A broker does not keep the machine running, because it only serves other domains; unless it is a
         * manager, which may restart one of them. */
        if (flows_is_broker(domain_at(i)) && !domain_has_flag(domain_at(i), BH_DOMAIN_FLAG_MANAGER)) {
            continue;
        }
        if (state == BH_DOMAIN_STATE_RUNNING || state == BH_DOMAIN_STATE_RESTARTING) {
            return true;
        }
    }
    return false;
}

static bool any_is_on(const struct domain *domain)
{
    for (uint32_t i = 0; i < domain->vcpu_count; i++) {
        if (atomic_load(&domain->vcpus[i].power) == VCPU_ON) {
            return true;
        }
    }
    return false;
}

static bool all_are_off(const struct domain *domain)
{
    for (uint32_t i = 0; i < domain->vcpu_count; i++) {
        if (atomic_load(&domain->vcpus[i].power) != VCPU_OFF) {
            return false;
        }
    }
    return true;
}

void domain_vcpu_is_off(struct domain *domain)
{
    if (atomic_load(&domain->state) == BH_DOMAIN_STATE_RUNNING) {
        return;
    }
    if (!any_is_on(domain)) {
        pci_domain_off(domain);
    }
    if (all_are_off(domain)) {
        device_reset_domain(domain);
    }
}

void domain_ask_engine(void)
{
    const struct domain *broker = flows_leaving();

    if (broker != NULL && smmu_domain_is_quiet(broker)) {
        flows_left(broker);
    }
}

/* Changes the domain's state to `to`, if it is in one of the states `from` (1 << bh_domain_state). All other
 * effects of the change, such as disabling its interrupts when it stops running, happen under the same lock,
 * so that a later change by another core cannot overtake them. The cores of its VCPUs are notified. Returns
 * the previous state. */
static enum bh_domain_state step(struct domain *domain, uint32_t from, enum bh_domain_state to,
                                 enum bh_domain_end end)
{
    struct status_domain *status = &system_status()->domains[domain->index];
    uint32_t before;
    bool done;

    spin_lock(&domain->life);
    before = atomic_load(&domain->state);
    done = (from & 1u << before) != 0;
    if (done) {
        if (to == BH_DOMAIN_STATE_RESTARTING) {
            /* Without a reason, this is a restart of a domain that has ended; only managers do that. */
            atomic_store(&domain->restart_end,
                         (uint32_t)(end != BH_DOMAIN_END_NONE ? end : BH_DOMAIN_END_MANAGER_REQUEST));
            atomic_fetch_add(&domain->restart_requests, 1);
        }
        if (before == BH_DOMAIN_STATE_RUNNING) {
            /* before another core sees the state and asks whether its devices are quiet */
            pci_domain_stop(domain);
            smmu_domain_stop(domain);
            device_reset_expect(domain);
            flows_domain_stops(domain);
        }
        atomic_store(&domain->state, (uint32_t)to);
        status->state = to;
        if (before == BH_DOMAIN_STATE_RUNNING) {
            status->ended_at = clock_now();
            vgic_domain_stop(domain);
            flows_domain_stopped(domain);
            domain_vcpu_is_off(domain); /* perhaps all its VCPUs are */
        }
        if (end != BH_DOMAIN_END_NONE) {
            status->end = (uint8_t)end;
        }
    }
    spin_unlock(&domain->life);
    if (done) {
        domain_tell_cores(domain);
    }
    return (enum bh_domain_state)before;
}

static bool steps(enum bh_domain_state before, uint32_t from)
{
    return (from & 1u << before) != 0;
}

bool domain_restart(struct domain *domain, enum bh_domain_end end)
{
    return loader_can_reload(domain->config) &&
           steps(step(domain, RUNNING, BH_DOMAIN_STATE_RESTARTING, end), RUNNING);
}

bool domain_restart_from_any(struct domain *domain, enum bh_domain_state *before)
{
    if (!loader_can_reload(domain->config)) {
        return false;
    }
    *before = step(domain, RUNNING, BH_DOMAIN_STATE_RESTARTING, BH_DOMAIN_END_MANAGER_REQUEST);
    if (steps(*before, STOPPED | CRASHED)) {
        /* The reason of its end is kept. Only managers leave these states, so another manager may have been
         * first. */
        *before = step(domain, STOPPED | CRASHED, BH_DOMAIN_STATE_RESTARTING, BH_DOMAIN_END_NONE);
    }
    return true;
}

bool domain_restart_is_due(const struct domain *domain)
{
    /* Only a running VCPU can turn on another one: once none runs, VCPUs that are off stay off. */
    return atomic_load(&domain->state) == BH_DOMAIN_STATE_RESTARTING && !any_is_on(domain) &&
           all_are_off(domain) && device_reset_is_done(domain) && !flows_touch(domain) &&
           smmu_domain_is_quiet(domain) && !system_is_ending() && pci_domain_is_reset(domain);
}

/* Starts the domain after its images were loaded, unless the machine ends. A manager may have stopped the
 * domain since, or even have restarted it again. */
static void finish_restart(struct domain *domain)
{
    struct status_domain *status = &system_status()->domains[domain->index];

    spin_lock(&domain->life);
    if (atomic_load(&domain->state) == BH_DOMAIN_STATE_RESTARTING &&
        atomic_load(&domain->restart_requests) == domain->reload.request && !system_is_ending()) {
        flash_reset(domain);
        reset(domain);
        flows_domain_reset(domain);
        pci_domain_start(domain);
        smmu_domain_start(domain);
        status->restarts++;
        status->state = BH_DOMAIN_STATE_RUNNING;
        atomic_store(&domain->state, BH_DOMAIN_STATE_RUNNING);
    }
    spin_unlock(&domain->life);
}

bool domain_restart_step(struct domain *domain, uint64_t *lines)
{
    uint32_t request = atomic_load(&domain->restart_requests);

    if (domain->reload.request != request) {
        domain->reload = (struct reload){.request = request};
        life_log_add(domain, (enum bh_domain_end)atomic_load(&domain->restart_end), true);
        *lines = 0;
    } else if (loader_step(domain, &domain->reload, lines)) {
        finish_restart(domain);
    }
    return atomic_load(&domain->state) != BH_DOMAIN_STATE_RESTARTING;
}

static void end_machine_with_last_domain(void)
{
    if (!any_domain_runs()) {
        system_end(BH_END_REASON_ALL_DOMAINS_ENDED);
    }
}

bool domain_end(struct domain *domain, enum bh_domain_state state, enum bh_domain_end end)
{
    if (!steps(step(domain, RUNNING, state, end), RUNNING)) {
        return false;
    }
    if (end != BH_DOMAIN_END_SYSTEM_RESET) {
        life_log_add(domain, end, false);
    }
    end_machine_with_last_domain();
    return true;
}

enum bh_domain_state domain_stop(struct domain *domain)
{
    enum bh_domain_state before =
        step(domain, RUNNING | RESTARTING, BH_DOMAIN_STATE_STOPPED, BH_DOMAIN_END_MANAGER_REQUEST);

    if (steps(before, RUNNING | RESTARTING)) {
        life_log_add(domain, BH_DOMAIN_END_MANAGER_REQUEST, false);
        end_machine_with_last_domain();
    }
    return before;
}

struct domain_life domain_life_of(struct domain *domain)
{
    const struct status_domain *status = &system_status()->domains[domain->index];
    struct domain_life life;

    spin_lock(&domain->life);
    life.state = status->state;
    life.end = status->end;
    life.restarts = status->restarts;
    spin_unlock(&domain->life);
    return life;
}
