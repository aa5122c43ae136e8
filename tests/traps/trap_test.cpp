// SPDX-License-Identifier: Apache-2.0
// Traps of a guest: which registers and devices are emulated, which are hidden, and which accesses end its
// domain, and only that.
#include "console/console.h"
#include "hosted_machine.h"
#include "time/pmu.h"
#include <array>
#include <gtest/gtest.h>

extern "C" {
#include "run/guest_state.h"
}

namespace trap_test {
namespace {

using namespace bulkhead_test;

constexpr uint64_t guest_pc = 0x40001000;
constexpr uint64_t uart = 0x09000000;
constexpr uint64_t nobodys_address = 0x70000000;
constexpr uint32_t control_core = 0; // domain 0, premapped
constexpr uint32_t linux_core = 1;   // domain 1, lazy

class Traps : public testing::Test {
protected:
    guest_regs &enter(uint32_t core)
    {
        guest_regs &regs = machine.on_core(core);
        fake_set_sysreg(SYSREG_ID_ELR_EL2, guest_pc);
        fake_set_sysreg(SYSREG_ID_SPSR_EL2, 0x3C5);
        return regs;
    }

    HostedMachine machine;
};

uint64_t state_of(const HostedMachine &machine, uint32_t domain)
{
    return machine.status(domain).state;
}

TEST_F(Traps, AGuestStartsAsOutOfReset)
{
    guest_regs &regs = machine.on_core(control_core);
    EXPECT_FALSE(machine.waited());
    EXPECT_EQ(fake_sysreg(SYSREG_ID_ELR_EL2), 0x40000000u);
    EXPECT_EQ(fake_sysreg(SYSREG_ID_SPSR_EL2), 0x3C5u);       // EL1h, everything masked
    EXPECT_EQ(fake_sysreg(SYSREG_ID_SCTLR_EL1) & 0x1005, 0u); // MMU and caches off
    EXPECT_EQ(fake_sysreg(SYSREG_ID_VMPIDR_EL2) & 0xFFFFFF, 0u);
    EXPECT_EQ(fake_sysreg(SYSREG_ID_VTTBR_EL2), machine.status(0).vttbr);
    EXPECT_EQ(fake_sysreg(SYSREG_ID_HCR_EL2) & 1, 1u);
    for (int i = 1; i < 31; i++) {
        EXPECT_EQ(regs.x[i], 0u);
    }
}

TEST_F(Traps, AGuestFindsNothingInTheFloatingPointRegisters)
{
    machine.on_core(control_core);
    EXPECT_EQ(fake_barriers(FAKE_FP_CLEAR), 1u);
    EXPECT_EQ(fake_barriers(FAKE_ICACHE_INVALIDATE_LOCAL), 1u)
        << "nor of an earlier life in this core's cache";
}

TEST_F(Traps, AGuestFindsNothingOfAnEarlierDebuggerOrKey)
{
    // Loaded as by the loader: some pages are a device's.
    const auto set = [](sysreg_id id, uint64_t value) { hosted_sysreg_write(id, value); };

    fake_switch_core(control_core);
    set(SYSREG_ID_ID_AA64DFR0_EL1, 5 << 12 | 3 << 20); // six breakpoints, four watchpoints
    set(SYSREG_ID_ID_AA64ISAR1_EL1, 1 << 8);           // keys for addresses, no generic one
    for (const sysreg_id id : {SYSREG_ID_MDCCINT_EL1, SYSREG_ID_DBGBCR0_EL1, SYSREG_ID_DBGBVR5_EL1,
                               SYSREG_ID_DBGWCR3_EL1, SYSREG_ID_DBGWVR0_EL1, SYSREG_ID_APIAKEYLO_EL1,
                               SYSREG_ID_APDBKEYHI_EL1, SYSREG_ID_CNTV_CVAL_EL0, SYSREG_ID_CNTP_CVAL_EL0}) {
        set(id, 0x1E5);
    }
    const std::array missing{SYSREG_ID_DBGBCR6_EL1, SYSREG_ID_DBGWVR4_EL1, SYSREG_ID_APGAKEYLO_EL1};
    for (const sysreg_id id : missing) {
        set(id, 0x1E5);
    }
    machine.on_core(control_core);
    for (const sysreg_id id : {SYSREG_ID_MDCCINT_EL1, SYSREG_ID_DBGBCR0_EL1, SYSREG_ID_DBGBVR5_EL1,
                               SYSREG_ID_DBGWCR3_EL1, SYSREG_ID_DBGWVR0_EL1, SYSREG_ID_APIAKEYLO_EL1,
                               SYSREG_ID_APDBKEYHI_EL1, SYSREG_ID_CNTV_CVAL_EL0, SYSREG_ID_CNTP_CVAL_EL0}) {
        EXPECT_EQ(hosted_sysreg_read(id), 0u) << id;
    }
    EXPECT_EQ(fake_sysreg(SYSREG_ID_DBGCLAIMCLR_EL1), 0xFFu);
    for (const sysreg_id id : missing) {
        EXPECT_EQ(fake_sysreg(id), 0x1E5u) << "the core has none: EL2 would trap";
    }
}

TEST_F(Traps, AnAbortThatCameTooLateDoesNotEndTheNextLife)
{
    fake_switch_core(control_core);
    fake_pend_serror(true);
    machine.on_core(control_core);
    EXPECT_FALSE(fake_serror_is_pending()) << "the core would take it in the guest";
    EXPECT_EQ(machine.exits(control_core, BH_EXIT_REASON_SERROR), 1u);
}

TEST_F(Traps, WhatBelongsToTheMachineTraps)
{
    EXPECT_EQ(fake_sysreg(SYSREG_ID_HCR_EL2) >> 35 & 3, 3u) << "LORegions and error records";
    EXPECT_EQ(fake_sysreg(SYSREG_ID_CPTR_EL2) >> 30 & 1, 1u) << "activity monitors";
    EXPECT_EQ(fake_sysreg(SYSREG_ID_MDCR_EL2) >> 14 & 1, 1u) << "statistical profiling";
}

TEST_F(Traps, EventCountersAreThereForSomebodyAndNoneIsTouchedThatIsNotArms)
{
    constexpr uint64_t on = 1u << 7;    // HPME
    constexpr uint64_t wide = 1u << 26; // HLP
    const struct {
        uint64_t version;
        bool counts;
        uint32_t backup_events;
        bool enough;
        uint64_t mdcr;
        uint64_t events = 1u << 0x17;
    } cases[] = {
        {0, false, 0, true, 0},         {1, false, 8, true, 6},     {6, false, 0, true, 6},
        {15, false, 0, true, 0},        {0, true, 0, false, 0},     {15, true, 0, false, 0},
        {1, true, 0, true, 5 | on},     {1, true, 8, true, 4 | on}, {6, true, 0, true, 5 | on | wide},
        {1, true, 0, false, 0, 1u << 8}};
    for (const auto &[version, counts, backup_events, enough, expected, events] : cases) {
        struct pmu pmu = {};
        const uint32_t wanted[PMU_COUNTERS] = {counts ? 0x17u : 0u, 0};
        uint64_t mdcr = 0;
        fake_forget_writes();
        fake_hook_sysregs(
            [](sysreg_id id, uint64_t *value) {
                *value = 6u << 11;
                return id == SYSREG_ID_PMCR_EL0;
            },
            nullptr);
        fake_set_sysreg(SYSREG_ID_ID_AA64DFR0_EL1, version << 8);
        fake_set_sysreg(SYSREG_ID_PMCEID0_EL0, events);
        EXPECT_EQ(pmu_init(&pmu, wanted, backup_events, false, &mdcr), enough) << version << counts;
        EXPECT_EQ(mdcr, expected) << version << counts;
        guest_traps_init(mdcr, 0);
        EXPECT_EQ(fake_sysreg(SYSREG_ID_MDCR_EL2) & (0x1F | on | wide), expected) << version << counts;
        bool touched = false;
        for (size_t i = 0; i < fake_write_count(); i++) {
            touched |= fake_write_at(i)->id == SYSREG_ID_PMCR_EL0;
        }
        EXPECT_EQ(touched, version != 0 && version != 15) << version << counts;
        if (counts && enough) {
            EXPECT_EQ(fake_sysreg(SYSREG_ID_PMXEVTYPER_EL0), 0x17u | 1u << 27) << "at EL2 too";
            EXPECT_EQ(fake_sysreg(SYSREG_ID_PMINTENSET_EL1), (backup_events != 0 ? 3u : 1u) << pmu.counter);
            uint64_t values[PMU_COUNTERS] = {1000, 0};
            pmu_start(&pmu, values);
            EXPECT_EQ(fake_sysreg(SYSREG_ID_PMXEVCNTR_EL0), 1000u);
            EXPECT_EQ(fake_sysreg(SYSREG_ID_PMCNTENSET_EL0), (backup_events != 0 ? 3u : 1u) << pmu.counter);
            values[0] = 0;
            pmu_stop(&pmu, values);
            EXPECT_EQ(values[0], 1000u);
            EXPECT_EQ(fake_sysreg(SYSREG_ID_PMCNTENCLR_EL0), (backup_events != 0 ? 3u : 1u) << pmu.counter);
        }
    }
}

TEST_F(Traps, TheSystemRegisterInterfaceOfTheGicCannotBeTurnedOff)
{
    guest_regs &regs = enter(control_core);
    machine.trap(esr_sysreg(3, 0, 12, 12, 5, 4, false)); // ICC_SRE_EL1
    machine.trap(esr_sysreg(3, 0, 12, 12, 5, 4, true));
    EXPECT_EQ(regs.x[4], 7u);
    EXPECT_EQ(fake_sysreg(SYSREG_ID_ELR_EL2), guest_pc + 8);
}

TEST_F(Traps, TheDebugRegistersAreOpenAndAGuestCannotLockThem)
{
    // With the OS lock set, MDSCR_EL1.HDE can be written, and then breakpoints and HLT halt the core, in EL2
    // too.
    EXPECT_EQ(fake_sysreg(SYSREG_ID_MDCR_EL2) >> 10 & 1, 1u) << "the locks trap";
    bool opened = false;
    fake_forget_writes();
    fake_set_sysreg(SYSREG_ID_OSLAR_EL1, 1);
    guest_traps_init(0, false);
    for (size_t i = 0; i < fake_write_count(); i++) {
        opened |= fake_write_at(i)->id == SYSREG_ID_OSLAR_EL1 && fake_write_at(i)->value == 0;
    }
    EXPECT_TRUE(opened);

    guest_regs &regs = enter(control_core);
    fake_forget_writes();
    regs.x[3] = 1;
    machine.trap(esr_sysreg(2, 0, 1, 0, 4, 3, false)); // OSLAR_EL1
    machine.trap(esr_sysreg(2, 0, 1, 3, 4, 3, false)); // OSDLR_EL1
    machine.trap(esr_sysreg(2, 0, 1, 4, 4, 3, false)); // DBGPRCR_EL1
    for (size_t i = 0; i < fake_write_count(); i++) {
        EXPECT_NE(fake_write_at(i)->id, SYSREG_ID_OSLAR_EL1);
        EXPECT_NE(fake_write_at(i)->id, SYSREG_ID_OSDLR_EL1);
    }
    machine.trap(esr_sysreg(2, 0, 1, 1, 4, 4, true)); // OSLSR_EL1
    EXPECT_EQ(regs.x[4], 8u) << "there is a lock, and it is open";
    machine.trap(esr_sysreg(2, 0, 1, 3, 4, 3, true));
    EXPECT_EQ(regs.x[3], 0u);
    EXPECT_EQ(fake_sysreg(SYSREG_ID_ELR_EL2), guest_pc + 5 * 4)
        << "none of them is undefined: Linux opens both";
    EXPECT_EQ(machine.exits(control_core, BH_EXIT_REASON_DEBUG_REGISTER), 5u);
}

TEST_F(Traps, IdRegistersPromiseNoFeatureWhoseRegistersTrap)
{
    const struct {
        sysreg_id id;
        unsigned crm;
        unsigned op2;
        uint64_t real;
        uint64_t shown;
    } cases[] = {
        {SYSREG_ID_ID_AA64PFR0_EL1, 4, 0, 3ull << 56, 1ull << 56}, // CSV2: SCXTNUM_ELx
        {SYSREG_ID_ID_AA64PFR0_EL1, 4, 0, 0, 0},
        {SYSREG_ID_ID_AA64PFR1_EL1, 4, 1, ~0ull, 0xFF},                  // all that is new
        {SYSREG_ID_ID_AA64ISAR0_EL1, 6, 0, 0xFFull << 24, 0xFull << 28}, // TME
        {SYSREG_ID_ID_AA64MMFR1_EL1, 7, 1, 0xFFull << 16, 0xFull << 20}, // LORegions; PAN stays
        {SYSREG_ID_ID_AA64ISAR2_EL1, 6, 2, 0xF000Full, 0xFull},          // MOPS; WFxT stays
        {SYSREG_ID_ID_DFR0_EL1, 1, 2, 0xF0000000, 0},                    // trace filter
    };
    guest_regs &regs = enter(control_core);
    for (const auto &c : cases) {
        fake_set_sysreg(c.id, c.real);
        machine.trap(esr_sysreg(3, 0, 0, c.crm, c.op2, 7, true));
        EXPECT_EQ(regs.x[7], c.shown) << c.crm << " " << c.op2;
    }
}

TEST_F(Traps, IdRegistersHideWhatNobodyWouldHandle)
{
    guest_regs &regs = enter(control_core);
    fake_set_sysreg(SYSREG_ID_ID_AA64PFR0_EL1, ~0ull);
    machine.trap(esr_sysreg(3, 0, 0, 4, 0, 5, true));
    EXPECT_EQ(regs.x[5] >> 40 & 0xF, 0u) << "MPAM";
    EXPECT_EQ(regs.x[5] >> 32 & 0xF, 0u) << "SVE";
    EXPECT_EQ(regs.x[5] >> 12 & 0xF, 0u) << "EL3";
    EXPECT_EQ(regs.x[5] >> 8 & 0xF, 0xFu) << "EL2: else CNTFRQ_EL0 would be the guest's to write";
    EXPECT_EQ(regs.x[5] & 0xFF, 0xFFu) << "EL0 and EL1 are the guest's";
    fake_set_sysreg(SYSREG_ID_ID_AA64DFR0_EL1, ~0ull);
    machine.trap(esr_sysreg(3, 0, 0, 5, 0, 6, true));
    EXPECT_EQ(regs.x[6] >> 8 & 0xF, 0u) << "performance monitors";
    EXPECT_EQ(regs.x[6] >> 12 & 0xF, 0xFu) << "breakpoints";
    EXPECT_EQ(fake_sysreg(SYSREG_ID_ELR_EL2), guest_pc + 8);
    EXPECT_EQ(machine.exits(control_core, BH_EXIT_REASON_ID_REGISTER), 2u);
}

TEST_F(Traps, UnallocatedIdRegistersReadAsZero)
{
    guest_regs &regs = enter(control_core);
    for (unsigned crm = 1; crm <= 7; crm++) {
        for (unsigned op2 = 0; op2 < 8; op2++) {
            regs.x[3] = 0x1234;
            machine.trap(esr_sysreg(3, 0, 0, crm, op2, 3, true));
            EXPECT_EQ(regs.x[3], 0u) << crm << " " << op2;
        }
    }
}

TEST_F(Traps, PerformanceMonitorsAreUndefinedToAGuest)
{
    enter(control_core);
    fake_set_sysreg(SYSREG_ID_VBAR_EL1, 0x40080000);
    machine.trap(esr_sysreg(3, 3, 9, 12, 0, 0, true)); // PMCR_EL0
    EXPECT_EQ(fake_sysreg(SYSREG_ID_ELR_EL1), guest_pc);
    EXPECT_EQ(fake_sysreg(SYSREG_ID_SPSR_EL1), 0x3C5u);
    EXPECT_EQ(fake_sysreg(SYSREG_ID_ESR_EL1) >> 26, 0u);
    EXPECT_EQ(fake_sysreg(SYSREG_ID_ELR_EL2), 0x40080200u);
    EXPECT_EQ(machine.exits(control_core, BH_EXIT_REASON_PMU_REGISTER), 1u);
    EXPECT_EQ(state_of(machine, 0), uint64_t{BH_DOMAIN_STATE_RUNNING});
}

TEST_F(Traps, UndefinedExceptionsUseTheVectorOfTheLevelTheyComeFrom)
{
    const struct {
        uint64_t spsr;
        uint64_t vector;
    } cases[] = {{0x3C4, 0x000}, {0x3C5, 0x200}, {0x3C0, 0x400}, {0x010, 0x600}};
    for (auto [spsr, vector] : cases) {
        enter(control_core);
        fake_set_sysreg(SYSREG_ID_VBAR_EL1, 0x40080000);
        fake_set_sysreg(SYSREG_ID_SPSR_EL2, spsr);
        machine.trap(0x19ull << 26 | 1u << 25); // SVE
        EXPECT_EQ(fake_sysreg(SYSREG_ID_ELR_EL2), 0x40080000 + vector);
        EXPECT_EQ(fake_sysreg(SYSREG_ID_SPSR_EL1), spsr);
        EXPECT_EQ(fake_sysreg(SYSREG_ID_SPSR_EL2), 0x3C5u);
    }
}

TEST(Faults, D7_WithFaultsAbortAGuestHearsOfAnAccessThatNothingAnswers)
{
    constexpr uint64_t fetch = 0x20ull << 26 | 1u << 25 | translation_fault_level3;
    constexpr uint64_t pair = 0x24ull << 26 | 1u << 25 | 1u << 6 | translation_fault_level3;
    const struct {
        uint64_t syndrome;
        uint64_t address;
        uint64_t spsr;
        uint64_t told;
    } cases[] = {
        {esr_load(4, 0), 0x2000000010, 0x3C5, 0x96000010}, {esr_store(4, 0), 0x2000000010, 0x3C5, 0x96000050},
        {esr_load(8, 3), 0x2000000010, 0x3C0, 0x92000010}, {fetch, 0x2000000010, 0x3C5, 0x86000010},
        {fetch, 0x2000000010, 0x3C0, 0x82000010},          {pair, uart, 0x3C5, 0x96000050},
    };
    HostedMachine machine([](SampleManifest &m) { m.domains[0].flags |= BH_DOMAIN_FLAG_FAULTS_ABORT; });
    for (const auto &[syndrome, address, spsr, told] : cases) {
        machine.on_core(control_core);
        fake_set_sysreg(SYSREG_ID_VBAR_EL1, 0x40080000);
        fake_set_sysreg(SYSREG_ID_SPSR_EL2, spsr);
        machine.trap(syndrome, address);
        EXPECT_EQ(fake_sysreg(SYSREG_ID_ESR_EL1), told) << std::hex << syndrome;
        EXPECT_EQ(fake_sysreg(SYSREG_ID_FAR_EL1), address & 0xFFF) << "the virtual address, as EL2 got it";
        EXPECT_EQ(fake_sysreg(SYSREG_ID_ELR_EL2), spsr == 0x3C5 ? 0x40080200u : 0x40080400u);
        EXPECT_EQ(state_of(machine, 0), uint64_t{BH_DOMAIN_STATE_RUNNING});
    }
    EXPECT_EQ(machine.exits(control_core, BH_EXIT_REASON_STAGE2_FAULT), std::size(cases));
    machine.on_core(linux_core);
    machine.trap(esr_load(4, 0), 0x2000000000);
    EXPECT_EQ(state_of(machine, 1), uint64_t{BH_DOMAIN_STATE_CRASHED}) << "it has not asked for that";
}

TEST(Faults, D7_AWriteToFlashIsIgnoredAndWhatCannotBeLeftOutIsNot)
{
    constexpr uint64_t permission_fault = 0x0F;
    const auto refused = [](uint64_t esr) { return (esr & ~0x3Full) | permission_fault; };
    HostedMachine machine;
    machine.on_core(control_core);
    constexpr uint64_t maintenance = 0x24ull << 26 | 1u << 25 | 1u << 8 | 1u << 6;
    for (uint64_t esr : {esr_store(4, 0), esr_store(1, 5), uint64_t{maintenance}}) {
        fake_set_sysreg(SYSREG_ID_ELR_EL2, 0x40080000);
        machine.trap(refused(esr), 0x40000000);
        EXPECT_EQ(fake_sysreg(SYSREG_ID_ELR_EL2), 0x40080004u);
        EXPECT_EQ(state_of(machine, 0), uint64_t{BH_DOMAIN_STATE_RUNNING});
    }
    EXPECT_EQ(machine.exits(control_core, BH_EXIT_REASON_STAGE2_FAULT), 3u);
    machine.trap(refused(0x24ull << 26 | 1u << 25 | 1u << 6), 0x40000000); // a pair: no syndrome
    EXPECT_EQ(state_of(machine, 0), uint64_t{BH_DOMAIN_STATE_CRASHED});
}

TEST_F(Traps, UndefinedExceptionsSetThePrivilegesThatTheGuestAsksFor)
{
    constexpr uint64_t pan = 1ull << 22;
    constexpr uint64_t ssbs = 1ull << 12;
    constexpr uint64_t span = 1ull << 23;
    constexpr uint64_t dssbs = 1ull << 44;
    const struct {
        uint64_t sctlr;
        uint64_t before;
        uint64_t after;
    } cases[] = {{0, 0, pan}, {span, 0, 0}, {span, pan, pan}, {span | dssbs, ssbs, ssbs}, {span, ssbs, 0}};
    for (auto [sctlr, before, after] : cases) {
        enter(control_core);
        fake_set_sysreg(SYSREG_ID_SCTLR_EL1, sctlr);
        fake_set_sysreg(SYSREG_ID_SPSR_EL2, 0x3C5 | before);
        machine.trap(0x19ull << 26 | 1u << 25); // SVE
        EXPECT_EQ(fake_sysreg(SYSREG_ID_SPSR_EL2), 0x3C5 | after);
    }
}

TEST_F(Traps, CacheMaintenanceBySetAndWayDoesNothing)
{
    enter(control_core);
    machine.trap(esr_sysreg(1, 0, 7, 14, 2, 0, false)); // DC CISW
    EXPECT_EQ(fake_sysreg(SYSREG_ID_ELR_EL2), guest_pc + 4);
    EXPECT_EQ(machine.exits(control_core, BH_EXIT_REASON_CACHE_SET_WAY), 1u);
}

TEST_F(Traps, EveryExceptionClassAndRegisterIsSurvived)
{
    for (uint64_t ec = 0; ec < 64; ec++) {
        HostedMachine fresh;
        fresh.on_core(control_core);
        fresh.trap(ec << 26 | 1u << 25);
        EXPECT_EQ(fresh.status(1).state, uint64_t{BH_DOMAIN_STATE_RUNNING}) << "class " << ec;
    }
    for (unsigned iss = 0; iss < 1u << 22; iss += 7) {
        enter(control_core);
        if (machine.status(0).state != BH_DOMAIN_STATE_RUNNING) {
            FAIL() << "a register access ended the domain: " << iss;
        }
        machine.trap(0x18ull << 26 | 1u << 25 | iss);
    }
}

TEST_F(Traps, LoadsFromADeviceAreExtendedAsTheInstructionSays)
{
    guest_regs &regs = enter(linux_core);
    regs.x[1] = 0xABCD;
    machine.trap(esr_store(2, 1), uart + 0x24); // UARTIBRD holds 16 bits
    machine.trap(esr_load(2, 2), uart + 0x24);
    EXPECT_EQ(regs.x[2], 0xABCDu);
    machine.trap(esr_load(2, 2, true, false), uart + 0x24);
    EXPECT_EQ(regs.x[2], 0xFFFFABCDu);
    machine.trap(esr_load(2, 2, true, true), uart + 0x24);
    EXPECT_EQ(regs.x[2], 0xFFFFFFFFFFFFABCDu);
    EXPECT_EQ(fake_sysreg(SYSREG_ID_ELR_EL2), guest_pc + 16);
}

TEST_F(Traps, AnEmulatedInstructionCountsAsExecuted)
{
    constexpr uint64_t step = 1u << 21;   // PSTATE.SS of a guest's debugger
    constexpr uint64_t branch = 3u << 10; // PSTATE.BTYPE
    enter(linux_core);
    fake_set_sysreg(SYSREG_ID_SPSR_EL2, 0x3C5 | step | branch);
    machine.trap(esr_load(4, 0), uart + 0x18);
    EXPECT_EQ(fake_sysreg(SYSREG_ID_ELR_EL2), guest_pc + 4);
    EXPECT_EQ(fake_sysreg(SYSREG_ID_SPSR_EL2), 0x3C5u);
    // In AArch32 those bits are of the IT state.
    fake_set_sysreg(SYSREG_ID_SPSR_EL2, 0x10 | step | branch);
    machine.trap(esr_load(4, 0), uart + 0x18);
    EXPECT_EQ(fake_sysreg(SYSREG_ID_SPSR_EL2), 0x10 | branch);
}

TEST_F(Traps, TrapsOfNewerCoresAreKnownAfterTheStart)
{
    const unsigned known[] = {SYSREG_ID_HFGRTR_EL2,  SYSREG_ID_HFGWTR_EL2,  SYSREG_ID_HFGITR_EL2,
                              SYSREG_ID_HDFGRTR_EL2, SYSREG_ID_HDFGWTR_EL2, SYSREG_ID_HAFGRTR_EL2,
                              SYSREG_ID_HCRX_EL2};
    enter(linux_core);
    for (bool there : {false, true}) {
        fake_set_sysreg(SYSREG_ID_ID_AA64MMFR0_EL1, there ? uint64_t{1} << 56 : 0);
        fake_set_sysreg(SYSREG_ID_ID_AA64MMFR1_EL1, there ? uint64_t{1} << 40 : 0);
        fake_set_sysreg(SYSREG_ID_ID_AA64PFR0_EL1, there ? uint64_t{1} << 44 : 0);
        for (unsigned id : known) {
            fake_set_sysreg(static_cast<sysreg_id>(id), 0x5555);
        }
        guest_traps_init(0, false);
        for (unsigned id : known) {
            EXPECT_EQ(fake_sysreg(static_cast<sysreg_id>(id)), there ? 0u : 0x5555u) << id;
        }
    }
}

TEST_F(Traps, TheZeroRegisterStaysZero)
{
    guest_regs &regs = enter(linux_core);
    regs.x[1] = 0x77;
    machine.trap(esr_store(4, 1), uart + 0x24);
    machine.trap(esr_store(4, 31), uart + 0x24);
    machine.trap(esr_load(4, 1), uart + 0x24);
    EXPECT_EQ(regs.x[1], 0u);
    machine.trap(esr_load(4, 31), uart + 0x18); // must not be stored anywhere
    EXPECT_EQ(regs.pad, 0u);
}

TEST_F(Traps, AnAddressThatIsNotOwnedEndsTheDomainAndNoOther)
{
    enter(control_core);
    machine.trap(esr_load(4, 0), nobodys_address + 0x10);
    EXPECT_TRUE(machine.waited());
    EXPECT_EQ(state_of(machine, 0), uint64_t{BH_DOMAIN_STATE_CRASHED});
    EXPECT_EQ(machine.status(0).end, uint32_t{BH_DOMAIN_END_STAGE2_DATA_ABORT});
    EXPECT_EQ(machine.status(0).fault_address, nobodys_address + 0x10);
    EXPECT_EQ(machine.status(0).fault_pc, guest_pc);
    EXPECT_EQ(state_of(machine, 1), uint64_t{BH_DOMAIN_STATE_RUNNING});
    machine.on_core(linux_core);
    EXPECT_FALSE(machine.waited());
}

TEST_F(Traps, ACrashIsReportedWithItsRegisters)
{
    guest_regs &regs = enter(control_core);
    regs.x[17] = 0xDEADBEEF12345678;
    machine.trap(esr_load(4, 0), nobodys_address);
    console_flush();
    EXPECT_NE(machine.uart_output().find("control: crashed"), std::string::npos) << machine.uart_output();
    EXPECT_NE(machine.uart_output().find("deadbeef12345678"), std::string::npos);
}

TEST_F(Traps, APairedAccessToADeviceEndsTheDomainWithAReason)
{
    enter(linux_core);
    machine.trap(esr_store(4, 0) & ~(1ull << 24), uart); // ISV = 0
    EXPECT_EQ(machine.status(1).end, uint32_t{BH_DOMAIN_END_UNDECODABLE_ACCESS});
    EXPECT_EQ(state_of(machine, 0), uint64_t{BH_DOMAIN_STATE_RUNNING});
}

TEST_F(Traps, AMisalignedAccessToADeviceEndsTheDomain)
{
    enter(linux_core);
    machine.trap(esr_load(4, 0), uart + 2);
    EXPECT_EQ(machine.status(1).end, uint32_t{BH_DOMAIN_END_BAD_DEVICE_ACCESS});
}

TEST_F(Traps, ATableWalkInADeviceIsNotEmulated)
{
    enter(linux_core);
    machine.trap(esr_load(8, 0) | 1u << 7, uart);
    EXPECT_EQ(machine.status(1).end, uint32_t{BH_DOMAIN_END_UNDECODABLE_ACCESS});
}

TEST_F(Traps, ExecutionOutsideEndsTheDomain)
{
    enter(linux_core);
    machine.trap(0x20ull << 26 | 1u << 25 | translation_fault_level3, nobodys_address);
    EXPECT_EQ(machine.status(1).end, uint32_t{BH_DOMAIN_END_STAGE2_INSTRUCTION_ABORT});
}

TEST_F(Traps, AnExternalAbortEndsTheDomain)
{
    enter(linux_core);
    machine.trap((esr_load(4, 0) & ~0x3Full) | 0x10, 0x40000000);
    EXPECT_EQ(machine.status(1).end, uint32_t{BH_DOMAIN_END_EXTERNAL_ABORT});
}

TEST_F(Traps, C2_FirstTouchOfLazyMemoryMapsItsPageAndRetries)
{
    enter(linux_core);
    machine.trap(esr_load(4, 0), 0x40123ABC & ~3ull);
    EXPECT_EQ(fake_sysreg(SYSREG_ID_ELR_EL2), guest_pc) << "the access is done again";
    EXPECT_EQ(machine.exits(linux_core, BH_EXIT_REASON_LAZY_MAP), 1u);
    EXPECT_EQ(state_of(machine, 1), uint64_t{BH_DOMAIN_STATE_RUNNING});
}

TEST_F(Traps, SmcReturnsBehindItselfAndHvcStays)
{
    guest_regs &regs = enter(control_core);
    regs.x[0] = 0x84000000; // PSCI_VERSION
    machine.trap(esr_smc);
    EXPECT_EQ(regs.x[0], 0x10001u);
    EXPECT_EQ(fake_sysreg(SYSREG_ID_ELR_EL2), guest_pc + 4);
    regs.x[0] = 0x84000000;
    machine.trap(esr_hvc);
    EXPECT_EQ(regs.x[0], 0x10001u);
    EXPECT_EQ(fake_sysreg(SYSREG_ID_ELR_EL2), guest_pc + 4);
}

TEST_F(Traps, TheTimerInterruptGoesToTheGuestWithItsPhysicalHalf)
{
    enter(control_core);
    // The guest enables PPI 27 in its redistributor: mirrored to the real one.
    guest_regs &regs = machine.on_core(control_core);
    const std::pair<uint64_t, uint64_t> writes[] = {
        {0x08000000, 2},                 // GICD_CTLR: group 1 on
        {0x080A0014, 0},                 // GICR_WAKER
        {0x080B0080, ~0ull},             // GICR_IGROUPR0
        {0x080B0100, uint64_t{1} << 27}, // GICR_ISENABLER0
    };
    for (auto [address, value] : writes) {
        regs.x[1] = value;
        machine.trap(esr_store(4, 1), address);
    }
    fake_gic_raise(27);
    machine.interrupt();
    EXPECT_EQ(machine.exits(control_core, BH_EXIT_REASON_IRQ_TIMER), 1u);
    EXPECT_TRUE(fake_gic_is_active(27)) << "until the guest deactivates it";
    EXPECT_EQ(fake_gic_sysreg(SYSREG_ID_ICH_LR0_EL2) & 0xFFFFFFFF, 27u);
    EXPECT_EQ(fake_gic_sysreg(SYSREG_ID_ICH_LR0_EL2) >> 61 & 1, 1u) << "HW";
}

} // namespace
} // namespace trap_test
