// SPDX-License-Identifier: Apache-2.0
// The SMMU in the manifest: a stream that two domains have, or that EL2's table has not, is refused (D1, D2).
#include "sample_manifest.h"
#include <gtest/gtest.h>

namespace manifest_smmu_test {
namespace {

TEST(ManifestSmmu, D2_AcceptsStreamsOfDomains)
{
    auto sample = make_sample_manifest();
    give_smmu(*sample);
    sample->seal();
    const auto verdict = sample->check();
    EXPECT_EQ(verdict.error, BH_MANIFEST_ERROR_NONE) << verdict.offset;
}

TEST(ManifestSmmu, D2_AcceptsAnSmmuWithoutStreams)
{
    auto sample = make_sample_manifest();
    give_smmu(*sample);
    sample->header.streams.count = 0;
    sample->seal();
    EXPECT_EQ(sample->check().error, BH_MANIFEST_ERROR_NONE);
}

TEST(ManifestSmmu, D2_RefusesWhatCannotBe)
{
    struct Row {
        const char *what;
        void (*change)(SampleManifest &);
        bh_manifest_error error = BH_MANIFEST_ERROR_IOMMU;
    };
    const Row rows[] = {
        {"streams without an SMMU", [](SampleManifest &m) { m.header.smmu = {}; }},
        {"a field without an SMMU", [](SampleManifest &m) { m.header.smmu.pa = 0; }},
        {"no bits of stream ids", [](SampleManifest &m) { m.header.smmu.stream_bits = 0; }},
        {"more bits than there can be", [](SampleManifest &m) { m.header.smmu.stream_bits = 33; }},
        {"a stream of two domains", [](SampleManifest &m) { m.streams[2].stream = 8; }},
        {"a stream twice", [](SampleManifest &m) { m.streams[1].stream = 8; }},
        {"a stream beyond the SMMU's", [](SampleManifest &m) { m.header.smmu.stream_bits = 8; }},
        {"a stream beyond the table", [](SampleManifest &m) { m.streams[0].stream = 0x8000; }},
        {"a stream of no domain", [](SampleManifest &m) { m.streams[0].domain = 2; }},
        {"memory that is mapped later",
         [](SampleManifest &m) { m.domains[1].flags &= ~uint32_t{BH_DOMAIN_FLAG_PREMAP}; }},
        {"no interrupt of events", [](SampleManifest &m) { m.header.smmu.event_irq = 0; }},
        {"a private interrupt", [](SampleManifest &m) { m.header.smmu.error_irq = 27; }},
        {"a domain's interrupt", [](SampleManifest &m) { m.header.smmu.error_irq = 48; }},
        {"an interrupt of MPAM's",
         [](SampleManifest &m) {
             give_mpam(m);
             m.mpam_components[0].error_irq = sample_smmu_event_irq;
         }},
        {"a stream of the broker's",
         [](SampleManifest &m) {
             give_flows(m);
             m.streams[2].domain = m.header.broker.domain;
             m.domains[m.header.broker.domain].flags |= BH_DOMAIN_FLAG_PREMAP;
         }},
        {"a stream of a broker without an engine of its own",
         [](SampleManifest &m) {
             give_own_engine(m);
             m.header.broker.engine = BH_BROKER_ENGINE_CPU_COPY;
         }},
        {"an engine of the broker that is not mapped from the start",
         [](SampleManifest &m) {
             give_own_engine(m);
             m.domains[m.header.broker.domain].flags = 0;
         }},
        {"an engine of the broker beside a GICv2, which does not reach the broker's window",
         [](SampleManifest &m) {
             give_own_engine(m);
             give_smmuv2(m);
             m.header.streams.count = 1;
             m.streams[0].domain = m.header.broker.domain;
             m.domains[m.header.broker.domain].flags |= BH_DOMAIN_FLAG_PREMAP;
         }},
        {"one interrupt for both",
         [](SampleManifest &m) { m.header.smmu.error_irq = sample_smmu_event_irq; }},
        {"an SMMU of no version", [](SampleManifest &m) { m.header.smmu.version = 0; }},
        {"an SMMU of another version", [](SampleManifest &m) { m.header.smmu.version = 4; }},
        {"an SMMUv3 beside a GICv2",
         [](SampleManifest &m) {
             give_smmuv2(m);
             m.header.smmu.version = BH_SMMU_VERSION_SMMUV3;
             m.header.smmu.error_irq = sample_smmu_error_irq;
         }},
        {"registers in RAM", [](SampleManifest &m) { m.header.smmu.pa = 0x40000000; },
         BH_MANIFEST_ERROR_PLATFORM},
        {"registers that a domain has", [](SampleManifest &m) { m.devices[0].pa = sample_smmu_pa + 0x10000; },
         BH_MANIFEST_ERROR_DEVICE},
    };
    for (const Row &row : rows) {
        auto sample = make_sample_manifest();
        give_smmu(*sample);
        row.change(*sample);
        sample->seal();
        EXPECT_EQ(sample->check().error, row.error) << row.what;
    }
}

TEST(ManifestSmmu, D2_AcceptsAnSmmuv2BesideAnyGic)
{
    auto sample = make_sample_manifest();
    give_smmuv2(*sample);
    sample->seal();
    EXPECT_EQ(sample->check().error, BH_MANIFEST_ERROR_NONE);
    sample = make_sample_manifest();
    give_smmu(*sample);
    sample->header.smmu.version = BH_SMMU_VERSION_SMMUV2;
    sample->header.smmu.stream_bits = BH_MAX_STREAM_BITS;
    sample->header.smmu.error_irq = sample_smmu_event_irq;
    sample->segments[1].ipa = uint64_t{1} << 31; // no limit beside a GICv3
    sample->images[1].ipa = uint64_t{1} << 31;
    sample->domains[1].entry_ipa = uint64_t{1} << 31;
    sample->seal();
    EXPECT_EQ(sample->check().error, BH_MANIFEST_ERROR_NONE);
}

TEST(ManifestSmmu, D2_RefusesWhatAnSmmuv2CannotBe)
{
    struct Row {
        const char *what;
        void (*change)(SampleManifest &);
    };
    const Row rows[] = {
        {"more bits of stream ids", [](SampleManifest &m) { m.header.smmu.stream_bits = 16; }},
        {"an interrupt of its own for global errors",
         [](SampleManifest &m) { m.header.smmu.error_irq = sample_smmu_error_irq; }},
        {"stage 2 that forces how memory is cached", [](SampleManifest &m) { m.header.platform.s2fwb = 1; }},
        {"interrupt registers of guests that devices reach",
         [](SampleManifest &m) { m.header.platform.gicc_pa = 0x30000000; }},
        {"memory that devices do not reach",
         [](SampleManifest &m) { m.segments[2].ipa = (uint64_t{1} << 31) - 0x80000; }},
    };
    for (const Row &row : rows) {
        auto sample = make_sample_manifest();
        give_smmuv2(*sample);
        sample->images[1].ipa = 0x407E0000;
        row.change(*sample);
        sample->seal();
        EXPECT_EQ(sample->check().error, BH_MANIFEST_ERROR_IOMMU) << row.what;
    }
}

} // namespace
} // namespace manifest_smmu_test
