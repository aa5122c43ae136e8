/* SPDX-License-Identifier: Apache-2.0
 *
 * Stubs for programs without the PCI driver: core/manifest_no_smmu.c refuses a manifest with PCI functions.
 */
#include "pci/pci.h"

void pci_silence(const struct manifest_header *manifest)
{
    (void)manifest;
}

enum bh_manifest_error pci_init(void)
{
    return BH_MANIFEST_ERROR_NONE;
}

void pci_domain_start(const struct domain *domain)
{
    (void)domain;
}

void pci_domain_stop(const struct domain *domain)
{
    (void)domain;
}

void pci_domain_off(const struct domain *domain)
{
    (void)domain;
}

bool pci_domain_is_reset(const struct domain *domain)
{
    (void)domain;
    return true;
}

/* NOLINTNEXTLINE(readability-non-const-parameter): as its header has it */
bool pci_config_at(const struct domain *domain, uint64_t page, uint64_t *offset)
{
    (void)domain;
    (void)page;
    (void)offset;
    return false;
}

/* NOLINTNEXTLINE(readability-non-const-parameter): as its header has it */
bool pci_config_access(const struct domain *domain, struct mmio_access *access)
{
    (void)domain;
    (void)access;
    __builtin_trap();
}
