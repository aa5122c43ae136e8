// SPDX-License-Identifier: Apache-2.0
// PCI functions in the manifest: one that the SMMU does not confine, or whose BARs are not its domain's
// alone, is refused (D3).
#include "sample_manifest.h"
#include <gtest/gtest.h>

namespace manifest_pci_test {
namespace {

TEST(ManifestPci, D3_AcceptsFunctionsOfDomains)
{
    auto sample = make_sample_manifest();
    give_pci(*sample);
    sample->seal();
    const auto verdict = sample->check();
    EXPECT_EQ(verdict.error, BH_MANIFEST_ERROR_NONE) << verdict.offset;
}

TEST(ManifestPci, D3_AcceptsAHostBridgeWithoutFunctions)
{
    auto sample = make_sample_manifest();
    give_pci(*sample);
    sample->header.functions.count = 0;
    sample->header.pci.others_pa = sample->header.pci.others_bytes = 0; // one bus
    sample->seal();
    EXPECT_EQ(sample->check().error, BH_MANIFEST_ERROR_NONE);
}

TEST(ManifestPci, D3_RefusesWhatCannotBe)
{
    struct Row {
        const char *what;
        void (*change)(SampleManifest &);
        bh_manifest_error error = BH_MANIFEST_ERROR_PCI;
    };
    const Row rows[] = {
        {"functions without a host bridge", [](SampleManifest &m) { m.header.pci = {}; }},
        {"other buses without bus 0", [](SampleManifest &m) { m.header.pci.config_pa = 0; }},
        {"other buses elsewhere",
         [](SampleManifest &m) {
             m.header.pci.others_pa += 0x100000;
             m.header.pci.others_bytes -= 0x100000;
         }},
        {"too many buses", [](SampleManifest &m) { m.header.pci.others_bytes = 256ull << 20; },
         BH_MANIFEST_ERROR_PLATFORM}, // they reach into RAM
        {"no SMMU",
         [](SampleManifest &m) {
             m.header.smmu = {};
             m.header.streams.count = 0;
         }},
        {"a function of no domain", [](SampleManifest &m) { m.functions[1].domain = 2; }},
        {"a slot that a bus has not", [](SampleManifest &m) { m.functions[1].slot = 32; }},
        {"a slot twice",
         [](SampleManifest &m) {
             m.functions[1] = m.functions[0];
             m.functions[1].bar_pa[0] += 0x80000;
             m.functions[0].bar_bytes[0] = m.functions[1].bar_bytes[0] = 0x80000;
         }},
        {"a stream of another domain", [](SampleManifest &m) { m.streams[0].domain = 1; }},
        {"no stream", [](SampleManifest &m) { m.streams[2].stream = 2; }},
        {"registers of another domain",
         [](SampleManifest &m) { m.functions[0].bar_pa[0] = sample_wide_bar_pa; }},
        {"registers elsewhere for the guest", [](SampleManifest &m) { m.devices[0].ipa += 0x10000000; }},
        {"more than the domain has", [](SampleManifest &m) { m.functions[1].bar_bytes[0] = 0x8000; }},
        {"a size that no BAR has", [](SampleManifest &m) { m.functions[0].bar_bytes[0] = 0xC0000; }},
        {"a BAR that shares its page with nobody's addresses",
         [](SampleManifest &m) { m.functions[0].bar_bytes[0] = 0x800; }},
        {"not aligned to its size", [](SampleManifest &m) { m.functions[1].bar_pa[0] += 0x1000; }},
        {"two BARs at one place",
         [](SampleManifest &m) {
             m.functions[0].bar_bytes[0] = m.functions[0].bar_bytes[1] = 0x1000;
             m.functions[0].bar_pa[1] = m.functions[0].bar_pa[0];
         }},
        {"a pin beyond INTD", [](SampleManifest &m) { m.functions[1].pin = 5; }},
        {"a BAR of addresses of I/O", [](SampleManifest &m) { m.functions[0].bar_kinds = 1; }},
        {"a kind of a BAR that is none", [](SampleManifest &m) { m.functions[0].bar_kinds = 8 << 4; }},
        {"a kind beyond the BARs", [](SampleManifest &m) { m.functions[0].bar_kinds = 1u << 24; }},
        {"a BAR in the upper half of another",
         [](SampleManifest &m) {
             m.functions[1].bar_bytes[0] = m.functions[1].bar_bytes[1] = 0x1000;
             m.functions[1].bar_pa[1] = m.functions[1].bar_pa[0] + 0x1000;
         }},
        {"64 bits in the last register",
         [](SampleManifest &m) {
             m.functions[1].bar_kinds = 4u << 20;
             std::swap(m.functions[1].bar_pa[0], m.functions[1].bar_pa[5]);
             std::swap(m.functions[1].bar_bytes[0], m.functions[1].bar_bytes[5]);
         }},
        {"32 bits above 4 GiB",
         [](SampleManifest &m) {
             m.devices[0].ipa = m.devices[0].pa = m.functions[0].bar_pa[0] = 1ull << 33;
         }},
        {"configuration space that a domain has",
         [](SampleManifest &m) { m.devices[1].pa = sample_config_pa + 0x8000; }, BH_MANIFEST_ERROR_DEVICE},
        {"configuration space behind a bridge that a domain has",
         [](SampleManifest &m) { m.devices[1].pa = sample_config_pa + 0x100000; }, BH_MANIFEST_ERROR_DEVICE},
        {"configuration space in RAM",
         [](SampleManifest &m) {
             m.header.pci.config_pa = 0x40000000;
             m.header.pci.others_pa = 0x40100000;
         },
         BH_MANIFEST_ERROR_PLATFORM},
    };
    for (const Row &row : rows) {
        auto sample = make_sample_manifest();
        give_pci(*sample);
        row.change(*sample);
        sample->seal();
        EXPECT_EQ(sample->check().error, row.error) << row.what;
    }
}

} // namespace
} // namespace manifest_pci_test
