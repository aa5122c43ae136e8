// SPDX-License-Identifier: Apache-2.0
// Flash that takes commands, at EL2: mapped while its content is read, unmapped while anything else is read.
#include "hosted_machine.h"
#include "table_walk.h"
#include <algorithm>
#include <cstring>
#include <gtest/gtest.h>

namespace flash_test {
namespace {

using namespace bulkhead_test;

constexpr uint64_t at = 0x40800000; // of domain 1, mapped on first access
constexpr uint64_t virtual_at = 0x7000000;
constexpr uint64_t permission_fault_level3 = 0x0F;
constexpr uint64_t maintenance = 1u << 8;
constexpr uint32_t core = 1; // domain 1 has this one and core 3

uint64_t frame; // of the page that the guest writes, in its own tables and in stage 2

class Flash : public testing::Test {
protected:
    explicit Flash(void (*change)(SampleManifest &) = as_flash) : machine(change)
    {
        machine.on_core(core);
        machine.trap(esr_load(4, 0), at); // maps 64 KiB
        frame = translate(at).pa;
        fake_hook_translation([](uint64_t, bool) -> uint64_t { return 0xFFull << 56 | frame; });
        std::fill(page().begin(), page().end(), '\xFF');
    }
    ~Flash() override { fake_hook_translation(nullptr); }

    Translation translate(uint64_t ipa) const
    {
        return walk(*domain_at(1)->stage2.pool, domain_at(1)->stage2.root, ipa);
    }
    std::vector<char> &page() { return machine.page(frame); }

    // A store of the guest, as the core reports it: its page is mapped, or unmapped.
    void store(uint32_t offset, uint32_t value)
    {
        machine.regs(core).x[0] = value;
        if (translate(at + offset).level != 0) {
            machine.trap((esr_store(4, 0) & ~0x3Full) | permission_fault_level3, virtual_at + offset);
        } else {
            machine.trap(esr_store(4, 0), at + offset);
        }
    }
    uint32_t load(uint32_t offset)
    {
        machine.trap(esr_load(4, 0), at + offset);
        return static_cast<uint32_t>(machine.regs(core).x[0]);
    }
    void command(uint32_t offset, uint32_t code) { store(offset, code << 16 | code); }

    static void as_flash(SampleManifest &m)
    {
        m.images[1].ipa = 0x407E0000; // not in it
        m.segments[2].flags = BH_SEGMENT_FLAG_READ_ONLY | BH_SEGMENT_FLAG_PROGRAMMABLE;
    }

