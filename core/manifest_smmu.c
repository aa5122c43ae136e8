/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Checks the SMMU and the streams of domains' devices: no stream has two domains, and each is in the stream
 * table that EL2 makes. A domain with streams is mapped from the start, because EL2 cannot map memory for a
 * device when the device touches it. With a GICv2, stage 2 also maps interrupt registers of the core for the
 * guest, which a device must not reach. There an SMMUv2 translates only addresses below these registers, so
 * all memory of a domain with streams is below them. An SMMUv3 needs a GICv3. Part of manifest_check().
 */
#include "core/manifest_internal.h"

#define MOST_STREAM_BITS 32u

static bool has_no_smmu(const struct manifest_header *manifest)
{
    const struct manifest_smmu *smmu = &manifest->smmu;

    return (smmu->pa | smmu->stream_bits | smmu->event_irq | smmu->error_irq | smmu->version) == 0 &&
           manifest->streams.count == 0;
}

/* Neither a domain's interrupt, nor that of another device that EL2 has. */
static bool is_free_irq(const struct manifest_header *manifest, uint32_t intid)
{
    const struct manifest_mpam_component *components = manifest_mpam_components(manifest);

    for (uint32_t i = 0; i < manifest->mpam_components.count; i++) {
        if (components[i].error_irq == intid || components[i].overflow_irq == intid) {
            return false;
        }
    }
    return !manifest_is_engine_irq(manifest, intid) && manifest_is_own_irq(manifest, intid);
}

static bool has_gicv2(const struct manifest_header *manifest)
{
    return manifest->platform.gic_version == BH_GIC_VERSION_GICV2;
}

/* What differs between the versions. An SMMUv2 has one interrupt for everything, and its tables cannot force
 * how memory is cached (FWB). */
static bool version_is_sound(const struct manifest_header *manifest)
{
    const struct manifest_smmu *smmu = &manifest->smmu;

    if (smmu->version == BH_SMMU_VERSION_SMMUV2) {
        return smmu->stream_bits <= BH_MAX_STREAM_BITS && smmu->event_irq == smmu->error_irq &&
               manifest->platform.s2fwb == 0 &&
               (!has_gicv2(manifest) || manifest->platform.gicc_pa >> BH_SMMU_GICV2_BITS != 0);
    }
    return smmu->version == BH_SMMU_VERSION_SMMUV3 && smmu->event_irq != smmu->error_irq &&
           !has_gicv2(manifest);
}

static bool smmu_is_sound(const struct manifest_header *manifest)
{
    const struct manifest_smmu *smmu = &manifest->smmu;

    return smmu->pa != 0 && smmu->stream_bits != 0 && smmu->stream_bits <= MOST_STREAM_BITS &&
           is_free_irq(manifest, smmu->event_irq) && is_free_irq(manifest, smmu->error_irq) &&
           version_is_sound(manifest);
}

/* Whether devices reach all memory of the domain. */
static bool is_in_reach(const struct manifest_header *manifest, const struct manifest_domain *domain)
{
    const struct manifest_segment *segments = manifest_segments(manifest) + domain->first_segment;

    for (uint32_t i = 0; i < domain->segment_count && has_gicv2(manifest); i++) {
        if ((segments[i].ipa + segments[i].bytes - 1) >> BH_SMMU_GICV2_BITS != 0) {
            return false;
        }
    }
    return true;
}

/* A broker's tables map memory of other domains. Only an engine that copies it may reach that,
 * and beside a GICv2 no device reaches the broker's window. */
static bool may_have_streams(const struct manifest_header *manifest, uint32_t domain)
{
    uint32_t number = manifest_domains(manifest)[domain].socket_broker;

    return !manifest_is_broker(manifest, domain) ||
           (manifest_broker_at(manifest, number)->engine == BH_BROKER_ENGINE_OWN && !has_gicv2(manifest));
}

static bool stream_is_sound(const struct manifest_header *manifest, uint32_t index)
{
    const struct manifest_stream *streams = manifest_streams(manifest);
    uint32_t bits =
        manifest->smmu.stream_bits < BH_MAX_STREAM_BITS ? manifest->smmu.stream_bits : BH_MAX_STREAM_BITS;

    if (streams[index].domain >= manifest->domains.count ||
        !may_have_streams(manifest, streams[index].domain) || streams[index].stream >> bits != 0 ||
        (manifest_domains(manifest)[streams[index].domain].flags & BH_DOMAIN_FLAG_PREMAP) == 0 ||
        !is_in_reach(manifest, &manifest_domains(manifest)[streams[index].domain])) {
        return false;
    }
    for (uint32_t i = 0; i < index; i++) {
        if (streams[i].stream == streams[index].stream) {
            return false;
        }
    }
    return true;
}

bool manifest_check_smmu(struct manifest_check *check)
{
    const struct manifest_header *manifest = check->manifest;

    if (has_no_smmu(manifest)) {
        return manifest_check_pci(check);
    }
    if (!smmu_is_sound(manifest)) {
        return manifest_refuse(check, BH_MANIFEST_ERROR_IOMMU, &manifest->smmu);
    }
    for (uint32_t i = 0; i < manifest->streams.count; i++) {
        if (!stream_is_sound(manifest, i)) {
            return manifest_refuse(check, BH_MANIFEST_ERROR_IOMMU, &manifest_streams(manifest)[i]);
        }
    }
    return manifest_check_pci(check);
}
