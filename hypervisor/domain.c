/* SPDX-License-Identifier: Apache-2.0
 *
 * Domains: built once from the manifest, ended one by one.
 */
#include "domain.h"
#include "clock.h"
#include "console.h"
#include "cpu.h"
#include "system.h"

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
    domain->vcpus[0].entry = ipaddr(domain->config->entry_ipa);
    domain->vcpus[0].boot_argument = domain->config->boot_argument;
    atomic_store(&domain->vcpus[0].power, VCPU_STARTING);
}

static bool init_domain(struct domain *domain, uint32_t index)
{
    const struct manifest_header *manifest = system_manifest();
    const struct manifest_irq *irqs;

    domain->config = &manifest_domains(manifest)[index];
    domain->index = index;
    if (!stage2_create(&domain->stage2, system_pool(), manifest, domain->config, index + 1)) {
        return false;
    }
    system_status()->domains[index].vttbr = domain->stage2.vttbr;
    init_vcpus(domain);
    vgic_domain_init(domain);
    vuart_init(domain);
    irqs = manifest_irqs(manifest) + domain->config->first_irq;
    for (uint32_t i = 0; i < domain->config->irq_count; i++) {
        (void)vgic_add_spi_hw(domain, irqs[i].intid, irqs[i].vcpu);
    }
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
        if (atomic_load(&domains[i].state) == BH_DOMAIN_STATE_RUNNING) {
            return true;
        }
    }
    return false;
}

bool domain_end(struct domain *domain, enum bh_domain_state state, enum bh_domain_end end)
{
    struct status_domain *status = &system_status()->domains[domain->index];
    uint32_t running = BH_DOMAIN_STATE_RUNNING;

    if (!atomic_compare_exchange_strong(&domain->state, &running, (uint32_t)state)) {
        return false;
    }
    status->end = end;
    status->ended_at = clock_now();
    status->state = state;
    vgic_domain_stop(domain);
    for (uint32_t i = 0; i < domain->vcpu_count; i++) {
        cpu_send_request(domain->vcpus[i].cpu, CPU_REQUEST_VCPU_POWER);
    }
    console_log("%s: %s", domain->config->name,
                end == BH_DOMAIN_END_SYSTEM_OFF     ? "powered off"
                : end == BH_DOMAIN_END_SYSTEM_RESET ? "reset; it stays off"
                                                    : "ended");
    if (!any_domain_runs()) {
        system_end(BH_END_REASON_ALL_DOMAINS_ENDED);
    }
    return true;
}
