// SPDX-License-Identifier: Apache-2.0
// T5: maintenance of translations and caches of a domain for which it is trapped: what EL2 executes in its
// place, on which cores, and the result for an address that is not mapped.
#include "hosted_machine.h"
#include <array>
#include <gtest/gtest.h>

extern "C" {
#include "run/guest_state.h"
}

namespace maintenance_test {
namespace {

using namespace bulkhead_test;

constexpr uint64_t guest_pc = 0x40001000;
constexpr uint64_t el1h = 0x3C5;
constexpr uint64_t el0 = 0x3C0;
constexpr uint32_t alone = 0;  // core of domain 0, which has no other
constexpr uint32_t spread = 1; // of domain 1, which has core 3 too
constexpr uint64_t hcr_tpu = 1ull << 24;
constexpr uint64_t hcr_ttlb = 1ull << 25;
constexpr uint64_t hcr_ticab = 1ull << 50;
constexpr uint64_t hcr_tocu = 1ull << 52;
constexpr uint64_t hcr_ttlbis = 1ull << 54;
constexpr uint64_t hcr_ttlbos = 1ull << 55;
constexpr uint64_t hcr_tsw = 1ull << 22;
constexpr uint64_t all_traps = hcr_tpu | hcr_ttlb | hcr_ticab | hcr_tocu | hcr_ttlbis | hcr_ttlbos;
constexpr uint64_t operand = 0x0012'0000'0004'5678;

struct Instruction {
    const char *name;
    unsigned op1, crn, crm, op2;
};
constexpr Instruction ic_ialluis{"IC IALLUIS", 0, 7, 1, 0};
constexpr Instruction ic_iallu{"IC IALLU", 0, 7, 5, 0};
constexpr Instruction ic_ivau{"IC IVAU", 3, 7, 5, 1};
constexpr Instruction dc_cvau{"DC CVAU", 3, 7, 11, 1};

// By the names of the manual, not by EL2's decoding table: CRm and op2 of each.
struct Tlbi {
    const char *name;
    enum tlbi_form form;
    unsigned own, inner, outer, op2;
};
constexpr Tlbi plain[] = {{"VMALLE1", TLBI_VMALLE1, 7, 3, 1, 0}, {"VAE1", TLBI_VAE1, 7, 3, 1, 1},
                          {"ASIDE1", TLBI_ASIDE1, 7, 3, 1, 2},   {"VAAE1", TLBI_VAAE1, 7, 3, 1, 3},
                          {"VALE1", TLBI_VALE1, 7, 3, 1, 5},     {"VAALE1", TLBI_VAALE1, 7, 3, 1, 7}};
constexpr Tlbi ranges[] = {{"RVAE1", TLBI_RVAE1, 6, 2, 5, 1},
                           {"RVAAE1", TLBI_RVAAE1, 6, 2, 5, 3},
                           {"RVALE1", TLBI_RVALE1, 6, 2, 5, 5},
                           {"RVAALE1", TLBI_RVAALE1, 6, 2, 5, 7}};

constexpr uint64_t par_write_back = 0xFFull << 56;
constexpr uint64_t page_of_guest = 0x48000000;
uint64_t translated = par_write_back | page_of_guest; // the value of PAR_EL1
bool asked_as_user = false;

class Maintenance : public testing::Test {
protected:
    static void trapped(SampleManifest &m)
    {
        for (manifest_domain &domain : m.domains) {
            domain.flags |= BH_DOMAIN_FLAG_TRANSLATIONS_TRAPPED | BH_DOMAIN_FLAG_CACHES_TRAPPED;
        }
        m.domains[2].flags = 0; // there is none
    }

    guest_regs &enter(uint32_t core, uint64_t pstate = el1h)
    {
        guest_regs &regs = machine.on_core(core);
        fake_set_sysreg(SYSREG_ID_ELR_EL2, guest_pc);
        fake_set_sysreg(SYSREG_ID_SPSR_EL2, pstate);
        fake_set_sysreg(SYSREG_ID_VBAR_EL1, vectors);
        translated = par_write_back | page_of_guest;
        fake_hook_translation([](uint64_t address, bool user) {
            EXPECT_EQ(address, operand);
            asked_as_user = user;
            return translated;
        });
        return regs;
    }

