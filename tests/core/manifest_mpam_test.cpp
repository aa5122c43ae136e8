// SPDX-License-Identifier: Apache-2.0
// MPAM in the manifest: valid settings are accepted and read back as they were meant; everything that would
// give a PARTID to two owners, or set what an instance cannot do, is refused.
#include "core/manifest_mpam.h"
#include "core/mpam_difference.h"
#include "core/mpam_registers.h"
#include "sample_manifest.h"
#include <gtest/gtest.h>
#include <string>

namespace manifest_mpam_test {
namespace {

std::unique_ptr<SampleManifest> with_mpam()
{
    auto sample = make_sample_manifest();
    give_mpam(*sample);
    return sample;
}

TEST(ManifestMpam, M2_M3_AcceptsComponentsPartidsAndSettings)
{
    const auto verdict = with_mpam()->check();
    EXPECT_EQ(verdict.error, BH_MANIFEST_ERROR_NONE) << verdict.offset;
}

TEST(ManifestMpam, M3_RefusesWhatCannotBe)
{
    struct Row {
        const char *what;
        void (*change)(SampleManifest &);
    };
    const Row rows[] = {
        {"a page without a component", [](SampleManifest &m) { m.header.mpam.page_2 = 0x30000000; }},
        {"a component without a page", [](SampleManifest &m) { m.header.mpam.page_1 = 0; }},
        {"more PARTIDs than EL2 writes", [](SampleManifest &m) { m.header.mpam.partid_max = 1024; }},
        {"more groups than there can be", [](SampleManifest &m) { m.header.mpam.pmg_max = 256; }},
        {"half a register of virtual ones", [](SampleManifest &m) { m.header.mpam.virtual_partids = 6; }},
        {"more virtual ones than registers", [](SampleManifest &m) { m.header.mpam.virtual_partids = 36; }},
        {"the hypervisor in PARTID 0", [](SampleManifest &m) { m.header.mpam.partid = 0; }},
        {"the hypervisor beyond the last", [](SampleManifest &m) { m.header.mpam.partid = 16; }},
        {"the hypervisor in no group", [](SampleManifest &m) { m.header.mpam.pmg = 4; }},
        {"a domain in PARTID 0", [](SampleManifest &m) { m.domains[0].mpam_partid = 0; }},
        {"a domain in the hypervisor's", [](SampleManifest &m) { m.domains[0].mpam_partid = 1; }},
        {"a domain in another's range", [](SampleManifest &m) { m.domains[0].mpam_partid = 7; }},
        {"a range over the hypervisor's", [](SampleManifest &m) { m.header.mpam.partid = 5; }},
        {"a range beyond the last", [](SampleManifest &m) { m.domains[1].mpam_partid = 13; }},
        {"a wrapping range", [](SampleManifest &m) { m.domains[1].mpam_partid = 0xFFFFFFFE; }},
        {"a longer range than registers", [](SampleManifest &m) { m.header.mpam.virtual_partids = 0; }},
        {"a domain in no group", [](SampleManifest &m) { m.domains[1].mpam_pmg = 4; }},
        {"a firmware of a third kind", [](SampleManifest &m) { m.header.mpam.firmware_allows = 2; }},
        {"no version", [](SampleManifest &m) { m.mpam_components[0].version = 0; }},
        {"two instances before 1.1", [](SampleManifest &m) { m.mpam_components[0].version = 0x10; }},
        {"no instance", [](SampleManifest &m) { m.mpam_components[1].instance_count = 0; }},
        {"an instance of nobody", [](SampleManifest &m) { m.mpam_components[0].instance_count = 1; }},
        {"an endless wait", [](SampleManifest &m) { m.mpam_components[0].not_ready_ns = 1ull << 40; }},
        {"a domain's interrupt", [](SampleManifest &m) { m.mpam_components[0].error_irq = 48; }},
        {"the console's interrupt", [](SampleManifest &m) { m.mpam_components[0].overflow_irq = 33; }},
        {"one interrupt for two things",
         [](SampleManifest &m) { m.mpam_components[0].overflow_irq = sample_mpam_irq; }},
        {"a private interrupt", [](SampleManifest &m) { m.mpam_components[0].error_irq = 23; }},
        {"an unknown offer", [](SampleManifest &m) { m.mpam_instances[0].offers |= 1u << 13; }},
        {"a third kind of resource", [](SampleManifest &m) { m.mpam_instances[0].resource = 2; }},
        {"too many portions", [](SampleManifest &m) { m.mpam_instances[0].cache_portions = 1025; }},
        {"too wide a fraction", [](SampleManifest &m) { m.mpam_instances[0].capacity_bits = 17; }},
        {"a maximum without bits", [](SampleManifest &m) { m.mpam_instances[1].bandwidth_bits = 0; }},
        {"monitors without values",
         [](SampleManifest &m) { m.mpam_instances[1].bandwidth_value_bits = 0; }},
        {"values of an odd width", [](SampleManifest &m) { m.mpam_instances[1].bandwidth_value_bits = 40; }},
        {"more partitions than internal PARTIDs",
         [](SampleManifest &m) { m.mpam_components[1].intpartid_max = 6; }},
        {"internal PARTIDs without narrowing", [](SampleManifest &m) { m.mpam_instances[2].offers = 0; }},
        {"a setting of no component", [](SampleManifest &m) { m.mpam_settings[5].component = 2; }},
        {"a setting of no instance", [](SampleManifest &m) { m.mpam_settings[4].instance = 2; }},
        {"a setting of nobody's PARTID", [](SampleManifest &m) { m.mpam_settings[4].partid = 8; }},
        {"a setting twice", [](SampleManifest &m) { m.mpam_settings[1].partid = 1; }},
        {"a control that is not offered", [](SampleManifest &m) { m.mpam_settings[3].asked = MPAM_CMAX; }},
        {"no portion at all", [](SampleManifest &m) { m.mpam_words[0].bits = 0; }},
        {"a portion beyond the last", [](SampleManifest &m) { m.mpam_words[4].bits = 0x1FF; }},
        {"a share of nothing", [](SampleManifest &m) { m.mpam_settings[1].cmax_of = 0; }},
        {"a word of two settings", [](SampleManifest &m) { m.mpam_settings[1].first_word = 0; }},
        {"more words than there are", [](SampleManifest &m) { m.mpam_settings[5].cache_words = 2; }},
        {"words without end", [](SampleManifest &m) { m.mpam_settings[5].cache_words = 0xFFFFFFFF; }},
        {"a word of nobody", [](SampleManifest &m) { m.mpam_settings[5].cache_words = 0; }},
        {"PARTIDs without components",
         [](SampleManifest &m) {
             m.header.mpam_components.count = m.header.mpam_instances.count = 0;
             m.header.mpam_settings.count = m.header.mpam_words.count = 0;
         }},
    };

    for (const Row &row : rows) {
        auto sample = with_mpam();
        row.change(*sample);
        sample->seal();
        EXPECT_EQ(sample->check().error, BH_MANIFEST_ERROR_MPAM) << row.what;
    }
}

TEST(ManifestMpam, M3_NobodyElseHasAFeaturePage)
{
    auto device = with_mpam();
    device->devices[0].pa = sample_mpam_page + 0xF000;
    device->seal();
    EXPECT_EQ(device->check().error, BH_MANIFEST_ERROR_DEVICE) << "a domain has a page of a component";

    auto console = with_mpam();
    console->header.mpam.page_1 = console->header.platform.uart_pa;
    console->seal();
    EXPECT_EQ(console->check().error, BH_MANIFEST_ERROR_PLATFORM) << "the console is in a component";

    auto twice = with_mpam();
    twice->header.mpam.page_1 = sample_mpam_page + 0x8000;
    twice->seal();
    EXPECT_EQ(twice->check().error, BH_MANIFEST_ERROR_PLATFORM) << "two components overlap";

    auto memory = with_mpam();
    memory->header.mpam.page_1 = memory->ram[0].pa;
    memory->seal();
    EXPECT_EQ(memory->check().error, BH_MANIFEST_ERROR_PLATFORM) << "memory is in a component";
}

TEST(ManifestMpam, M3_SettingsAreReadAsTheyWereMeant)
{
    const auto sample = with_mpam();
    struct mpam_settings settings;

    manifest_mpam_settings_of(&sample->header, 0, 0, 4, &settings);
    EXPECT_EQ(settings.asked, unsigned{MPAM_CACHE_PORTIONS});
    EXPECT_EQ(settings.cache.word[0], 0xFF000000u);
    EXPECT_EQ(settings.cache.word[1], 0xFFu);
    EXPECT_EQ(mpam_portions_count(&settings.cache), 16u);
    manifest_mpam_settings_of(&sample->header, 0, 1, 4, &settings);
    EXPECT_EQ(settings.asked, MPAM_MBW_MAX | MPAM_MBW_MAX_HARD);
    EXPECT_EQ(settings.mbw_max.of, 2u);
}

TEST(ManifestMpam, M3_APartidOfNobodyGetsWhatTheHypervisorHas)
{
    const auto sample = with_mpam();
    struct mpam_settings settings;

    for (const uint32_t nobodys : {0u, 3u, 8u, 15u}) {
        manifest_mpam_settings_of(&sample->header, 0, 0, nobodys, &settings);
        EXPECT_EQ(settings.cache.word[0], 0xFFu) << nobodys;
    }
    for (const uint32_t owned : {5u, 6u, 7u}) { // nothing is requested for them: no limit
        manifest_mpam_settings_of(&sample->header, 0, 0, owned, &settings);
        EXPECT_EQ(settings.asked, 0u) << owned;
    }
}

TEST(ManifestMpam, M3_ADifferenceOfTheRegistersIsNamed)
{
    const auto sample = with_mpam();
    struct mpam_features stated;
    struct mpam_features found;

    manifest_mpam_features(&sample->header, 0, 0, &stated);
    EXPECT_EQ(mpam_compare(&stated, &stated).field, nullptr);
    found = stated;
    found.partid_max = 255; // more than the cores have is accepted
    found.intpartid_max = 255;
    EXPECT_EQ(mpam_compare(&stated, &found).field, nullptr);
    found.partid_max = 7;
    EXPECT_STREQ(mpam_compare(&stated, &found).field, "IDR.PARTID_MAX");
    found = stated;
    found.cache_portions = 32;
    const struct mpam_difference difference = mpam_compare(&stated, &found);
    EXPECT_STREQ(difference.field, "CPOR_IDR.CPBM_WD");
    EXPECT_EQ(difference.stated, 40u);
    EXPECT_EQ(difference.found, 32u);
    found = stated;
    found.has_soft_cmax = false;
    EXPECT_STREQ(mpam_compare(&stated, &found).field, "CCAP_IDR.HAS_CMAX_SOFTLIM");
}

TEST(ManifestMpam, M7_NarrowedPartidsOfNobodyShareTheHypervisors)
{
    struct mpam_writes writes;

    mpam_settings_share(2, 9, 1, &writes);
    ASSERT_EQ(writes.count, 2u);
    EXPECT_EQ(writes.write[0].offset, MPAMCFG_PART_SEL);
    EXPECT_EQ(writes.write[0].value, 2u << MPAM_SEL_RIS_SHIFT | 9);
    EXPECT_EQ(writes.write[1].offset, MPAMCFG_INTPARTID);
    EXPECT_EQ(writes.write[1].value, MPAMCFG_INTPARTID_INTERNAL | 1);
}

} // namespace
} // namespace manifest_mpam_test
