// SPDX-License-Identifier: Apache-2.0
// Stage 2 of a domain (C2, C3): every page of its memory maps to the frame that its colors determine, in
// order, and nothing else is mapped.
#include "hosted_machine.h"
#include "table_walk.h"
#include <gtest/gtest.h>
#include <set>

namespace stage2_test {
namespace {

using namespace bulkhead_test;

// The frames of a colored segment by enumeration.
std::vector<uint64_t> frames_of(uint64_t bits, uint64_t colors, uint64_t first, uint64_t bytes)
{
    std::vector<uint64_t> frames;
    for (uint64_t pa = first; frames.size() < bytes / 4096; pa += 4096) {
        unsigned color = 0;
        unsigned position = 0;
        for (unsigned bit = 12; bit < 40; bit++) {
            if (bits >> bit & 1) {
                color |= static_cast<unsigned>(pa >> bit & 1) << position++;
            }
        }
        if (colors >> color & 1) {
            frames.push_back(pa);
        }
    }
    return frames;
}

Translation translate(uint32_t domain, uint64_t ipa)
{
    return walk(*domain_at(domain)->stage2.pool, domain_at(domain)->stage2.root, ipa);
}

TEST(Stage2, C2_APremappedDomainHasAllOfItsFramesInOrder)
{
    HostedMachine machine;
    auto frames = frames_of(0xE000, 0x07, 0x48000000, 0x400000);
    for (size_t i = 0; i < frames.size(); i++) {
        ASSERT_EQ(translate(0, 0x40000000 + i * 4096).pa, frames[i]);
    }
    EXPECT_EQ(translate(0, 0x40400000).level, 0);
    EXPECT_EQ(translate(0, 0x3FFFF000).level, 0);
}

TEST(Stage2, D7_FlashIsMemoryThatTheGuestCannotWrite)
{
    constexpr uint64_t s2_read = 1u << 6;
    constexpr uint64_t s2_write = 2u << 6;
    HostedMachine machine([](SampleManifest &m) {
        m.segments[0].flags = BH_SEGMENT_FLAG_READ_ONLY; // premapped
        m.segments[1].flags = BH_SEGMENT_FLAG_READ_ONLY; // mapped on first access
    });
    machine.on_core(1);
    machine.trap(esr_load(4, 0), 0x40000010);
    for (uint32_t domain : {0u, 1u}) {
        const Translation found = translate(domain, 0x40000000);
        ASSERT_NE(found.level, 0);
        EXPECT_EQ(found.descriptor & (s2_read | s2_write), s2_read);
    }
}

TEST(Stage2, C2_ALazyDomainHasNoneUntilItTouchesThem)
{
    HostedMachine machine;
    auto frames = frames_of(0xE000, 0x38, 0x48006000, 0x800000);
    machine.on_core(1);
    for (size_t i = 0; i < frames.size(); i += 97) {
        const uint64_t ipa = 0x40000000 + i * 4096;
        EXPECT_EQ(translate(1, ipa).level, 0);
        machine.trap(esr_load(4, 0), ipa + 0x10);
        EXPECT_EQ(translate(1, ipa).pa, frames[i]);
    }
}

TEST(Stage2, C2_AFaultMapsTheAlignedBlockAroundItAndNothingElse)
{
    for (uint64_t colors : {0x38, 0x20, 0x28}) {
        HostedMachine machine([&](SampleManifest &m) {
            m.color_sets[2].word[0] = colors;
            m.segments[1].pa = frames_of(0xE000, colors, 0x48000000, 4096).front();
            m.segments[2].pa = frames_of(0xE000, colors, 0x60000000, 4096).front();
            // The second one starts and ends inside of blocks.
            m.segments[2].ipa = 0x41006000;
            m.segments[2].bytes = 0x43000;
            m.images[1].ipa = 0x40700000;
        });
        auto first = frames_of(0xE000, colors, 0x48000000, 0x800000);
        auto second = frames_of(0xE000, colors, 0x60000000, 0x43000);
        machine.on_core(1);
        machine.trap(esr_load(4, 0), 0x4012B010);
        machine.trap(esr_load(4, 0), 0x41006000);
        machine.trap(esr_load(4, 0), 0x41048FFC);
        for (uint64_t ipa = 0x40000000; ipa < 0x42000000; ipa += 4096) {
            const Translation got = translate(1, ipa);
            if (ipa >> 16 == 0x4012) {
                ASSERT_EQ(got.pa, first[(ipa - 0x40000000) / 4096]);
            } else if ((ipa >= 0x41006000 && ipa < 0x41010000) || (ipa >= 0x41040000 && ipa < 0x41049000)) {
                ASSERT_EQ(got.pa, second[(ipa - 0x41006000) / 4096]);
            } else {
                ASSERT_EQ(got.level, 0) << std::hex << ipa;
            }
        }
    }
}

TEST(Stage2, C3_BankBitsAreColorsToo)
{
    HostedMachine machine([](SampleManifest &m) {
        // LLC bits 15..13 and one bank bit, 18: control gets its LLC colors in bank 1 only.
        m.header.platform.color_bits = 0xE000 | 1 << 18;
        m.color_sets[1].word[0] = 0x0700;
        m.segments[0].pa = 0x48040000;
    });
    auto frames = frames_of(0xE000 | 1 << 18, 0x0700, 0x48040000, 0x400000);
    for (size_t i = 0; i < frames.size(); i++) {
        ASSERT_EQ(translate(0, 0x40000000 + i * 4096).pa, frames[i]);
        ASSERT_EQ(frames[i] >> 18 & 1, 1u);
    }
}

TEST(Stage2, C2_UncoloredMemoryIsMappedInBlocksAtTheStart)
{
    HostedMachine machine([](SampleManifest &m) {
        m.header.platform.color_bits = 0;
        for (auto &set : m.color_sets) {
            set.word[0] = 1;
        }
        m.header.hypervisor.pool_pa = 0x60000000;
        m.segments[0].pa = 0x48000000;
        m.segments[1].pa = 0x50000000;
        m.segments[2].pa = 0x58000000;
    });
    EXPECT_EQ(translate(1, 0x40000000).level, 2);
    EXPECT_EQ(translate(1, 0x407FFFFF).pa, 0x507FFFFFu);
}

TEST(Stage2, PassThroughDevicesAreDeviceMemoryThatCannotExecute)
{
    HostedMachine machine;
    Translation device = translate(1, 0x0A000000);
    EXPECT_EQ(device.pa, 0x0A000000u);
    EXPECT_EQ(device.descriptor >> 2 & 0xF, 1u) << "Device-nGnRE";
    EXPECT_EQ(device.descriptor >> 53 & 3, 2u) << "execute never";
    EXPECT_EQ(translate(0, 0x0A000000).level, 0) << "of the other domain";
}

// MemAttr[3:0], and HCR_EL2.FWB, which determines its meaning.
constexpr uint64_t write_back = 0xF;
constexpr uint64_t forced_write_back = 0x6;
constexpr uint64_t as_stage_1 = 0x7;
constexpr uint64_t device_nGnRE = 0x1;
constexpr uint64_t hcr_fwb = uint64_t{1} << 46;

uint64_t memory_type(uint32_t domain, uint64_t ipa)
{
    return translate(domain, ipa).descriptor >> 2 & 0xF;
}

// For a domain whose memory was mapped at the start, and for one that is mapped lazily.
void expect_types(HostedMachine &machine, uint64_t control, uint64_t linux)
{
    EXPECT_EQ(memory_type(0, 0x40000000), control);
    EXPECT_EQ(memory_type(0, 0x403FF000), control);
    machine.on_core(1);
    machine.trap(esr_load(4, 0), 0x40001000);
    EXPECT_EQ(memory_type(1, 0x40001000), linux);
    EXPECT_EQ(memory_type(1, 0x4000F000), linux);
    EXPECT_EQ(memory_type(1, 0x0A000000), device_nGnRE);
}

TEST(Stage2, T5_WithoutS2fwbMemoryIsWriteBackAndAGuestCanMapItPastTheCaches)
{
    HostedMachine machine;
    expect_types(machine, write_back, write_back);
    EXPECT_EQ(fake_sysreg(SYSREG_ID_HCR_EL2) & hcr_fwb, 0u);
}

TEST(Stage2, T5_WithS2fwbMemoryIsWriteBackWhateverAGuestMaps)
{
    HostedMachine machine([](SampleManifest &m) { m.header.platform.s2fwb = 1; });
    expect_types(machine, forced_write_back, forced_write_back);
    for (uint32_t core = 0; core < 4; core++) {
        fake_switch_core(core);
        EXPECT_EQ(fake_sysreg(SYSREG_ID_HCR_EL2) & hcr_fwb, hcr_fwb) << core;
    }
}

TEST(Stage2, T5_WhoSharesMemoryWithADeviceThatSeesNoCachesMapsItAsBefore)
{
    HostedMachine machine([](SampleManifest &m) {
        m.header.platform.s2fwb = 1;
        m.domains[1].flags |= BH_DOMAIN_FLAG_OWN_ATTRIBUTES;
    });
    expect_types(machine, forced_write_back, as_stage_1);
}

TEST(Stage2, T5_BlocksAreWriteBackToo)
{
    HostedMachine machine([](SampleManifest &m) {
        m.header.platform.s2fwb = 1;
        m.header.platform.color_bits = 0;
        for (auto &set : m.color_sets) {
            set.word[0] = 1;
        }
        m.header.hypervisor.pool_pa = 0x60000000;
        m.segments[0].pa = 0x48000000;
        m.segments[1].pa = 0x50000000;
        m.segments[2].pa = 0x58000000;
    });
    EXPECT_EQ(translate(1, 0x40000000).level, 2);
    EXPECT_EQ(memory_type(1, 0x40000000), forced_write_back);
}

TEST(Stage2, T5_ACoreSaysThatItHasIt)
{
    HostedMachine machine;
    EXPECT_FALSE(stage2_core_can_force());
    fake_set_sysreg(SYSREG_ID_ID_AA64MMFR2_EL1, uint64_t{1} << 40);
    EXPECT_TRUE(stage2_core_can_force());
    fake_set_sysreg(SYSREG_ID_ID_AA64MMFR2_EL1, ~(uint64_t{0xF} << 40));
    EXPECT_FALSE(stage2_core_can_force());
}

TEST(Stage2, EmulatedDevicesAreNotMapped)
{
    HostedMachine machine;
    for (uint64_t ipa : {0x08000000ull, 0x080A0000ull, 0x09000000ull}) {
        EXPECT_EQ(translate(0, ipa).level, 0);
        EXPECT_EQ(translate(1, ipa).level, 0);
    }
}

TEST(Stage2, DomainsHaveDifferentVmids)
{
    HostedMachine machine;
    EXPECT_NE(machine.status(0).vttbr >> 48, machine.status(1).vttbr >> 48);
    EXPECT_NE(machine.status(0).vttbr >> 48, 0u);
}

} // namespace
} // namespace stage2_test
