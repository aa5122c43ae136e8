// SPDX-License-Identifier: Apache-2.0
// PCI functions behind bridges, and functions of one device, on a model of configuration space: what a bridge
// passes, who is quiet when, what guests see, reset of a bus (D3).
#include "hosted_machine.h"
#include "pci_model.h"
#include "smmu_model.h"
#include <gtest/gtest.h>
#include <random>

extern "C" {
#include "arch/hosted/fake_clock.h"
#include "console/console.h"
#include "pci/pci.h"
#include "run/domain_life.h"
#include "vm/clock.h"
#include "vm/cpu.h"
#include "vm/rare_alarm.h"
}

namespace pci_bridge_test {
namespace {

using namespace bulkhead_test;

constexpr uint64_t slot_1 = sample_config_pa + 0x8000, slot_2 = sample_config_pa + 0x10000;
constexpr uint64_t system_reset = 0x84000009;
constexpr uint32_t hypervisor_timer = 26;
constexpr uint32_t all = 0xFFFFFFFF;
constexpr uint32_t port = 8 << 3, other_port = 9 << 3 | 1, unused_port = 10 << 3;
constexpr uint32_t function_id = 0x11E81234, disk_id = 0x00101B36;

// The functions of give_bridges(): `control` has the one behind `port`, `linux` the one behind `other_port`.
// A boot loader has left everything running.
class PciBridges : public testing::Test {
protected:
    PciBridges()
    {
        bus.add(0, 0x00081B36, {}).words[8] = 0x06000000; // the host bridge
        bus.add_bridge(port, sample_bridge_id);
        bus.functions[9 << 3] = bus.add_bridge(other_port, sample_bridge_id); // a root port of no interest
        bus.functions[9 << 3].words[0x0C] |= 0x00800000;
        bus.links[9 << 3];
        bus.add_bridge(unused_port, sample_bridge_id);
        bus.add_behind(port, 0, function_id, {{0x10, 0x100000}});
        PciModel::give_reset(bus.add_behind(other_port, 0, disk_id, {{0x10, 0x4000 | 4}}));
        bus.add_behind(port, 3, function_id, {{0x10, 0x100000}});
        bus.add_behind(unused_port, 0, function_id, {{0x10, 0x100000}});
    }
    void boot(const std::function<void(SampleManifest &)> &change = [](SampleManifest &) {})
    {
        machine = std::make_unique<HostedMachine>(
            [&](SampleManifest &m) {
                give_bridges(m);
                change(m);
            },
            [this] {
                smmu.plug_in(sample_smmu_pa);
                bus.plug_in(sample_config_pa);
            });
    }
    std::string said()
    {
        fake_switch_core(1);
        console_write_start();
        return machine->uart_output();
    }
    uint32_t load(uint32_t core, uint64_t ipa, unsigned bytes = 4)
    {
        machine->on_core(core);
        machine->trap(esr_load(bytes, 0), ipa);
        return static_cast<uint32_t>(machine->regs(core).x[0]);
    }
    void store(uint32_t core, uint64_t ipa, uint32_t value, unsigned bytes = 4)
    {
        machine->on_core(core);
        machine->regs(core).x[0] = value;
        machine->trap(esr_store(bytes, 0), ipa);
    }
    void take_alarm(uint32_t core)
    {
        fake_switch_core(core);
        fake_gic_raise(hypervisor_timer);
        fake_clock_set(std::max(clock_now(), this_cpu()->rare_alarms[RARE_ALARM_RESET]));
        machine->on_core(core);
    }
    // Restarts the domain of the core, which has one VCPU on.
    void restart(
        uint32_t core, const std::function<void()> &meanwhile = [] {})
    {
        const uint32_t before = machine->status(core).restarts;
        machine->on_core(3);
        machine->on_core(core);
        machine->hvc(system_reset);
        for (int i = 0; i < 400 && machine->status(core).restarts == before; i++) {
            meanwhile();
            take_alarm(core);
        }
        EXPECT_EQ(machine->status(core).restarts, before + 1);
    }
    // Both functions are on the bus behind `port`, as functions 0 and 1 of one device.
    static void put_together(SampleManifest &m, uint32_t flags)
    {
        m.header.bridges.count = 1;
        m.bridges[0].memory_bytes = 2 * uint64_t{BH_PCI_WINDOW_BYTES};
        m.functions[1].requester = m.streams[2].stream = 1 << 8 | 1;
        m.functions[0].flags = m.functions[1].flags = flags;
    }
    PciModel::Function &second_function()
    {
        PciModel::Function &one = bus.add_behind(port, 1, disk_id, {{0x10, 0x4000 | 4}});
        behind(port).words[0x0C] = one.words[0x0C] = 0x00800000;
        return one;
    }
    PciModel::Function &behind(uint32_t bridge) { return bus.links.at(bridge).at(0); }
    uint32_t command(uint32_t bridge) { return behind(bridge).command(); }
    void expect_sound() { EXPECT_TRUE(bus.violations.empty()) << bus.violations[0]; }

