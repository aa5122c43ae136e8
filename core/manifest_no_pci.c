/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * The check of PCI and of the ITS in programs that drive an SMMU but neither of these: the manifest must have
 * none of them. Part of manifest_check().
 */
#include "core/manifest_internal.h"

bool manifest_check_pci(struct manifest_check *check)
{
    const struct manifest_header *manifest = check->manifest;

    return ((manifest->pci.config_pa | manifest->its.pa) == 0 &&
            (manifest->functions.count | manifest->bridges.count) == 0) ||
           manifest_refuse(check, BH_MANIFEST_ERROR_NOT_IN_IMAGE, &manifest->pci);
}
