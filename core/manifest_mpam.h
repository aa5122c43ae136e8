/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Reads the MPAM tables of a manifest into the structures of core/mpam_*.h: the features that the platform
 * file states for an instance, and the settings of each PARTID. The manifest must be accepted and have
 * components; indexes must be in range.
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

/* Index into mpam_instances of the component's first instance. */
uint32_t manifest_mpam_first_instance(const struct manifest_header *manifest, uint32_t component);

/* The features that the platform file states for instance `instance` of a component, counted from 0 in the
 * component; partid_max and pmg_max are those of the cores. */
void manifest_mpam_features(const struct manifest_header *manifest, uint32_t component, uint32_t instance,
                            struct mpam_features *to);

/* The number of the domain's PARTIDs, the first of which is domain->mpam_partid. */
uint32_t manifest_mpam_count(const struct manifest_domain *domain);

/* Whether `partid` has an owner. *owner is a domain's index, or BH_ALL_DOMAINS for the hypervisor. */
bool manifest_mpam_owner(const struct manifest_header *manifest, uint32_t partid, uint32_t *owner);

/* The settings of `partid` for an instance: what its owner asks for, or the hypervisor's settings if it has
 * no owner. */
void manifest_mpam_settings_of(const struct manifest_header *manifest, uint32_t component, uint32_t instance,
                               uint32_t partid, struct mpam_settings *to);

#ifdef __cplusplus
}
#endif

#endif