    SmmuModel smmu;
    PciModel bus;
    std::unique_ptr<HostedMachine> machine;
};

TEST_F(PciBridges, D3_ABridgePassesWhatIsPlanned)
{
    boot();
    ASSERT_TRUE(machine->booted()) << said();
    const auto &words = bus.functions.at(port).words;
    EXPECT_EQ(words.at(0x18) & 0xFFFFFF, 0x010100u) << "one bus";
    EXPECT_EQ(words.at(0x20), 0x10001000u) << "one unit from the BAR on";
    EXPECT_EQ(bus.functions.at(other_port).words.at(0x18) & 0xFFFFFF, 0x020200u);
    EXPECT_EQ(bus.functions.at(other_port).words.at(0x20), 0x10101010u);
    EXPECT_EQ(words.at(PciModel::acs) >> 16, 0x1Fu);
    EXPECT_EQ(bus.functions.at(port).command(), PciModel::memory | PciModel::master | PciModel::intx_off);
    EXPECT_EQ(behind(port).words.at(0x10), sample_bar_pa);
    EXPECT_EQ(behind(other_port).words.at(0x10), sample_wide_bar_pa | 4);
    expect_sound();
}

TEST_F(PciBridges, D3_APortThatCanRefusesRequestsFromBelowToItsOwnRegisters)
{
    PciModel::give_acs(bus.functions.at(port), 0x9F);
    boot();
    ASSERT_TRUE(machine->booted()) << said();
    EXPECT_EQ(bus.functions.at(port).words.at(PciModel::acs) >> 16, 0x11Fu);
    EXPECT_EQ(bus.functions.at(other_port).words.at(PciModel::acs) >> 16, 0x1Fu) << "it cannot";
}

TEST_F(PciBridges, D3_APortWithoutRegistersNeedNotRefuseRequestsToThem)
{
    PciModel::Function &one = bus.functions.at(port);
    PciModel::give_acs(one, 0x9F);
    one.writable[PciModel::acs] = 0x1Fu << 16;
    one.writable[0x10] = one.words[0x10] = 0;
    boot();
    EXPECT_TRUE(machine->booted()) << said();
}

TEST_F(PciBridges, D3_AStopDoesNotWaitForAFunctionThatItsGuestHasReset)
{
    boot();
    PciModel::Function &function = behind(port);
    PciModel::reset(function);
    function.words[0] = PciModel::not_ready;
    machine->on_core(1);
    (void)domain_stop(domain_at(0));
    machine->on_core(0);
    expect_sound();
    EXPECT_EQ(function.command(), 0u);
}

TEST_F(PciBridges, D3_WhatIsBehindBridgesIsQuiet)
{
    boot();
    EXPECT_EQ(command(port), PciModel::memory) << "a domain's, which its guest enables";
    EXPECT_EQ(bus.links.at(port).at(3).command() & (PciModel::memory | PciModel::master), 0u) << "nobody's";
    for (const uint32_t bridge : {port, other_port, unused_port, 9u << 3}) {
        EXPECT_EQ(bus.bus_resets[bridge].count, 1u) << bridge;
    }
    for (const uint32_t bridge : {unused_port, 9u << 3}) {
        const auto &words = bus.functions.at(bridge).words;
        EXPECT_NE(words.at(PciModel::bridge_control) & PciModel::bus_reset, 0u) << "held in reset";
        EXPECT_EQ(words.at(0x18) & 0xFFFFFF, 0u) << "no bus";
        EXPECT_EQ(bus.functions.at(bridge).command(), PciModel::intx_off);
    }
}

TEST_F(PciBridges, D3_ABridgeThatIsNotWhatTheManifestSaysIsNoStart)
{
    struct Row {
        const char *text;
        void (*change)(PciModel::Function &);
    };
    const Row rows[] = {
        {"it is not there", [](PciModel::Function &one) { one.gone = true; }},
        {"another device", [](PciModel::Function &one) { one.words[0] = 0x000D1B36; }},
        {"it is not a bridge", [](PciModel::Function &one) { one.words[0x0C] = 0; }},
        {"its ACS does not isolate", [](PciModel::Function &one) { one.words[0x100] = 0; }},
        {"its ACS does not isolate", [](PciModel::Function &one) { one.words[0x100] = 0x10010001; }},
        {"its ACS does not isolate", [](PciModel::Function &one) { PciModel::give_acs(one, 0x1E); }},
        {"its ACS does not isolate", [](PciModel::Function &one) { PciModel::give_acs(one, 0x1B); }},
        {"its ACS does not isolate", [](PciModel::Function &one) { PciModel::give_acs(one, 0x17); }},
        {"its ACS does not isolate", [](PciModel::Function &one) { PciModel::give_acs(one, 0x0F); }},
        {"its ACS does not isolate",
         [](PciModel::Function &one) { one.writable[PciModel::acs] = 0x000F0000; }},
        {"its ACS does not isolate",
         [](PciModel::Function &one) {
             one.words[PciModel::acs] = 0x0020001F; // egress control, which cannot be turned off
         }},
        {"its registers do not keep", [](PciModel::Function &one) { one.writable[0x18] = 0x00FFFF; }},
        {"its registers do not keep", [](PciModel::Function &one) { one.writable[0x20] = 0xFF00FFF0; }},
        {"its registers do not keep", [](PciModel::Function &one) { one.writable[0x24] = 0; }},
        {"its registers do not keep",
         [](PciModel::Function &one) {
             one.words[4] = 0;
             one.writable[4] = PciModel::memory;
         }},
    };
    for (const Row &row : rows) {
        const PciModel before = bus;
        row.change(bus.functions.at(other_port));
        boot();
        EXPECT_FALSE(machine->booted()) << row.text;
        const std::string text = said();
        EXPECT_NE(text.find("PCI: bridge 00:09.1: "), std::string::npos) << text;
        EXPECT_NE(text.find(row.text), std::string::npos) << text;
        bus = before;
    }
}

TEST_F(PciBridges, D3_ABridgeNeedsNoPrefetchableWindowAndNoTranslationBlocking)
{
    PciModel::Function &one = bus.functions.at(port);
    PciModel::give_acs(one, 0x1D);
    for (const uint32_t offset : {0x24u, 0x28u, 0x2Cu}) {
        one.words[offset] = one.writable[offset] = 0;
    }
    bus.violations.clear();
    boot();
    EXPECT_TRUE(machine->booted()) << said();
    EXPECT_EQ(one.words[PciModel::acs] >> 16, 0x1Du);
}

TEST_F(PciBridges, D3_AFunctionMayTakeASecondUntilItAnswersAfterTheStart)
{
    behind(port).gone = true;
    boot();
    EXPECT_FALSE(machine->booted());
    EXPECT_NE(said().find("PCI: function 01:00.0 of 'control': it is not there"), std::string::npos)
        << said();
    EXPECT_GE(clock_now(), clock_ticks(1'000'000'000));
}

TEST_F(PciBridges, D3_AGuestSeesItsFunctionOnBusZeroAndNoBridge)
{
    boot();
    EXPECT_EQ(load(0, slot_1), function_id);
    EXPECT_EQ(load(1, slot_2), disk_id);
    EXPECT_EQ(load(1, slot_2 + PciModel::express), 0x00920010u) << "integrated in the root complex";
    for (const uint64_t requester : {0u, 1u << 3 | 1, 2u << 3, port, other_port}) {
        EXPECT_EQ(load(0, sample_config_pa + (requester << 12)), all) << requester;
        store(0, sample_config_pa + (requester << 12) + 0x18, 0);
    }
    EXPECT_EQ(bus.functions.at(port).words.at(0x18) & 0xFFFFFF, 0x010100u);
    machine->on_core(0);
    machine->trap(esr_load(4, 0), sample_config_pa + (1 << 20));
    EXPECT_EQ(machine->status(0).end, uint32_t{BH_DOMAIN_END_STAGE2_DATA_ABORT}) << "no second bus";
}

TEST_F(PciBridges, D3_AGuestUsesItsFunctionAlone)
{
    boot();
    store(0, slot_1 + 4, PciModel::master);
    EXPECT_EQ(command(port), PciModel::memory | PciModel::master);
    EXPECT_EQ(command(other_port), PciModel::memory);
    machine->on_core(1);
    (void)domain_stop(domain_at(0));
    machine->on_core(0);
    EXPECT_EQ(command(port), PciModel::intx_off);
    EXPECT_EQ(command(other_port), PciModel::memory);
    expect_sound();
}

TEST_F(PciBridges, D3_ARestartResetsTheBusOfADomain)
{
    boot();
    store(0, slot_1 + 4, PciModel::master);
    store(1, slot_2 + 4, PciModel::master);
    const uint64_t before = clock_now();
    unsigned windows = 0;
    machine->on_window([&](uint64_t) { windows++; });
    restart(0, [&] { EXPECT_EQ(windows, 0u) << "its memory is reused after the reset"; });
    EXPECT_EQ(bus.bus_resets[port].count, 2u);
    EXPECT_EQ(bus.bus_resets[other_port].count, 1u);
    EXPECT_GE(clock_now() - before, clock_ticks(101'000'000));
    EXPECT_EQ(behind(port).words.at(0x10), sample_bar_pa);
    EXPECT_EQ(command(port), PciModel::memory);
    EXPECT_EQ(command(other_port), PciModel::memory | PciModel::master) << "the other domain goes on";
    EXPECT_EQ(load(0, slot_1), function_id);
    restart(1);
    EXPECT_EQ(bus.bus_resets[other_port].count, 2u) << "although it has function-level reset";
    EXPECT_EQ(load(1, slot_2), disk_id);
    expect_sound();
}

TEST_F(PciBridges, D3_AResetOfABusNeedsNoAnswerOfAFunction)
{
    boot();
    behind(port).gone = true;
    const uint64_t before = clock_now();
    restart(0, [&] { behind(port).gone = bus.bus_resets[port].count < 2; });
    bus.violations.clear(); // writes that turn the function off, which is not there
    EXPECT_LT(clock_now() - before, clock_ticks(300'000'000)) << "it waits for nothing before the reset";
    EXPECT_EQ(load(0, slot_1), function_id);
    expect_sound();
}

TEST_F(PciBridges, D3_AFunctionThatStaysAwayAfterTheResetIsReported)
{
    boot();
    restart(0, [&] { behind(port).gone = true; });
    EXPECT_EQ(load(0, slot_1), all);
    EXPECT_NE(said().find("PCI: function 01:00.0 of 'control' is off until its domain's next start"),
              std::string::npos)
        << said();
    expect_sound();
}

TEST_F(PciBridges, D3_FunctionsOfOneDeviceAreForOneDomainOrIsolated)
{
    second_function();
    const auto give_all_to_linux = [](SampleManifest &m) {
        put_together(m, BH_FUNCTION_FLAG_MULTIFUNCTION);
        m.functions[0].domain = 1;
        for (manifest_stream &stream : m.streams) {
            stream.domain = stream.stream == 1 << 8 ? 1 : stream.domain;
        }
        m.domains[0].device_count = 0;
        m.domains[1].first_device = 0;
        m.domains[1].device_count = 3;
    };
    boot(give_all_to_linux);
    ASSERT_TRUE(machine->booted()) << said();
    EXPECT_EQ(load(1, slot_1), function_id);
    EXPECT_EQ(load(1, slot_2), disk_id);
    EXPECT_EQ(load(1, slot_2 + 0xC) >> 16, 0u) << "a device of one function";
    restart(1);
    EXPECT_EQ(bus.bus_resets[port].count, 2u);
    EXPECT_EQ(load(1, slot_1), function_id);
    EXPECT_EQ(load(1, slot_2), disk_id);
    expect_sound();
}

TEST_F(PciBridges, D3_IsolatedFunctionsAreResetOneByOne)
{
    PciModel::give_reset(second_function());
    PciModel::give_acs(behind(port), 0x4C); // direct translated P2P is never enabled
    PciModel::give_acs(bus.links.at(port).at(1), 0);
    constexpr uint32_t flags = uint32_t{BH_FUNCTION_FLAG_MULTIFUNCTION} | BH_FUNCTION_FLAG_ISOLATED;
    boot([](SampleManifest &m) { put_together(m, flags); });
    ASSERT_TRUE(machine->booted()) << said();
    EXPECT_EQ(behind(port).words[PciModel::acs] >> 16, 0xCu);
    store(0, slot_1 + 4, PciModel::master);
    restart(1);
    EXPECT_EQ(bus.bus_resets[port].count, 1u) << "it would reset the other domain's, too";
    EXPECT_EQ(bus.links.at(port).at(1).resets, 2u);
    EXPECT_EQ(command(port), PciModel::memory | PciModel::master);
    behind(port).words[PciModel::acs] &= 0xFFFF; // lost, with a reset that its guest causes
    PciModel::reset(behind(port));
    store(0, slot_1 + 4, PciModel::master);
    EXPECT_EQ(behind(port).words[PciModel::acs] >> 16, 0xCu);
    expect_sound();
}

TEST_F(PciBridges, D3_FunctionsThatTheHardwareDoesNotIsolateAreNoStart)
{
    constexpr uint32_t isolated = uint32_t{BH_FUNCTION_FLAG_MULTIFUNCTION} | BH_FUNCTION_FLAG_ISOLATED;
    second_function();
    boot([](SampleManifest &m) { put_together(m, isolated); });
    EXPECT_FALSE(machine->booted());
    EXPECT_NE(said().find("its ACS does not keep it apart from other functions of its device"),
              std::string::npos)
        << said();
    boot(); // the manifest does not say that the device has several functions
    EXPECT_FALSE(machine->booted());
    EXPECT_NE(said().find("its device has several functions"), std::string::npos) << said();
}

// Whatever a guest does with its configuration space, the bridges and other functions stay as they are.
TEST_F(PciBridges, D3_NoAccessOfAGuestReachesABridge)
{
    boot();
    const PciModel before = bus;
    std::mt19937 engine(4);
    const auto random = [&] { return static_cast<uint32_t>(engine()); };
    for (int i = 0; i < 20000; i++) {
        const unsigned bytes = 1u << random() % 3;
        const uint64_t place = (random() % 2 == 0 ? port << 12 : random() % 0x100000) & ~0xFFFull;
        store(0, sample_config_pa + place + (random() % 0x50 & ~(bytes - 1)), random(), bytes);
    }
    for (const auto &[number, function] : before.functions) {
        EXPECT_EQ(bus.functions.at(number).words, function.words) << number;
    }
    EXPECT_EQ(behind(other_port).words, before.links.at(other_port).at(0).words);
    expect_sound();
}

} // namespace
} // namespace pci_bridge_test
