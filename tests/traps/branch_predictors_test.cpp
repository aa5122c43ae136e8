// SPDX-License-Identifier: Apache-2.0
// What each type of core needs so that guests cannot influence its predictions, by its ID registers and its
// firmware; and what guests are told of it (SMCCC, DEN0028 and DEN0070).
#include "hosted_machine.h"
#include <gtest/gtest.h>

extern "C" {
#include "vm/branch_predictors.h"
}

namespace branch_predictors_test {
namespace {

using namespace bulkhead_test;

constexpr uint64_t psci_features = 0x8400000A;
constexpr uint64_t smccc_version = 0x80000000;
constexpr uint64_t arch_features = 0x80000001;
constexpr uint64_t workaround_1 = 0x80008000;
constexpr uint64_t workaround_2 = 0x80007FFF;
constexpr uint64_t workaround_3 = 0x80003FFF;
constexpr int64_t not_supported = -1;
constexpr uint64_t hardened_vectors = 0x800;

constexpr uint64_t midr(uint64_t part, uint64_t variant = 0)
{
    return 0x410F0000 | variant << 20 | part << 4;
}

constexpr uint64_t a53 = midr(0xD03);
constexpr uint64_t a57 = midr(0xD07);
constexpr uint64_t a72 = midr(0xD08);
constexpr uint64_t a73 = midr(0xD09);
constexpr uint64_t a76 = midr(0xD0B);
constexpr uint64_t unknown = 0x420F1230;

// Answers of SMCCC_ARCH_FEATURES about each workaround.
struct Firmware {
    int64_t version = 0x10001; // of the calling convention; 0: PSCI_FEATURES does not know that call
    int64_t first = not_supported;
    int64_t second = not_supported;
    int64_t third = not_supported;
};

struct Core {
    uint64_t midr = 0;
    uint64_t csv2 = 0;
    uint64_t ecbhb = 0;
    uint64_t clrbhb = 0;
    uint64_t ssbs = 0;
};

// What guests are told, and what the core's vectors do.
struct Found {
    int first;
    int second;
    int third;
    uint32_t at_entry;
    bool confined = true;
};

class BranchPredictors : public testing::Test {
protected:
    ~BranchPredictors() override { set_firmware(nullptr); }

    // The first core is of this type, and detects it.
    bool init(const Core &core, const Firmware &firmware)
    {
        calls.clear();
        set_firmware([this, firmware](uint64_t function, uint64_t first) {
            return answer(firmware, function, first);
        });
        fake_set_core_sysreg(0, SYSREG_ID_MIDR_EL1, core.midr);
        fake_set_core_sysreg(0, SYSREG_ID_ID_AA64PFR0_EL1, core.csv2 << 56);
        fake_set_core_sysreg(0, SYSREG_ID_ID_AA64PFR1_EL1, core.ssbs << 4);
        fake_set_core_sysreg(0, SYSREG_ID_ID_AA64MMFR1_EL1, core.ecbhb << 60);
        fake_set_core_sysreg(0, SYSREG_ID_ID_AA64ISAR2_EL1, core.clrbhb << 28);
        fake_set_core_sysreg(0, SYSREG_ID_VBAR_EL2, 0);
        fake_switch_core(0);
        return branch_predictors_init(this_cpu());
    }

    void expect(const char *what, const Core &core, const Firmware &firmware, const Found &found)
    {
        SCOPED_TRACE(what);
        EXPECT_EQ(init(core, firmware), found.confined);
        EXPECT_EQ(this_cpu()->predictors.at_entry, found.at_entry);
        EXPECT_EQ(fake_core_sysreg(0, SYSREG_ID_VBAR_EL2), found.at_entry == 0 ? 0 : hardened_vectors);
        machine->on_core(0);
        const std::pair<uint64_t, int> told[] = {
            {workaround_1, found.first}, {workaround_2, found.second}, {workaround_3, found.third}};
        for (const auto &[workaround, value] : told) {
            EXPECT_EQ(static_cast<int64_t>(machine->hvc(arch_features, workaround)), value)
                << std::hex << workaround;
            // A "not required" workaround may be called, too; it does nothing.
            EXPECT_EQ(static_cast<int64_t>(machine->hvc(workaround)),
                      value == not_supported ? not_supported : 0);
        }
    }

