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
        {"other buses without bus 0",
         [](SampleManifest &m) { m.header.pci.config_pa = m.header.pci.config_bytes = 0; }},
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
        {"no configuration space", [](SampleManifest &m) { m.header.pci.config_bytes = 0; },
         BH_MANIFEST_ERROR_PLATFORM},
        {"a part of a bus",
         [](SampleManifest &m) {
             m.header.pci.config_bytes += 0x1000;
             m.header.pci.others_pa += 0x1000;
             m.header.pci.others_bytes -= 0x1000;
         }},
        {"a bus without a bridge", [](SampleManifest &m) { m.functions[0].requester = m.streams[1].stream; }},
        {"a second function of a device that has one",
         [](SampleManifest &m) { m.functions[0].requester = m.streams[0].stream = 1 << 3 | 1; }},
        {"flags that are none", [](SampleManifest &m) { m.functions[0].flags = 4; }},
        {"isolated from nothing",
         [](SampleManifest &m) { m.functions[0].flags = BH_FUNCTION_FLAG_ISOLATED; }},
        {"a slot that a bus has not", [](SampleManifest &m) { m.functions[1].guest_slot = 32; }},
        {"a slot twice",
         [](SampleManifest &m) {
             m.functions[1] = m.functions[0];
             m.functions[1].requester = 3 << 3;
             m.functions[1].bar_pa[0] += 0x80000;
             m.streams[1] = {0, 3 << 3};
             m.functions[0].bar_bytes[0] = m.functions[1].bar_bytes[0] = 0x80000;
         }},
        {"a requester id twice",
         [](SampleManifest &m) {
             m.functions[1] = m.functions[0];
             m.functions[1].guest_slot = 3;
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

TEST(ManifestPci, D3_AcceptsFunctionsBehindBridges)
{
    auto sample = make_sample_manifest();
    give_bridges(*sample);
    sample->seal();
    const auto verdict = sample->check();
    EXPECT_EQ(verdict.error, BH_MANIFEST_ERROR_NONE) << verdict.offset;
}

// Both functions are those of one device behind the first bridge.
void put_together(SampleManifest &m, uint32_t flags, uint32_t other_flags)
{
    m.bridges[0].memory_bytes = 2 * uint64_t{BH_PCI_WINDOW_BYTES};
    m.header.bridges.count = 1;
    for (manifest_stream &stream : m.streams) {
        stream.stream = stream.stream == 2 << 8 ? 1 << 8 | 1 : stream.stream;
    }
    m.functions[1].requester = 1 << 8 | 1;
    m.functions[0].flags = flags;
    m.functions[1].flags = other_flags;
}

TEST(ManifestPci, D3_TwoDomainsHaveFunctionsOfOneDeviceOnlyIfBothAreIsolated)
{
    constexpr uint32_t several = BH_FUNCTION_FLAG_MULTIFUNCTION;
    constexpr uint32_t isolated = several | uint32_t{BH_FUNCTION_FLAG_ISOLATED};
    const std::tuple<uint32_t, uint32_t, bh_manifest_error> rows[] = {
        {isolated, isolated, BH_MANIFEST_ERROR_NONE}, {isolated, several, BH_MANIFEST_ERROR_PCI},
        {several, isolated, BH_MANIFEST_ERROR_PCI},   {several, several, BH_MANIFEST_ERROR_PCI},
        {0, isolated, BH_MANIFEST_ERROR_PCI},
    };
    for (const auto &[one, other, error] : rows) {
        auto sample = make_sample_manifest();
        give_bridges(*sample);
        put_together(*sample, one, other);
        sample->seal();
        EXPECT_EQ(sample->check().error, error) << one << other;
    }
}

TEST(ManifestPci, D3_RefusesBridgesThatCannotBe)
{
    struct Row {
        const char *what;
        void (*change)(SampleManifest &);
    };
    const Row rows[] = {
        {"in the host bridge's slot", [](SampleManifest &m) { m.bridges[0].requester = 1; }},
        {"behind another bridge", [](SampleManifest &m) { m.bridges[0].requester = 1 << 8 | 8 << 3; }},
        {"two at one place", [](SampleManifest &m) { m.bridges[1].requester = m.bridges[0].requester; }},
        {"bus 0 behind it", [](SampleManifest &m) { m.bridges[0].bus = 0; }},
        {"a bus whose configuration space EL2 does not map", [](SampleManifest &m) { m.bridges[1].bus = 3; }},
        {"two with one bus", [](SampleManifest &m) { m.bridges[1].bus = 1; }},
        {"no window", [](SampleManifest &m) { m.bridges[0].memory_bytes = 0; }},
        {"a part of a unit", [](SampleManifest &m) { m.bridges[0].memory_bytes = 0x80000; }},
        {"not aligned", [](SampleManifest &m) { m.bridges[1].memory_pa += 0x80000; }},
        {"windows that overlap",
         [](SampleManifest &m) { m.bridges[0].memory_bytes = 2 * uint64_t{BH_PCI_WINDOW_BYTES}; }},
        {"a window above 4 GiB", [](SampleManifest &m) { m.bridges[1].memory_pa += 1ull << 32; }},
        {"a window that ends beyond 4 GiB",
         [](SampleManifest &m) { m.bridges[1].memory_bytes = 1ull << 32; }},
        {"a BAR outside of its bridge's window",
         [](SampleManifest &m) { m.bridges[1].memory_pa += BH_PCI_WINDOW_BYTES; }},
        {"a BAR of bus 0 in a bridge's window",
         [](SampleManifest &m) { m.functions[1].requester = m.streams[2].stream = 2 << 3; }},
        {"a function in a bridge's device",
         [](SampleManifest &m) {
             m.functions[1].requester = m.streams[2].stream = 9 << 3;
             m.functions[1].flags = BH_FUNCTION_FLAG_MULTIFUNCTION;
             m.bridges[1].memory_pa += BH_PCI_WINDOW_BYTES;
         }},
        {"a function behind no bridge", [](SampleManifest &m) { m.header.bridges.count = 1; }},
    };
    for (const Row &row : rows) {
        auto sample = make_sample_manifest();
        give_bridges(*sample);
        row.change(*sample);
        sample->seal();
        EXPECT_EQ(sample->check().error, BH_MANIFEST_ERROR_PCI) << row.what;
    }
}

} // namespace
} // namespace manifest_pci_test
