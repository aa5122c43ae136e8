/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Checks the ITS, and the message interrupts of PCI functions. The redistributors' memory is a region, which
 * no domain and no other part of EL2 has. A domain with message interrupts has its cores for itself: while
 * another VCPU has the core, EL2 holds the waiting VCPU's lines back, and cannot do so with messages. Part of
 * manifest_check(); functions have been checked before.
 */
#include "core/manifest_internal.h"

static bool has_no_its(const struct manifest_header *manifest)
{
    const struct manifest_its *its = &manifest->its;

    return (its->pa | its->pending_pa | its->pending_bytes) == 0;
}

static bool is_aligned(uint64_t pa, uint64_t alignment)
{
    return pa != 0 && (pa & (alignment - 1)) == 0;
}

/* A host bridge has an SMMU, and a board with an SMMU has a GICv3. */
static bool its_is_sound(const struct manifest_header *manifest)
{
    const struct manifest_its *its = &manifest->its;

    return is_aligned(its->pa, BH_ITS_FRAME_BYTES) && manifest->pci.config_pa != 0 &&
           is_aligned(its->pending_pa, BH_LPI_PENDING_BYTES) &&
           its->pending_bytes == (uint64_t)manifest->cpus.count * BH_LPI_PENDING_BYTES;
}

/* Whether the domain has the cores of all its VCPUs for itself. */
static bool has_own_cores(const struct manifest_header *manifest, uint32_t domain)
{
    const struct manifest_vcpu *vcpus = manifest_vcpus(manifest);

    for (uint32_t i = 0; i < manifest->vcpus.count; i++) {
        for (uint32_t j = 0; j < manifest->vcpus.count; j++) {
            if (vcpus[i].domain == domain && j != i && vcpus[j].core == vcpus[i].core) {
                return false;
            }
        }
    }
    return true;
}

/* Writes of cores to the ITS may carry the device id 0, which is that of the first function on bus 0. */
#define DEVICE_OF_CORES 0u

static bool messages_are_sound(const struct manifest_header *manifest,
                               const struct manifest_function *function)
{
    return function->messages == 0 ||
           (function->messages <= BH_MAX_MESSAGES && manifest->its.pa != 0 &&
            function->requester != DEVICE_OF_CORES && has_own_cores(manifest, function->domain));
}

bool manifest_check_its(struct manifest_check *check)
{
    const struct manifest_header *manifest = check->manifest;
    const struct manifest_function *functions = manifest_functions(manifest);

    if (!has_no_its(manifest) && !its_is_sound(manifest)) {
        return manifest_refuse(check, BH_MANIFEST_ERROR_ITS, &manifest->its);
    }
    for (uint32_t i = 0; i < manifest->functions.count; i++) {
        if (!messages_are_sound(manifest, &functions[i])) {
            return manifest_refuse(check, BH_MANIFEST_ERROR_ITS, &functions[i]);
        }
    }
    return true;
}
