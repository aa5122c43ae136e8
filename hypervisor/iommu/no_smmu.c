/* SPDX-License-Identifier: Apache-2.0
 *
 * Stubs for programs without the SMMU driver: core/manifest_no_smmu.c refuses a manifest with an SMMU.
 */
#include "iommu/smmu.h"

bool smmu_silence(const struct manifest_header *manifest)
{
    (void)manifest;
    return true;
}

enum bh_manifest_error smmu_init(void)
{
    return BH_MANIFEST_ERROR_NONE;
}

void smmu_start(const struct cpu *cpu)
{
    (void)cpu;
}

void smmu_domain_start(const struct domain *domain)
{
    (void)domain;
}

void smmu_domain_stop(const struct domain *domain)
{
    (void)domain;
}

bool smmu_domain_is_quiet(const struct domain *domain)
{
    (void)domain;
    return true;
}

void smmu_domain_unmapped(const struct domain *domain)
{
    (void)domain;
}

bool smmu_domain_is_unmapped(const struct domain *domain)
{
    (void)domain;
    return true;
}

bool smmu_interrupt(uint32_t intid)
{
    (void)intid;
    return false;
}

void smmu_alarm(void)
{
    __builtin_trap();
}

void smmu_end(void) {}