    std::unique_ptr<HostedMachine> machine = std::make_unique<HostedMachine>();
    std::vector<std::pair<uint64_t, uint64_t>> calls;

private:
    int64_t answer(const Firmware &firmware, uint64_t function, uint64_t first)
    {
        calls.emplace_back(function, first);
        switch (function) {
        case psci_features:
            return first == smccc_version && firmware.version != 0 ? 0 : not_supported;
        case smccc_version:
            return firmware.version;
        case arch_features:
            // As a 32-bit call returns it: the upper half is undefined.
            return static_cast<int64_t>(0x1234567800000000 |
                                        static_cast<uint32_t>(first == workaround_1   ? firmware.first
                                                              : first == workaround_2 ? firmware.second
                                                                                      : firmware.third));
        default:
            return 0;
        }
    }
};

TEST_F(BranchPredictors, CoresThatGuessLittleNeedNothingAndAskNobody)
{
    for (uint64_t part : {0xD03, 0xD04, 0xD05}) {
        expect("in order", {.midr = midr(part, 4)}, {}, {1, 1, 1, 0});
        EXPECT_TRUE(calls.empty()) << std::hex << part;
    }
}

TEST_F(BranchPredictors, CoresThatSayThatTheyKeepContextsApartAreBelieved)
{
    expect("targets and history, SSBS", {.midr = unknown, .csv2 = 3, .ssbs = 2}, {}, {1, -1, 1, 0});
    expect("exceptions forget", {.midr = a76, .csv2 = 1, .ecbhb = 1, .ssbs = 1}, {}, {1, -1, 0, 0});
    expect("an instruction", {.midr = a76, .csv2 = 2, .clrbhb = 1, .ssbs = 1}, {},
           {1, -1, 0, AT_ENTRY_CLRBHB});
    expect("A510", {.midr = midr(0xD46), .csv2 = 1, .ssbs = 1}, {}, {1, -1, 1, 0});
}

TEST_F(BranchPredictors, HistoryIsOverwrittenByAsManyBranchesAsTheTypeNeeds)
{
    const std::pair<uint64_t, uint32_t> types[] = {{0xD07, 8},  {0xD08, 8},  {0xD0B, 24},
                                                   {0xD0C, 24}, {0xD40, 32}, {0xD42, 32},
                                                   {0xD49, 32}, {0xD4D, 38}, {0xD4F, 132}};
    for (const auto &[part, branches] : types) {
        expect("loop", {.midr = midr(part, 1), .csv2 = 1, .ssbs = 1}, {}, {1, -1, 0, branches});
    }
}

TEST_F(BranchPredictors, FirmwareIsCalledWhereItHelps)
{
    const Firmware old = {.first = 0, .second = 0};
    const Firmware current = {.first = 0, .second = 0, .third = 0};

    expect("A72, older firmware", {.midr = a72}, old, {0, 1, 0, SMCCC_ARCH_WORKAROUND_1});
    expect("A57", {.midr = a57}, current, {0, 1, 0, SMCCC_ARCH_WORKAROUND_3});
    expect("A73", {.midr = a73}, current, {0, 1, 0, SMCCC_ARCH_WORKAROUND_3});
    expect("A73, history alone", {.midr = a73, .csv2 = 1}, current, {1, 1, 0, SMCCC_ARCH_WORKAROUND_3});
    expect("A72 that firmware calls safe", {.midr = a72}, {.first = 1, .second = 1, .third = 1},
           {1, 1, 0, 8});
    expect("unknown, safe by firmware", {.midr = unknown}, {.first = 1, .second = 1, .third = 1},
           {1, 1, 1, 0});
}

TEST_F(BranchPredictors, OlderStoresAreNotBypassedForGoodWhereFirmwareCanStopIt)
{
    const auto stopped = std::pair<uint64_t, uint64_t>{workaround_2, 1};

    ASSERT_TRUE(init({.midr = a72}, {.first = 0, .second = 0}));
    EXPECT_EQ(std::count(calls.begin(), calls.end(), stopped), 1);
    for (int64_t needless : {1, -2}) {
        expect("needless", {.midr = a72}, {.first = 0, .second = needless},
               {0, 1, 0, SMCCC_ARCH_WORKAROUND_1});
        EXPECT_EQ(std::count(calls.begin(), calls.end(), stopped), 0) << needless;
    }
    expect("SSBS", {.midr = a72, .ssbs = 1}, {.first = 0, .second = 0}, {0, -1, 0, SMCCC_ARCH_WORKAROUND_1});
    EXPECT_EQ(std::count(calls.begin(), calls.end(), stopped), 0);
}

TEST_F(BranchPredictors, WhatNobodyHelpsAgainstIsSaidAndPromisedToNoGuest)
{
    expect("A72, no firmware", {.midr = a72}, {}, {-1, -1, -1, 0, false});
    expect("loads", {.midr = a72}, {.first = 0}, {0, -1, 0, SMCCC_ARCH_WORKAROUND_1, false});
    expect("A73, older firmware", {.midr = a73}, {.first = 0, .second = 0},
           {0, 1, -1, SMCCC_ARCH_WORKAROUND_1, false});
    expect("history of an unknown core", {.midr = unknown, .csv2 = 1, .ssbs = 1}, {}, {1, -1, -1, 0, false});
    expect("unknown answers", {.midr = a72}, {.first = 7, .second = 7, .third = -3}, {-1, -1, -1, 0, false});
}

TEST_F(BranchPredictors, FirmwareIsNotAskedBeforeItHasSaidThatItKnowsTheQuestion)
{
    for (int64_t version : {0x0, 0x10000}) {
        expect("older convention", {.midr = a72}, {.version = version, .first = 0, .second = 0, .third = 0},
               {-1, -1, -1, 0, false});
        for (const auto &[function, first] : calls) {
            EXPECT_TRUE(function == psci_features || (function == smccc_version && version != 0))
                << std::hex << function;
        }
    }
}

TEST_F(BranchPredictors, ABoardWithoutFirmwareHasNobodyToAsk)
{
    machine.reset(); // one at a time
    machine = std::make_unique<HostedMachine>(
        [](SampleManifest &manifest) { manifest.header.platform.psci_method = BH_PSCI_METHOD_NONE; });
    expect("no firmware", {.midr = a72}, {.first = 0, .second = 0, .third = 0}, {-1, -1, -1, 0, false});
    EXPECT_TRUE(calls.empty());
}

TEST_F(BranchPredictors, EachVcpuIsToldOfItsOwnCore)
{
    ASSERT_TRUE(init({.midr = a72}, {.first = 0, .second = 0, .third = 0}));
    machine->on_core(0);
    EXPECT_EQ(machine->hvc(arch_features, workaround_1), 0u);
    machine->on_core(1); // a Cortex-A53
    EXPECT_EQ(machine->hvc(arch_features, workaround_1), 1u);
}

} // namespace
} // namespace branch_predictors_test
