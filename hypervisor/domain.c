/* SPDX-License-Identifier: Apache-2.0
 *
 * Domains: built once from the manifest, ended one by one.
 */
#include "domain.h"
#include "clock.h"
#include "console.h"
#include "cpu.h"
#include "loader.h"
#include "system.h"
#include "vgic_model.h"

static struct domain domains[BH_MAX_DOMAINS];
static struct vcpu vcpus[BH_MAX_VCPUS];

struct domain *domain_at(uint32_t index)
{
    return &domains[index];
}

uint32_t domain_count(void)
{
    return system_manifest()->domains.count;
}

static void init_vcpus(struct domain *domain)
{
    const struct manifest_vcpu *config = manifest_vcpus(system_manifest()) + domain->config->first_vcpu;

    domain->vcpus = &vcpus[domain->config->first_vcpu];
    domain->vcpu_count = domain->config->vcpu_count;
    for (uint32_t i = 0; i < domain->vcpu_count; i++) {
        struct vcpu *vcpu = &domain->vcpus[i];
        struct cpu *cpu = cpu_at(config[i].core);

        vcpu->domain = domain;
        vcpu->index = i;
        vcpu->cpu = cpu;
        cpu->vcpu = vcpu;
        cpu->status->domain = domain->index;
        cpu->status->vcpu = i;
    }
}

/* Virtual devices and the first VCPU as out of reset. No VCPU runs. */
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
    if (!stage2_create(&domain->stage2, system_pool(), manifest, domain->config, index + 1) ||
        !vgic_map_registers(&domain->stage2, system_pool())) {
        return false;
    }
    system_status()->domains[index].vttbr = domain->stage2.vttbr;
    init_vcpus(domain);
    vuart_init(domain);
    reset(domain);
    return true;
}

bool domain_init_all(void)
{
    for (uint32_t i = 0; i < domain_count(); i++) {
        if (!init_domain(&domains[i], i)) {
            return false;
        }
    }
    return true;
}

void domain_start_all(void)
{
    for (uint32_t i = 0; i < domain_count(); i++) {
        struct status_domain *status = &system_status()->domains[i];

        status->started_at = clock_now();
        status->state = BH_DOMAIN_STATE_RUNNING;
        atomic_store(&domains[i].state, BH_DOMAIN_STATE_RUNNING);
    }
}

static bool any_domain_runs(void)
{
    for (uint32_t i = 0; i < domain_count(); i++) {
        uint32_t state = atomic_load(&domains[i].state);

        if (state == BH_DOMAIN_STATE_RUNNING || state == BH_DOMAIN_STATE_RESTARTING) {
            return true;
        }
    }
    return false;
}

/* Leaves the state `running`: its interrupts stop, and the cores of its VCPUs will notice. False if it had
 * left it. */
static bool leave_running(struct domain *domain, enum bh_domain_state state)
{
    uint32_t running = BH_DOMAIN_STATE_RUNNING;

    if (!atomic_compare_exchange_strong(&domain->state, &running, (uint32_t)state)) {
        return false;
    }
    system_status()->domains[domain->index].state = state;
    vgic_domain_stop(domain);
    for (uint32_t i = 0; i < domain->vcpu_count; i++) {
        cpu_send_request(domain->vcpus[i].cpu, CPU_REQUEST_VCPU_POWER);
    }
    return true;
}

bool domain_restart(struct domain *domain)
{
    if (!loader_can_reload(domain->config) || !leave_running(domain, BH_DOMAIN_STATE_RESTARTING)) {
        return false;
    }
    console_log("%s: restarts", domain->config->name);
    return true;
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

bool domain_finish_restart(struct domain *domain)
{
    struct status_domain *status = &system_status()->domains[domain->index];

    if (atomic_load(&domain->state) != BH_DOMAIN_STATE_RESTARTING) {
        return false;
    }
    /* Only a VCPU that runs turns on another: once none does, what is off stays off. */
    if (any_is_on(domain) || !all_are_off(domain)) {
        return false;
    }
    loader_reload(domain->config);
    reset(domain);
    status->restarts++;
    status->state = BH_DOMAIN_STATE_RUNNING;
    atomic_store(&domain->state, BH_DOMAIN_STATE_RUNNING);
    return true;
}

bool domain_end(struct domain *domain, enum bh_domain_state state, enum bh_domain_end end)
{
    struct status_domain *status = &system_status()->domains[domain->index];

    if (!leave_running(domain, state)) {
        return false;
    }
    status->end = end;
    status->ended_at = clock_now();
    if (end == BH_DOMAIN_END_SYSTEM_OFF) {
        console_log("%s: powered off", domain->config->name);
    }
    if (!any_domain_runs()) {
        system_end(BH_END_REASON_ALL_DOMAINS_ENDED);
    }
    return true;
}