    HostedMachine machine;
};

TEST_F(Flash, D7_ItIsHiddenWhileItsStatusIsRead)
{
    const uint64_t pc = fake_sysreg(SYSREG_ID_ELR_EL2);
    command(0, 0x70);
    EXPECT_EQ(fake_sysreg(SYSREG_ID_ELR_EL2), pc + 4);
    EXPECT_EQ(translate(at).level, 0);
    EXPECT_EQ(translate(at + 0xFF000).level, 0) << "all of it";
    EXPECT_EQ(translate(at - 0x1000).level, translate(0x40000000).level) << "and nothing else";
    EXPECT_EQ(load(0x10), 0x00800080u);
    EXPECT_EQ(load(0xFF010), 0x00800080u) << "where nothing was touched yet";
    command(0, 0xFF);
    EXPECT_EQ(translate(at).pa, frame);
    EXPECT_EQ(machine.exits(core, BH_EXIT_REASON_FLASH_ACCESS), 4u);
    EXPECT_EQ(machine.exits(core, BH_EXIT_REASON_STAGE2_FAULT), 0u);
}

TEST_F(Flash, D7_HidingReachesEveryCoreOfTheDomain)
{
    const uint64_t before = fake_barriers(FAKE_TLBI_GUEST_ALL);
    command(0, 0x90);
    EXPECT_EQ(fake_barriers(FAKE_TLBI_GUEST_ALL), before + 1);
    command(0, 0x98);
    command(0, 0xFF);
    EXPECT_EQ(fake_barriers(FAKE_TLBI_GUEST_ALL), before + 1) << "once";
}

TEST_F(Flash, D7_AProgrammedWordIsInMemory)
{
    command(0x20, 0x40);
    store(0x20, 0x12345678);
    EXPECT_EQ(load(0x20), 0x00800080u);
    command(0, 0xFF);
    uint32_t word = 0;
    std::memcpy(&word, &page()[0x20], 4);
    EXPECT_EQ(word, 0x12345678u);
    EXPECT_EQ(page()[0x24], '\xFF');
    EXPECT_GT(fake_barriers(FAKE_DCACHE_LINE), 0u) << "for a guest with its caches off";
}

TEST_F(Flash, D7_AnErasedBlockTakesManyLooksAndEachIsShort)
{
    std::fill(page().begin(), page().end(), 0);
    uint64_t windows = 0;
    command(0, 0x20);
    machine.on_window([&](uint64_t) { windows++; });
    command(0, 0xD0);
    EXPECT_EQ(windows, 0u);
    uint32_t looks = 1;
    while (load(0) != 0x00800080) {
        EXPECT_LE(windows, looks);
        ASSERT_LT(looks++, 1000u);
    }
    EXPECT_EQ(looks, 256u) << "1 KiB each";
    EXPECT_EQ(page(), std::vector<char>(4096, '\xFF'));
    machine.on_window(nullptr);
}

TEST_F(Flash, D7_ItIsNotMappedByAFaultWhileItIsHidden)
{
    command(0, 0x70);
    machine.trap((0x20ull << 26) | 1u << 25 | translation_fault_level3, at + 0x1000); // an instruction
    EXPECT_EQ(machine.status(1).state, static_cast<uint32_t>(BH_DOMAIN_STATE_CRASHED));
    EXPECT_EQ(translate(at + 0x1000).level, 0);
}

TEST_F(Flash, D7_CacheMaintenanceOfItIsNoCommand)
{
    machine.trap((esr_store(4, 0) & ~0x3Full) | permission_fault_level3 | maintenance, virtual_at);
    EXPECT_NE(translate(at).level, 0);
    command(0, 0x70);
    machine.trap(esr_store(4, 0) | maintenance, at);
    EXPECT_EQ(load(0), 0x00800080u);
    EXPECT_EQ(machine.status(1).state, static_cast<uint32_t>(BH_DOMAIN_STATE_RUNNING));
}

TEST_F(Flash, D7_AWriteWhoseTranslationIsGoneIsDoneAgain)
{
    const uint64_t pc = fake_sysreg(SYSREG_ID_ELR_EL2);
    fake_hook_translation([](uint64_t, bool) -> uint64_t { return 1; });
    store(0, 0x00700070);
    EXPECT_EQ(fake_sysreg(SYSREG_ID_ELR_EL2), pc);
    EXPECT_NE(translate(at).level, 0);
}

TEST_F(Flash, D7_OtherFlashTakesNoCommand)
{
    frame = 0x48000000; // of another domain's color
    machine.regs(core).x[0] = 0x00700070;
    machine.trap((esr_store(4, 0) & ~0x3Full) | permission_fault_level3, virtual_at);
    EXPECT_NE(translate(at).level, 0);
    EXPECT_EQ(machine.exits(core, BH_EXIT_REASON_STAGE2_FAULT), 1u);
}

TEST_F(Flash, D7_AnAccessThatEl2CannotReadEndsTheDomain)
{
    command(0, 0x70);
    machine.trap((0x24ull << 26) | 1u << 25 | translation_fault_level3, at); // no syndrome of the instruction
    EXPECT_EQ(machine.status(1).state, static_cast<uint32_t>(BH_DOMAIN_STATE_CRASHED));
}

TEST_F(Flash, D7_WhatWasProgrammedIsThereAfterARestart)
{
    command(0x20, 0x40);
    store(0x20, 0x12345678);
    EXPECT_EQ(translate(at).level, 0);
    machine.hvc(0x84000009); // SYSTEM_RESET
    ASSERT_EQ(machine.status(1).restarts, 1u);
    EXPECT_EQ(translate(at).pa, frame) << "its content is read again";
    EXPECT_EQ(domain_at(1)->flash.chip.mode, NOR_FLASH_ARRAY);
    EXPECT_EQ(page()[0x20], 0x78);
    EXPECT_EQ(page()[0x23], 0x12);
}

TEST_F(Flash, D7_ACommandThatWasBegunIsForgottenByARestart)
{
    command(0, 0x20);
    machine.hvc(0x84000009);
    command(0, 0xD0);
    EXPECT_EQ(domain_at(1)->flash.chip.erase_end, 0u) << "nothing is erased";
}

class LimitedFlash : public Flash {
protected:
    static void limited(SampleManifest &m)
    {
        as_flash(m);
        m.header.platform.traffic_event = 0x17;
        m.header.platform.broadcast_events = 40;
        m.domains[1].flags |= BH_DOMAIN_FLAG_BUDGET;
        m.domains[1].budget_events = 100;
        m.domains[1].budget_period_ns = 1'000'000;
    }

    LimitedFlash() : Flash(limited) {}
};

// T5: a domain that maps and unmaps its flash in a loop causes TLB maintenance of all cores, which its budget
// pays for.
TEST_F(LimitedFlash, T5_HidingItIsABroadcastOfTheDomainsBudget)
{
    for (uint64_t times = 1; times <= 2; times++) {
        command(0, 0x70);
        EXPECT_EQ(cpu_at(core)->bandwidth.budget.reservation.statistics.events, times * 40);
        command(0, 0xFF);
        EXPECT_FALSE(machine.waited());
    }
    EXPECT_EQ(cpu_at(core)->bandwidth.budget.reservation.statistics.events, 80u) << "showing it is free";
    command(0, 0x70);
    EXPECT_TRUE(machine.waited()) << "its budget is spent";
}

// Mapped from the start: a fault at a page that is mapped again was caused by another VCPU.
TEST(FlashOfUncoloredMemory, D7_AReadThatCameTooLateIsDoneAgain)
{
    HostedMachine machine([](SampleManifest &m) {
        m.domains[1].flags |= BH_DOMAIN_FLAG_PREMAP;
        m.segments[2].flags = BH_SEGMENT_FLAG_READ_ONLY | BH_SEGMENT_FLAG_PROGRAMMABLE;
    });
    machine.on_core(core);
    const uint64_t pc = fake_sysreg(SYSREG_ID_ELR_EL2);
    machine.trap(esr_load(4, 0), at);
    EXPECT_EQ(fake_sysreg(SYSREG_ID_ELR_EL2), pc);
    EXPECT_EQ(machine.status(1).state, static_cast<uint32_t>(BH_DOMAIN_STATE_RUNNING));
}

} // namespace
} // namespace flash_test
