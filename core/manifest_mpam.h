/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * MPAM in a manifest, as core/'s other files have it: what an instance offers by the platform file, and what
 * a PARTID is to get of it. For accepted manifests with components; indexes must be in range.
 */
#ifndef BULKHEAD_CORE_MANIFEST_MPAM_H
#define BULKHEAD_CORE_MANIFEST_MPAM_H

#include "core/manifest.h"
#include "core/mpam_features.h"
#include "core/mpam_settings.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The address of a component's registers. */
uint64_t manifest_mpam_page(const struct manifest_header *manifest, uint32_t component);

/* Index into mpam_instances of a component's first one. */
uint32_t manifest_mpam_first_instance(const struct manifest_header *manifest, uint32_t component);

/* What the platform file says of it; partid_max and pmg_max are those of the cores. */
void manifest_mpam_features(const struct manifest_header *manifest, uint32_t component, uint32_t instance,
                            struct mpam_features *to);

/* How many PARTIDs the domain has: they follow mpam_partid. */
uint32_t manifest_mpam_count(const struct manifest_domain *domain);

/* Whether the hypervisor or a domain has it. Who: *owner, a domain's index, or BH_ALL_DOMAINS for the
 * hypervisor. */
bool manifest_mpam_owner(const struct manifest_header *manifest, uint32_t partid, uint32_t *owner);

/* What a PARTID gets of an instance: what its owner asks for; of one that nobody has, what the hypervisor
 * gets. */
void manifest_mpam_settings_of(const struct manifest_header *manifest, uint32_t component, uint32_t instance,
                               uint32_t partid, struct mpam_settings *to);

#ifdef __cplusplus
}
#endif

#endif
