/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Checks of manifest_check() for a program that isolates space only: the manifest must not use any feature
 * that concerns time. It replaces manifest_budgets.c in programs in which hypervisor/time/no_time.c replaces
 * the implementation of budgets. Every manifest that it accepts is also accepted by the full check.
 */
#include "core/manifest_internal.h"

#define FLAGS_OF_TIME (BH_DOMAIN_FLAG_BUDGET | BH_DOMAIN_FLAG_RECLAIM | BH_DOMAIN_FLAG_PMU)

bool manifest_check_budget(struct manifest_check *check, const struct manifest_domain *domain)
{
    if ((domain->flags & FLAGS_OF_TIME) != 0) {
        return manifest_refuse(check, BH_MANIFEST_ERROR_NOT_IN_IMAGE, &domain->flags);
    }
    if ((domain->cpu_budget_ns | domain->cpu_period_ns) != 0) {
        return manifest_refuse(check, BH_MANIFEST_ERROR_BUDGET, &domain->cpu_budget_ns);
    }
    return manifest_has_no_budget(domain) ||
           manifest_refuse(check, BH_MANIFEST_ERROR_BUDGET, &domain->budget_events);
}

bool manifest_check_calls(struct manifest_check *check, const struct manifest_domain *domain)
{
    return domain->call_count == 0 ||
           manifest_refuse(check, BH_MANIFEST_ERROR_NOT_IN_IMAGE, &domain->first_call);
}

/* Flash that accepts commands is not supported in this program. */
const uint32_t manifest_segment_flags = BH_SEGMENT_FLAG_TABLES_PLACED | BH_SEGMENT_FLAG_READ_ONLY;

bool manifest_check_flash(struct manifest_check *check, const struct manifest_domain *domain,
                          const struct manifest_segment *flash)
{
    (void)check;
    (void)domain;
    (void)flash;
    return true; /* this program has no such feature */
}

bool manifest_check_flows(struct manifest_check *check)
{
    const struct manifest_header *manifest = check->manifest;

    if (manifest->flows.count != 0) {
        return manifest_refuse(check, BH_MANIFEST_ERROR_NOT_IN_IMAGE, &manifest->flows);
    }
    return manifest_has_no_flows(manifest) ||
           manifest_refuse(check, BH_MANIFEST_ERROR_FLOW, &manifest->broker);
}

/* Each core has one VCPU: this program has no scheduler. */
static bool check_cores(struct manifest_check *check)
{
    const struct manifest_vcpu *vcpus = manifest_vcpus(check->manifest);
    uint32_t taken = 0;

    for (uint32_t i = 0; i < check->manifest->vcpus.count; i++) {
        if ((taken >> vcpus[i].core & 1) != 0) {
            return manifest_refuse(check, BH_MANIFEST_ERROR_NOT_IN_IMAGE, &vcpus[i]);
        }
        taken |= 1u << vcpus[i].core;
    }
    return true;
}

bool manifest_check_regulation(struct manifest_check *check)
{
    const struct manifest_regulation *regulation = &check->manifest->regulation;

    if (regulation->members != 0) {
        return manifest_refuse(check, BH_MANIFEST_ERROR_NOT_IN_IMAGE, regulation);
    }
    if (!manifest_has_no_regulation(check->manifest)) {
        return manifest_refuse(check, BH_MANIFEST_ERROR_REGULATION, regulation);
    }
    return check_cores(check);
}

/* Without budgets there is no bandwidth to admit. */
bool manifest_check_bandwidth(struct manifest_check *check)
{
    return manifest_has_no_bandwidth(check->manifest) ||
           manifest_refuse(check, BH_MANIFEST_ERROR_BANDWIDTH, &check->manifest->bandwidth);
}

/* This program has no driver for them. */
bool manifest_check_device_regulators(struct manifest_check *check)
{
    const struct manifest_device_regulators *all = &check->manifest->device_regulators;
    uint64_t any = all->page_0 | all->page_1 | all->page_2 | all->page_3;

    for (uint32_t i = 0; i < BH_MAX_DEVICE_REGULATORS; i++) {
        any |= all->reads[i] | all->writes[i] | all->unit_events[i] | all->most[i];
    }
    return any == 0 || manifest_refuse(check, BH_MANIFEST_ERROR_NOT_IN_IMAGE, all);
}

/* This program has no driver for MPAM components. */
bool manifest_check_mpam(struct manifest_check *check)
{
    const struct manifest_header *manifest = check->manifest;

    if (manifest->mpam_components.count != 0) {
        return manifest_refuse(check, BH_MANIFEST_ERROR_NOT_IN_IMAGE, &manifest->mpam_components);
    }
    return manifest_has_no_mpam(manifest) || manifest_refuse(check, BH_MANIFEST_ERROR_MPAM, &manifest->mpam);
}

bool manifest_tables_range(const struct manifest_header *manifest, struct color_range *range)
{
    (void)manifest;
    (void)range;
    return false;
}

bool manifest_check_tables(struct manifest_check *check)
{
    const struct manifest_tables *tables = &check->manifest->tables;

    return (tables->on_chip_pa | tables->on_chip_bytes | tables->colored_pa | tables->colored_bytes |
            tables->colored_set | tables->on_chip_cached) == 0 ||
           manifest_refuse(check, BH_MANIFEST_ERROR_NOT_IN_IMAGE, tables);
}

bool manifest_check_table_memory(struct manifest_check *check, const struct manifest_domain *domain)
{
    return domain->table_memory == BH_TABLE_MEMORY_POOL ||
           manifest_refuse(check, BH_MANIFEST_ERROR_NOT_IN_IMAGE, &domain->table_memory);
}
