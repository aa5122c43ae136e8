// SPDX-License-Identifier: Apache-2.0
// Calls of a guest to the board's firmware: those that the manifest lists are forwarded, and no others.
#include "hosted_machine.h"
#include <gtest/gtest.h>

namespace firmware_test {
namespace {

using namespace bulkhead_test;

constexpr uint32_t control_core = 0; // domain 0, which may make some calls
constexpr uint32_t linux_core = 1;

TEST(Firmware, D7_AnswersWhatTheManifestListsAndNothingElse)
{
    uint64_t asked = 0;
    HostedMachine machine(give_calls);
    guest_regs &regs = machine.on_core(control_core);
    set_firmware([&asked](uint64_t function, uint64_t first) {
        asked = function;
        return static_cast<int64_t>(first + 1);
    });
    const auto call = [&](uint64_t function) {
        asked = 0;
        regs.x[0] = function;
        regs.x[1] = 41;
        regs.x[8] = 8;
        machine.trap(esr_smc);
        return regs.x[0];
    };
    for (uint64_t function : {0xC2000010u, 0xC2000013u, 0x84000050u}) {
        EXPECT_EQ(call(function), 42u);
        EXPECT_EQ(asked, function);
        EXPECT_EQ(regs.x[8], 8u);
    }
    EXPECT_EQ(machine.exits(control_core, BH_EXIT_REASON_SMC), 3u);
    for (uint64_t function : {0xC200000Fu, 0xC2000014u, 0x84000054u, 0x82000010u}) {
        EXPECT_EQ(call(function), ~uint64_t{0}) << std::hex << function;
        EXPECT_EQ(asked, 0u);
    }
    EXPECT_EQ(call(0x84000000), 0x10001u) << "PSCI is EL2's";
    machine.on_core(linux_core).x[0] = 0xC2000010;
    machine.trap(esr_smc);
    EXPECT_EQ(asked, 0u) << "another domain";
    set_firmware(nullptr);
}

TEST(Firmware, D7_ACallByHvcIsNotFirmwares)
{
    HostedMachine machine(give_calls);
    guest_regs &regs = machine.on_core(control_core);
    set_firmware([](uint64_t, uint64_t) { return int64_t{42}; });
    regs.x[0] = 0xC2000010;
    machine.trap(esr_hvc);
    EXPECT_EQ(regs.x[0], ~uint64_t{0});
    set_firmware(nullptr);
}

} // namespace
} // namespace firmware_test
