// SPDX-License-Identifier: Apache-2.0
// The ITS and message interrupts in the manifest: an ITS whose memory EL2 cannot use, and message interrupts
// that EL2 could not confine to their domain's time, are refused (D4).
#include "sample_manifest.h"
#include <gtest/gtest.h>

namespace manifest_its_test {
namespace {

bh_manifest_error error_after(void (*change)(SampleManifest &))
{
    auto sample = make_sample_manifest();
    give_its(*sample);
    change(*sample);
    sample->seal();
    return static_cast<bh_manifest_error>(sample->check().error);
}

TEST(ManifestIts, D4_AcceptsMessageInterruptsOfDomains)
{
    EXPECT_EQ(error_after([](SampleManifest &) {}), BH_MANIFEST_ERROR_NONE);
}

TEST(ManifestIts, D4_AcceptsAnItsWithoutFunctions)
{
    EXPECT_EQ(error_after([](SampleManifest &m) { m.header.functions.count = 0; }), BH_MANIFEST_ERROR_NONE);
}

TEST(ManifestIts, D4_AcceptsAFunctionWithoutMessagesOnASharedCore)
{
    EXPECT_EQ(error_after([](SampleManifest &m) {
                  m.vcpus[0].core = m.vcpus[1].core;
                  m.functions[0].messages = m.functions[1].messages = 0;
              }),
              BH_MANIFEST_ERROR_NONE);
}

TEST(ManifestIts, D4_RefusesWhatCannotBe)
{
    struct Row {
        const char *what;
        void (*change)(SampleManifest &);
        bh_manifest_error error = BH_MANIFEST_ERROR_ITS;
    };
    const Row rows[] = {
        {"message interrupts without an ITS", [](SampleManifest &m) { m.header.its = {}; }},
        {"memory without an ITS", [](SampleManifest &m) { m.header.its.pa = 0; }},
        {"an ITS without memory",
         [](SampleManifest &m) { m.header.its.pending_pa = m.header.its.pending_bytes = 0; }},
        {"registers in the middle of a frame", [](SampleManifest &m) { m.header.its.pa = 0x0B001000; }},
        {"memory in the middle of a table", [](SampleManifest &m) { m.header.its.pending_pa += 0x1000; }},
        {"memory of three cores", [](SampleManifest &m) { m.header.its.pending_bytes -= 0x10000; }},
        {"memory of five cores", [](SampleManifest &m) { m.header.its.pending_bytes += 0x10000; }},
        {"no host bridge",
         [](SampleManifest &m) {
             m.header.pci = {};
             m.header.functions.count = 0;
         }},
        {"no SMMU",
         [](SampleManifest &m) {
             m.header.smmu = {};
             m.header.streams.count = 0;
             m.header.pci = {};
             m.header.functions.count = 0;
         }},
        {"more messages than EL2 has room for",
         [](SampleManifest &m) { m.functions[1].messages = BH_MAX_MESSAGES + 1; }},
        {"a function with the device id that cores' writes have",
         [](SampleManifest &m) {
             m.streams[0].stream = 0;
             m.functions[0].requester = 0;
         }},
        {"a core that the function's domain shares",
         [](SampleManifest &m) {
             m.vcpus[0].core = m.vcpus[2].core;
             m.functions[1].messages = 0;
         }},
        {"a core that another VCPU of the function's domain shares",
         [](SampleManifest &m) {
             m.vcpus[0].core = m.vcpus[2].core;
             m.functions[0].messages = 0;
         }},
        {"registers that a domain has", [](SampleManifest &m) { m.devices[1].pa = sample_its_pa + 0x10000; },
         BH_MANIFEST_ERROR_DEVICE},
        {"registers where a guest has a device",
         [](SampleManifest &m) { m.devices[1].ipa = sample_its_pa + 0x10000; }, BH_MANIFEST_ERROR_DEVICE},
        {"memory that a domain has", [](SampleManifest &m) { m.devices[1].pa = sample_lpi_pending_pa; },
         BH_MANIFEST_ERROR_DEVICE},
        {"memory that is RAM of domains",
         [](SampleManifest &m) { m.header.its.pending_pa = m.ram[0].pa + 0x100000; },
         BH_MANIFEST_ERROR_PLATFORM},
    };
    for (const Row &row : rows) {
        EXPECT_EQ(error_after(row.change), row.error) << row.what;
    }
}

TEST(ManifestIts, D4_NamesTheFunction)
{
    auto sample = make_sample_manifest();
    give_its(*sample);
    sample->functions[1].messages = BH_MAX_MESSAGES + 1;
    sample->seal();
    const auto place = reinterpret_cast<const char *>(&sample->functions[1]);
    EXPECT_EQ(sample->check().offset, place - reinterpret_cast<const char *>(sample.get()));
}

} // namespace
} // namespace manifest_its_test