    // With the operand in a register that the short path has, or in one that only the full path has.
    void execute(const Instruction &what, unsigned reg = 3)
    {
        machine.regs(fake_current_core()).x[reg] = operand;
        machine.trap(esr_sysreg(1, what.op1, what.crn, what.crm, what.op2, reg, false));
    }
    void execute(const Tlbi &what, unsigned crm, bool nxs = false, unsigned reg = 3)
    {
        execute({what.name, 0, nxs ? 9u : 8u, crm, what.op2}, reg);
    }

    uint64_t count(bh_exit_reason reason) const { return machine.exits(fake_current_core(), reason); }
    static uint64_t pc() { return fake_sysreg(SYSREG_ID_ELR_EL2); }
    static void expect_executed(const Tlbi &what, bool everywhere, uint32_t before)
    {
        const fake_tlbi last = fake_last_tlbi();
        EXPECT_EQ(last.count, before + 1) << what.name;
        EXPECT_EQ(last.form, what.form) << what.name;
        EXPECT_EQ(last.everywhere, everywhere) << what.name;
        EXPECT_EQ(last.operand, operand) << what.name;
        EXPECT_EQ(pc(), guest_pc + 4) << what.name;
    }

    static constexpr uint64_t vectors = 0x40080000;
    HostedMachine machine{trapped};
};

TEST_F(Maintenance, T5_OnOneCoreNoTlbiLeavesIt)
{
    for (const Tlbi &one : plain) {
        for (const unsigned crm : {one.own, one.inner}) {
            const uint32_t before = fake_last_tlbi().count;
            enter(alone);
            execute(one, crm);
            expect_executed(one, false, before);
        }
    }
    EXPECT_EQ(count(BH_EXIT_REASON_TLB_MAINTENANCE), 2 * std::size(plain));
    EXPECT_EQ(count(BH_EXIT_REASON_TLB_BROADCAST), 0u);
}

TEST_F(Maintenance, T5_OnSeveralCoresItGoesWhereTheGuestSentIt)
{
    for (const Tlbi &one : plain) {
        for (const unsigned crm : {one.own, one.inner}) {
            const uint32_t before = fake_last_tlbi().count;
            enter(spread);
            execute(one, crm);
            expect_executed(one, crm == one.inner, before);
        }
    }
    EXPECT_EQ(count(BH_EXIT_REASON_TLB_MAINTENANCE), std::size(plain));
    EXPECT_EQ(count(BH_EXIT_REASON_TLB_BROADCAST), std::size(plain));
}

TEST_F(Maintenance, TheWholeWayDoesItOnce)
{
    enter(spread);
    const uint32_t before = fake_last_tlbi().count;
    execute(plain[1], plain[1].inner, false, 25);
    expect_executed(plain[1], true, before);
    enter(spread);
    machine.trap(esr_sysreg(1, 0, 8, 3, 0, 31, false)); // VMALLE1IS has no operand
    EXPECT_EQ(fake_last_tlbi().form, TLBI_VMALLE1);
    EXPECT_EQ(fake_last_tlbi().operand, 0u);
}

TEST_F(Maintenance, FormsThatTheCoreDoesNotHaveAreUndefined)
{
    constexpr unsigned tlb_shift = 56;
    constexpr unsigned xs_shift = 56;
    for (const unsigned level : {0u, 1u, 2u}) { // ID_AA64ISAR0_EL1.TLB
        for (const Tlbi &one : ranges) {
            for (const unsigned crm : {one.own, one.inner, one.outer}) {
                enter(spread);
                fake_set_sysreg(SYSREG_ID_ID_AA64ISAR0_EL1, uint64_t{level} << tlb_shift);
                const uint32_t before = fake_last_tlbi().count;
                execute(one, crm);
                if (level == 2) {
                    expect_executed(one, crm != one.own, before);
                } else {
                    EXPECT_EQ(fake_last_tlbi().count, before) << one.name << level;
                    EXPECT_EQ(pc(), vectors + 0x200) << one.name << level;
                }
            }
        }
        enter(spread);
        const uint32_t before = fake_last_tlbi().count;
        execute(plain[0], plain[0].outer);
        EXPECT_EQ(fake_last_tlbi().count, before + (level >= 1)) << level;
        EXPECT_EQ(pc(), level >= 1 ? guest_pc + 4 : vectors + 0x200) << level;
    }
    for (const bool xs : {false, true}) {
        enter(alone);
        fake_set_sysreg(SYSREG_ID_ID_AA64ISAR1_EL1, uint64_t{xs} << xs_shift);
        const uint32_t before = fake_last_tlbi().count;
        const uint32_t barriers = fake_barriers(FAKE_DSB_SY);
        execute(plain[1], plain[1].inner, true);
        EXPECT_EQ(fake_last_tlbi().count, before + xs);
        EXPECT_EQ(fake_barriers(FAKE_DSB_SY), barriers + xs) << "the guest's DSB nXS would not wait";
    }
}

TEST_F(Maintenance, WhatIsNoInstructionIsUndefined)
{
    enter(alone);
    const uint32_t before = fake_last_tlbi().count;
    for (unsigned crm = 0; crm < 16; crm++) {
        for (unsigned op2 = 0; op2 < 8; op2++) {
            for (const bool read : {false, true}) {
                const bool known = !read && (crm == 3 || crm == 7) && op2 != 4 && op2 != 6;
                if (known) {
                    continue;
                }
                enter(alone);
                machine.trap(esr_sysreg(1, 0, 8, crm, op2, 3, read));
                EXPECT_EQ(pc(), vectors + 0x200) << crm << op2 << read;
            }
        }
    }
    EXPECT_EQ(fake_last_tlbi().count, before);
}

TEST_F(Maintenance, T5_InstructionCachesAreInvalidatedWhereTheDomainIs)
{
    for (const Instruction &one : {ic_iallu, ic_ialluis, ic_ivau}) {
        enter(alone);
        execute(one);
        EXPECT_EQ(pc(), guest_pc + 4) << one.name;
    }
    EXPECT_EQ(fake_barriers(FAKE_ICACHE_INVALIDATE), 3u);
    EXPECT_EQ(fake_barriers(FAKE_ICACHE_INVALIDATE_EVERYWHERE), 0u);
    EXPECT_EQ(count(BH_EXIT_REASON_CACHE_MAINTENANCE), 3u);
    enter(spread);
    execute(ic_iallu);
    EXPECT_EQ(fake_barriers(FAKE_ICACHE_INVALIDATE_EVERYWHERE), 0u);
    execute(ic_ialluis);
    EXPECT_EQ(fake_barriers(FAKE_ICACHE_INVALIDATE_EVERYWHERE), 1u);
    EXPECT_EQ(count(BH_EXIT_REASON_CACHE_BROADCAST), 1u);
}

// By EL2's own address of the line, which is the guest's line only if the cache uses physical addresses.
TEST_F(Maintenance, ALineOfInstructionsOfSeveralCores)
{
    constexpr uint64_t vipt = 2ull << 14;
    constexpr uint64_t pipt = 3ull << 14;
    std::vector<uint64_t> opened;
    machine.on_window([&](uint64_t page) { opened.push_back(page); });
    enter(spread);
    fake_set_sysreg(SYSREG_ID_CTR_EL0, vipt);
    execute(ic_ivau);
    EXPECT_EQ(fake_barriers(FAKE_ICACHE_INVALIDATE_EVERYWHERE), 1u);
    EXPECT_TRUE(opened.empty());
    enter(spread);
    fake_set_sysreg(SYSREG_ID_CTR_EL0, pipt);
    execute(ic_ivau);
    EXPECT_EQ(fake_barriers(FAKE_ICACHE_INVALIDATE_EVERYWHERE), 1u);
    EXPECT_EQ(fake_barriers(FAKE_ICACHE_LINE), 1u);
    EXPECT_EQ(opened, std::vector<uint64_t>{page_of_guest});
    EXPECT_EQ(count(BH_EXIT_REASON_CACHE_BROADCAST), 2u);
}

TEST_F(Maintenance, ALineIsCleanedWhereTheGuestsTablesHaveIt)
{
    std::vector<uint64_t> opened;
    machine.on_window([&](uint64_t page) { opened.push_back(page); });
    for (const uint64_t pstate : {el1h, el0}) {
        enter(alone, pstate);
        execute(dc_cvau);
        EXPECT_EQ(asked_as_user, pstate == el0);
        EXPECT_EQ(pc(), guest_pc + 4);
    }
    EXPECT_EQ(fake_barriers(FAKE_DCACHE_CLEAN_LINE), 2u);
    EXPECT_EQ(opened, (std::vector<uint64_t>{page_of_guest, page_of_guest}));
    EXPECT_EQ(count(BH_EXIT_REASON_CACHE_MAINTENANCE), 2u);
}

TEST_F(Maintenance, ADevicesPageIsNotLookedAt)
{
    machine.on_window([](uint64_t) { ADD_FAILURE() << "EL2 would read a device's registers ahead"; });
    enter(alone);
    translated = 0x04ull << 56 | 0x09000000; // Device-nGnRE
    execute(dc_cvau);
    EXPECT_EQ(pc(), guest_pc + 4);
    EXPECT_EQ(fake_barriers(FAKE_DCACHE_CLEAN_LINE), 0u);
}

// A page that the guest's own tables do not map, because it counts accesses: the guest gets the fault.
TEST_F(Maintenance, WhatTheGuestsTablesDoNotAllowIsAnAbortOfTheGuest)
{
    constexpr uint64_t access_flag_level3 = 0x0B;
    const struct {
        uint64_t pstate;
        uint64_t vector;
        uint64_t exception_class;
    } cases[] = {{el1h, 0x200, 0x25}, {el0, 0x400, 0x24}};
    machine.on_window([](uint64_t) { ADD_FAILURE(); });
    for (const auto &[pstate, vector, exception_class] : cases) {
        enter(alone, pstate);
        translated = access_flag_level3 << 1 | 1;
        execute(dc_cvau);
        EXPECT_EQ(pc(), vectors + vector);
        EXPECT_EQ(fake_sysreg(SYSREG_ID_FAR_EL1), operand);
        EXPECT_EQ(fake_sysreg(SYSREG_ID_ELR_EL1), guest_pc) << "to be tried again";
        EXPECT_EQ(fake_sysreg(SYSREG_ID_ESR_EL1),
                  exception_class << 26 | 1u << 25 | 1u << 8 | 1u << 6 | access_flag_level3);
    }
    enter(alone);
    translated = 1ull << 9 | 0x07 << 1 | 1; // a fault of stage 2: the page has not been accessed
    execute(dc_cvau);
    EXPECT_EQ(pc(), guest_pc + 4);
}

TEST_F(Maintenance, T5_SetAndWayDoesNothingAnywhere)
{
    for (const unsigned crm : {6u, 10u, 14u}) { // DC ISW, CSW, CISW
        enter(spread);
        execute({"by set and way", 0, 7, crm, 2});
        EXPECT_EQ(pc(), guest_pc + 4);
    }
    EXPECT_EQ(count(BH_EXIT_REASON_CACHE_SET_WAY), 3u);
    EXPECT_EQ(fake_barriers(FAKE_DCACHE_LINE) + fake_barriers(FAKE_DCACHE_CLEAN_LINE), 0u);
}

TEST_F(Maintenance, T5_WhatTrapsIsWhatTheCoreLetsEl2Choose)
{
    const struct {
        uint64_t evt;
        uint64_t translations;
        uint64_t caches;
    } cores[] = {{0, hcr_ttlb, hcr_tpu},
                 {1, hcr_ttlb, hcr_ticab | hcr_tocu},
                 {2, hcr_ttlbis | hcr_ttlbos, hcr_ticab | hcr_tocu}};
    struct domain domain = *domain_at(0);
    manifest_domain config = *domain.config;
    domain.config = &config;
    for (const auto &[evt, translations, caches] : cores) {
        fake_set_sysreg(SYSREG_ID_ID_AA64MMFR2_EL1, evt << 56);
        config.flags = 0;
        EXPECT_EQ(guest_hcr(&domain, false) & all_traps, 0u) << evt;
        config.flags = BH_DOMAIN_FLAG_TRANSLATIONS_TRAPPED;
        EXPECT_EQ(guest_hcr(&domain, false) & all_traps, translations) << evt;
        config.flags |= BH_DOMAIN_FLAG_CACHES_TRAPPED;
        EXPECT_EQ(guest_hcr(&domain, true) & all_traps, translations | caches) << evt;
        EXPECT_EQ(guest_hcr(nullptr, false) & all_traps, 0u) << "a core without a VCPU";
        EXPECT_NE(guest_hcr(nullptr, false) & hcr_tsw, 0u);
    }
}

TEST(MaintenanceOfTheMachine, OnlyDomainsThatAskTrap)
{
    HostedMachine machine(
        [](SampleManifest &m) { m.domains[1].flags |= BH_DOMAIN_FLAG_TRANSLATIONS_TRAPPED; });
    for (const uint32_t core : {0u, 1u, 2u, 3u}) {
        EXPECT_EQ(fake_core_sysreg(core, SYSREG_ID_HCR_EL2) & all_traps, core % 2 == 1 ? hcr_ttlb : 0)
            << core;
    }
}

} // namespace
} // namespace maintenance_test
