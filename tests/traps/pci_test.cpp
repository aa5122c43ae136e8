// SPDX-License-Identifier: Apache-2.0
// PCI functions of domains on a model of configuration space: who is quiet when, what a guest reaches of its
// own function and of others, reset (D3), and message interrupts (D4).
#include "hosted_machine.h"
#include "its_guest.h"
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

namespace pci_test {
namespace {

using namespace bulkhead_test;

constexpr uint64_t slot_1 = sample_config_pa + 0x8000, slot_2 = sample_config_pa + 0x10000;
constexpr uint64_t system_reset = 0x84000009;
constexpr uint32_t hypervisor_timer = 26;
constexpr uint32_t all = 0xFFFFFFFF;

class Pci : public testing::Test {
protected:
    Pci()
    {
        bus.add(0, 0x00081B36, {}).words[8] = 0x06000000; // the host bridge
        bus.add(1, 0x11E81234, {{0x10, 0x100000}});
        PciModel::give_reset(bus.add(2, 0x00101B36, {{0x10, 0x4000 | 4}}));
        bus.add(5, 0x100E8086, {{0x10, 0x20000}, {0x14, 0x40 | 1}}); // nobody's
        bus.add(6, 0x00011AF4, {}).words[0x0C] = 0x00800000;
        bus.functions[6 << 3 | 7] = bus.functions[6 << 3]; // and the last function of slot 6
    }
    void boot(const std::function<void(SampleManifest &)> &change = [](SampleManifest &) {})
    {
        machine = std::make_unique<HostedMachine>(
            [&](SampleManifest &m) {
                give_pci(m);
                change(m);
            },
            [this] {
                smmu.plug_in(sample_smmu_pa);
                bus.plug_in(sample_config_pa);
            });
        for (auto &[place, function] : bus.functions) {
            resets_at_start += function.resets;
            function.resets = 0;
        }
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
    // Restarts the second domain. `change` happens to its function while that is reset.
    void restart_with_reset(const std::function<void(PciModel::Function &)> &change)
    {
        machine->on_core(3);
        machine->on_core(1);
        machine->hvc(system_reset);
        change(bus.functions.at(2 << 3));
        for (int i = 0; i < 200 && machine->status(1).restarts == 0; i++) {
            take_alarm();
        }
    }
    // The next step of the second domain's reset.
    void take_alarm()
    {
        fake_gic_raise(hypervisor_timer);
        fake_clock_set(this_cpu()->rare_alarms[RARE_ALARM_RESET]);
        machine->on_core(1);
    }
    uint32_t command(uint32_t slot) { return bus.functions.at(slot << 3).command(); }

    SmmuModel smmu;
    PciModel bus;
    unsigned resets_at_start = 0;
    std::unique_ptr<HostedMachine> machine;
};

// A ring, for example, which a guest would let the function use when it lets it master memory.
TEST_F(Pci, D3_WhatABootLoaderHasSetUpInAFunctionIsReset)
{
    PciModel::Function &function = bus.functions.at(2 << 3);
    function.words[0x50] = 1;
    function.writable[0x50] = 1;
    boot();
    ASSERT_TRUE(machine->booted()) << said();
    EXPECT_EQ(resets_at_start, 1u) << "the only function that has function-level reset";
    EXPECT_EQ(function.words[0x50], 0u);
    EXPECT_EQ(function.words[0x10], sample_wide_bar_pa | 4);
    EXPECT_EQ(function.command(), PciModel::memory);
    EXPECT_GE(clock_now() - *function.reset_at, clock_ticks(100000000));
    EXPECT_TRUE(bus.violations.empty()) << bus.violations[0];
}

TEST_F(Pci, D3_AFunctionThatStaysAwayAfterItsResetAtTheStartIsNoStart)
{
    uint64_t begun = 0;
    bus.on_reset = [&](PciModel::Function &function) {
        function.words[0] = PciModel::not_ready;
        begun = clock_now();
    };
    boot();
    EXPECT_FALSE(machine->booted());
    const std::string text = said();
    EXPECT_NE(text.find("PCI: function 00:02.0 of 'linux': it is not there"), std::string::npos) << text;
    EXPECT_GE(clock_now() - begun, clock_ticks(1000000000));
    EXPECT_LT(clock_now() - begun, clock_ticks(1100000000));
    EXPECT_TRUE(bus.violations.empty()) << bus.violations[0];
}

// They do not depend on the command register: page requests, addresses that a function calls translated,
// substreams.
TEST_F(Pci, D3_TranslationsThatABootLoaderHasEnabledAreOff)
{
    for (const uint32_t place : {1u << 3, 5u << 3}) { // a domain's without reset, and nobody's
        PciModel::Function &one = bus.functions.at(place);
        one.words[0x100] = 0x140u << 20 | 0x001B;
        one.words[0x104] = 0x00011400; // substreams of 20 bits
        one.words[0x140] = 0xFF8u << 20 | 0x0013;
        one.words[0x144] = 0x01000001;
        one.words[0xFF8] = 0x100u << 20 | 0x000F; // as near to the end as it can be; the list is a circle
        one.words[0xFFC] = 0x80050020;
        one.writable[0x104] = 0x00070000;
        one.writable[0x144] = 0x3;
        one.writable[0xFFC] = 0x801F0000;
    }
    boot();
    ASSERT_TRUE(machine->booted()) << said();
    for (const uint32_t place : {1u << 3, 5u << 3}) {
        PciModel::Function &one = bus.functions.at(place);
        EXPECT_EQ(one.words[0x104], 0x00001400u);
        EXPECT_EQ(one.words[0x144], 0x01000000u);
        EXPECT_EQ(one.words[0xFFC], 0x00050020u) << "the size of pages that it translates is as it was";
    }
    EXPECT_TRUE(bus.violations.empty()) << bus.violations[0];
}

// A port would pass a write to such an address to several functions, and not to the SMMU: access control
// services do not redirect it.
TEST_F(Pci, D3_MulticastThatABootLoaderHasEnabledIsOff)
{
    PciModel::Function &one = bus.functions.at(5 << 3);
    one.words[0x100] = 0x140u << 20 | 0x0001;
    one.words[0x140] = 0x100u << 20 | 0x0012; // the list is a circle
    one.words[0x144] = 0x8003001F;            // enabled, with 4 groups of up to 32
    one.writable[0x144] = 0x803F0000;
    boot();
    ASSERT_TRUE(machine->booted()) << said();
    EXPECT_EQ(one.words[0x144], 0x0003001Fu);
    EXPECT_TRUE(bus.violations.empty()) << bus.violations[0];
}

TEST_F(Pci, D3_AtTheStartNoFunctionMastersMemory)
{
    boot();
    ASSERT_TRUE(machine->booted()) << said();
    EXPECT_EQ(command(5), PciModel::intx_off) << "nobody's";
    EXPECT_EQ(command(6), PciModel::intx_off);
    EXPECT_EQ(bus.functions.at(6 << 3 | 7).command(), PciModel::intx_off) << "another function of its device";
    EXPECT_EQ(command(1), PciModel::memory) << "a domain's, which its guest enables";
    EXPECT_EQ(command(0), PciModel::memory | PciModel::master) << "the host bridge";
    EXPECT_EQ(bus.functions.at(2 << 3).words[PciModel::msi] >> 16 & 1, 0u) << "messages of the boot loader's";
    EXPECT_TRUE(bus.violations.empty()) << bus.violations[0];
    EXPECT_NE(said().find("PCI: 2 functions of domains, all others are off"), std::string::npos) << said();
}

TEST_F(Pci, D3_RangesThatABootLoaderHasEnabledDoNotAnswer)
{
    PciModel::Function &physical = bus.functions.at(5 << 3);
    physical.words[0x100] = 0x140u << 20 | 0x0001;
    physical.words[0x140] = 0x100u << 20 | 0x0010; // SR-IOV; the list is a circle
    physical.words[0x148] = 0x19;
    physical.writable[0x148] = 0x1F;
    boot();
    EXPECT_EQ(physical.words[0x148], 0x10u) << "virtual functions, and their registers";
    EXPECT_EQ(bus.functions.at(1 << 3).words[0x30], 0u) << "the expansion ROM";
    bus.functions.at(1 << 3).words[0x30] = 0xFFFC0001;
    machine->on_core(0);
    machine->hvc(system_reset);
    EXPECT_EQ(bus.functions.at(1 << 3).words[0x30], 0u);
    EXPECT_TRUE(bus.violations.empty()) << bus.violations[0];
}

TEST_F(Pci, D3_CapabilitiesEndWhereTheExtendedOnesBegin)
{
    PciModel::Function &function = bus.functions.at(1 << 3);
    function.words[4] |= 1u << 20;
    function.words[0x34] = 0xFC;
    function.words[0xFC] = 0x00020010; // PCI Express, whose other registers would be extended ones
    function.words[0x100] = 1u << 28;
    function.writable[0x104] = all;
    boot();
    ASSERT_TRUE(machine->booted()) << said();
    EXPECT_EQ(load(0, slot_1 + 0x34), 0u);
    machine->on_core(0);
    machine->hvc(system_reset);
    EXPECT_EQ(function.words[0x104], 0u);
    EXPECT_EQ(machine->status(0).restarts, 1u);
}

TEST_F(Pci, D3_ReadsOfAGuestDoNotReachTheHardware)
{
    boot();
    const unsigned reads = bus.reads;
    for (uint64_t offset = 0; offset < 0x1000; offset += 4) {
        (void)load(1, slot_2 + offset);
    }
    EXPECT_EQ(bus.reads, reads) << "its core waits for the function, perhaps for long";
    EXPECT_EQ(load(1, slot_2 + PciModel::express + 8), 0x2810u);
}

TEST_F(Pci, D3_RegistersAnswerWhenTheGuestGoesOn)
{
    boot();
    EXPECT_FALSE(bus.functions.at(1 << 3).unanswered) << "the write that enables them has arrived";
    store(0, slot_1 + 4, PciModel::master);
    EXPECT_FALSE(bus.functions.at(1 << 3).unanswered);
}

TEST_F(Pci, D3_AFunctionThatItsGuestHasResetGetsItsBarsAgain)
{
    boot();
    PciModel::Function &function = bus.functions.at(1 << 3);
    PciModel::reset(function);
    store(0, slot_1 + 4, PciModel::master);
    EXPECT_EQ(function.words[0x10], sample_bar_pa);
    EXPECT_EQ(function.command(), PciModel::memory | PciModel::master);
    PciModel::reset(function);
    store(0, slot_1 + 4, PciModel::master);
    EXPECT_EQ(function.words[0x10], sample_bar_pa) << "also if the guest writes the same value again";
    EXPECT_EQ(function.command(), PciModel::memory | PciModel::master);
    PciModel::reset(function);
    EXPECT_TRUE(bus.violations.empty()) << bus.violations[0];
}

// With BARs of another size, as an FPGA can have them, it would answer at BARs of other functions.
TEST_F(Pci, D3_AFunctionThatItsGuestHasResetAnswersNowhereAfterTheStop)
{
    boot();
    PciModel::Function &function = bus.functions.at(1 << 3);
    PciModel::reset(function);
    function.writable[0x10] = 0xF0000000;
    machine->on_core(0);
    const unsigned writes = bus.writes;
    machine->on_core(1);
    (void)domain_stop(domain_at(0));
    EXPECT_EQ(bus.writes, writes) << "EL2 does not know the function's BARs";
    machine->on_core(0);
    EXPECT_EQ(function.words[0x10], 0u);
    EXPECT_EQ(command(1), PciModel::intx_off);
    EXPECT_TRUE(bus.violations.empty()) << bus.violations[0];
}

TEST_F(Pci, D3_FunctionsOfADomainWhoseVcpusAreOffAreOffAtItsStop)
{
    constexpr uint64_t cpu_off = 0x84000002;
    boot();
    store(0, slot_1 + 4, PciModel::master);
    machine->hvc(cpu_off);
    EXPECT_EQ(command(1), PciModel::memory | PciModel::master) << "the domain runs";
    machine->on_core(1);
    (void)domain_stop(domain_at(0));
    EXPECT_EQ(command(1), PciModel::intx_off);
}

TEST_F(Pci, D3_AFunctionThatItsGuestHasChangedIsOff)
{
    const std::function<void(PciModel::Function &)> changes[] = {
        [](PciModel::Function &one) { one.writable[0x10] = 0xFFE00000; },
        [](PciModel::Function &one) { one.words[0] = 0x11E91234; },
        [](PciModel::Function &one) { one.gone = true; },
    };
    for (const auto &change : changes) {
        const PciModel before = bus;
        boot();
        PciModel::Function &function = bus.functions.at(1 << 3);
        PciModel::reset(function);
        change(function);
        store(0, slot_1 + 4, PciModel::master);
        EXPECT_EQ(function.command() & (PciModel::memory | PciModel::master), 0u);
        EXPECT_EQ(load(0, slot_1), all);
        EXPECT_EQ(machine->status(0).state, uint32_t{BH_DOMAIN_STATE_RUNNING});
        EXPECT_TRUE(bus.violations.empty()) << bus.violations[0];
        EXPECT_NE(said().find("00:01.0 of 'control' is off until its domain's next start"), std::string::npos)
            << said();
        bus = before;
    }
}

// PCI Express Base 2.3.2: only the first register of such a function is read at once.
TEST_F(Pci, D3_AWriteIsRepeatedUntilAFunctionThatItsGuestHasResetIsReady)
{
    boot();
    PciModel::Function &function = bus.functions.at(1 << 3);
    const uint32_t id = function.words[0];
    store(0, slot_1 + 4, PciModel::master);
    PciModel::reset(function);
    function.words[0] = PciModel::not_ready;
    fake_set_sysreg(SYSREG_ID_ELR_EL2, 0x1000);
    const unsigned writes = bus.writes, reads = bus.reads;
    for (unsigned i = 1; i <= 3; i++) {
        store(0, slot_1 + 4, PciModel::master);
        EXPECT_EQ(fake_sysreg(SYSREG_ID_ELR_EL2), 0x1000u) << "the guest repeats it";
        EXPECT_EQ(bus.reads - reads, i) << "one access for each";
    }
    EXPECT_EQ(bus.writes, writes);
    EXPECT_EQ(load(0, slot_1), id) << "reads of the guest do not wait";
    function.words[0] = id;
    store(0, slot_1 + 4, PciModel::master);
    EXPECT_EQ(function.command(), PciModel::memory | PciModel::master);
    EXPECT_TRUE(bus.violations.empty()) << bus.violations[0];
}

TEST_F(Pci, D3_AFunctionThatIsNotReadyForASecondIsLost)
{
    boot();
    PciModel::Function &function = bus.functions.at(1 << 3);
    PciModel::reset(function);
    function.words[0] = PciModel::not_ready;
    machine->on_core(0);
    fake_set_sysreg(SYSREG_ID_ELR_EL2, 0x1000);
    store(0, slot_1 + 4, PciModel::master);
    EXPECT_EQ(fake_sysreg(SYSREG_ID_ELR_EL2), 0x1000u);
    fake_clock_set(clock_now() + clock_ticks(1'000'000'000));
    store(0, slot_1 + 4, PciModel::master);
    EXPECT_EQ(fake_sysreg(SYSREG_ID_ELR_EL2), 0x1004u);
    EXPECT_EQ(load(0, slot_1), all);
    EXPECT_NE(said().find("is off until its domain's next start"), std::string::npos) << said();
    EXPECT_TRUE(bus.violations.empty()) << bus.violations[0];
}

TEST_F(Pci, D3_ALostFunctionThatAnswersAgainIsOffAfterTheStop)
{
    boot();
    PciModel::Function &function = bus.functions.at(1 << 3);
    store(0, slot_1 + 4, PciModel::master);
    function.gone = true;
    store(0, slot_1 + 4, PciModel::master | PciModel::intx_off);
    EXPECT_EQ(load(0, slot_1), all);
    function.gone = false;
    machine->on_core(1);
    (void)domain_stop(domain_at(0));
    machine->on_core(0);
    EXPECT_EQ(function.command(), PciModel::intx_off);
    EXPECT_TRUE(bus.violations.empty()) << bus.violations[0];
}

TEST_F(Pci, D3_AFunctionThatLosesItsBarsWhileItIsEnabledIsOff)
{
    boot();
    bus.on_command = [&](uint32_t) { PciModel::reset(bus.functions.at(1 << 3)); };
    store(0, slot_1 + 4, PciModel::master);
    EXPECT_EQ(command(1), PciModel::intx_off);
    EXPECT_EQ(load(0, slot_1), all);
}

TEST_F(Pci, D3_AFunctionWithAnotherBarAfterItsResetIsOff)
{
    boot();
    restart_with_reset([](PciModel::Function &function) { function.writable[0x10] = 0xFFFF8000; });
    EXPECT_EQ(machine->status(1).restarts, 1u) << "the domain does not depend on it";
    EXPECT_EQ(load(1, slot_2), all);
    store(1, slot_2 + 4, PciModel::master);
    EXPECT_EQ(command(2) & (PciModel::memory | PciModel::master), 0u);
    EXPECT_NE(said().find("is off until its domain's next start: a BAR has another size or kind"),
              std::string::npos)
        << said();
}

TEST_F(Pci, D3_AFunctionMayTakeASecondUntilItAnswersAfterItsReset)
{
    for (const bool says_so : {false, true}) {
        const PciModel before = bus;
        boot();
        PciModel::Function &function = bus.functions.at(2 << 3);
        machine->on_core(3);
        machine->on_core(1);
        machine->hvc(system_reset);
        const uint64_t start = clock_now();
        function.gone = !says_so;
        function.words[0] = says_so ? PciModel::not_ready : function.words[0];
        const unsigned reads = bus.reads;
        while (clock_now() < start + clock_ticks(900000000)) {
            take_alarm();
            ASSERT_EQ(machine->status(1).restarts, 0u);
        }
        EXPECT_LE(bus.reads - reads, 82u) << "every 10 ms";
        function.gone = false;
        function.words[0] = 0x00101B36;
        take_alarm();
        EXPECT_EQ(machine->status(1).restarts, 1u);
        EXPECT_EQ(function.resets, 1u);
        EXPECT_EQ(load(1, slot_2), 0x00101B36u);
        EXPECT_EQ(command(2), PciModel::memory);
        EXPECT_TRUE(bus.violations.empty()) << bus.violations[0];
        bus = before;
    }
}

TEST_F(Pci, D3_AFunctionThatNeverAnswersDelaysARestartByASecond)
{
    boot();
    const uint64_t start = clock_now();
    restart_with_reset([](PciModel::Function &function) { function.gone = true; });
    EXPECT_EQ(machine->status(1).restarts, 1u);
    EXPECT_GE(clock_now() - start, clock_ticks(1000000000));
    EXPECT_LE(clock_now() - start, clock_ticks(1020000000));
}

TEST_F(Pci, D3_AFunctionThatItsGuestHasResetBeforeTheStopIsResetWhenItAnswers)
{
    boot();
    PciModel::Function &function = bus.functions.at(2 << 3);
    PciModel::reset(function);
    function.gone = true;
    machine->on_core(3);
    machine->on_core(1);
    machine->hvc(system_reset);
    take_alarm();
    EXPECT_EQ(function.resets, 0u);
    function.gone = false;
    take_alarm();
    EXPECT_EQ(function.resets, 1u);
    take_alarm();
    EXPECT_EQ(machine->status(1).restarts, 1u);
    EXPECT_EQ(load(1, slot_2), 0x00101B36u);
}

// A core that stops the domain may wait meanwhile.
TEST_F(Pci, D3_AStartIsOneWriteForEachFunction)
{
    boot();
    machine->on_core(0);
    pci_domain_stop(domain_at(0));
    EXPECT_TRUE(pci_domain_is_reset(domain_at(0)));
    EXPECT_EQ(command(1), PciModel::memory | PciModel::intx_off);
    EXPECT_EQ(bus.functions.at(1 << 3).words[0x10], sample_bar_pa);
    EXPECT_FALSE(bus.functions.at(1 << 3).unanswered);
    const unsigned reads = bus.reads, writes = bus.writes;
    pci_domain_start(domain_at(0));
    EXPECT_EQ(bus.reads, reads);
    EXPECT_EQ(bus.writes, writes + 1);
    EXPECT_EQ(command(1), PciModel::memory);
}

TEST_F(Pci, D3_AFunctionWhoseCapabilitiesAreGoneForAWhileIsResetAgain)
{
    const std::pair<std::function<void(PciModel::Function &)>, const char *> changes[] = {
        {[](PciModel::Function &one) { one.words[4] &= ~(1u << 20); },
         "it has other capabilities than at the start"},
        {[](PciModel::Function &one) { one.words[PciModel::msi] = all; },
         "its list of capabilities cannot be read"},
        {[](PciModel::Function &one) { one.words[PciModel::express + 4] = 0; },
         "it has other capabilities than at the start"},
    };
    for (const auto &[change, text] : changes) {
        const PciModel before = bus;
        boot();
        PciModel::Function &function = bus.functions.at(2 << 3);
        const PciModel::Function whole = function;
        PciModel::reset(function);
        change(function);
        store(1, slot_2 + 4, PciModel::master);
        EXPECT_EQ(load(1, slot_2), all) << text;
        function = whole;
        restart_with_reset([](PciModel::Function &) {});
        EXPECT_EQ(function.resets, 1u) << text;
        EXPECT_EQ(load(1, slot_2), 0x00101B36u);
        EXPECT_NE(said().find(text), std::string::npos) << said();
        bus = before;
    }
}

// Both domains have their first VCPU on one core.
TEST_F(Pci, D3_TheEarlierOfTwoResetsEndsTheCoresWait)
{
    PciModel::give_reset(bus.functions.at(1 << 3));
    boot();
    machine->on_core(1);
    pci_domain_stop(domain_at(1));
    EXPECT_FALSE(pci_domain_is_reset(domain_at(1)));
    const uint64_t first = this_cpu()->rare_alarms[RARE_ALARM_RESET];
    fake_clock_set(clock_now() + clock_ticks(10000000));
    pci_domain_stop(domain_at(0));
    EXPECT_FALSE(pci_domain_is_reset(domain_at(0)));
    EXPECT_EQ(this_cpu()->rare_alarms[RARE_ALARM_RESET], first);
    fake_clock_set(first);
    (void)rare_alarm_take();
    EXPECT_TRUE(pci_domain_is_reset(domain_at(1)));
    EXPECT_FALSE(pci_domain_is_reset(domain_at(0)));
    EXPECT_GT(this_cpu()->rare_alarms[RARE_ALARM_RESET], first);
}

TEST_F(Pci, D3_AStepOfAResetIsOneFunction)
{
    PciModel::give_reset(bus.functions.at(1 << 3));
    boot([](SampleManifest &m) {
        m.functions[1].domain = m.streams[2].domain = 0;
        std::swap(m.devices[1], m.devices[2]);
        m.domains[0].device_count = 2;
        m.domains[1].first_device = 2;
        m.domains[1].device_count = 1;
    });
    ASSERT_TRUE(machine->booted()) << said();
    const PciModel::Function &one = bus.functions.at(1 << 3), &other = bus.functions.at(2 << 3);
    machine->on_core(0);
    pci_domain_stop(domain_at(0));
    EXPECT_FALSE(pci_domain_is_reset(domain_at(0)));
    EXPECT_EQ(one.resets + other.resets, 1u);
    EXPECT_EQ(this_cpu()->rare_alarms[RARE_ALARM_RESET], clock_now()) << "interrupts come between";
    EXPECT_FALSE(pci_domain_is_reset(domain_at(0)));
    EXPECT_EQ(one.resets + other.resets, 2u);
    fake_clock_set(clock_now() + clock_ticks(100000000));
    EXPECT_FALSE(pci_domain_is_reset(domain_at(0)));
    EXPECT_EQ((one.words.at(0x10) & 0xFFFFFFF0) != 0, (other.words.at(0x10) & 0xFFFFFFF0) == 0);
    EXPECT_TRUE(pci_domain_is_reset(domain_at(0)));
    EXPECT_TRUE(bus.violations.empty()) << bus.violations[0];
}

TEST_F(Pci, D3_BarsAreWhereTheManifestSays)
{
    boot();
    EXPECT_EQ(bus.functions.at(1 << 3).words[0x10], sample_bar_pa);
    EXPECT_EQ(bus.functions.at(2 << 3).words[0x10], sample_wide_bar_pa | 4);
    EXPECT_EQ(load(0, slot_1 + 0x10), sample_bar_pa);
    store(0, slot_1 + 0x10, all);
    EXPECT_EQ(load(0, slot_1 + 0x10), 0xFFF00000u);
    store(0, slot_1 + 0x10, sample_wide_bar_pa);
    EXPECT_EQ(load(0, slot_1 + 0x10), sample_bar_pa);
    EXPECT_EQ(bus.functions.at(1 << 3).words[0x10], sample_bar_pa) << "and the hardware's has never moved";
    EXPECT_TRUE(bus.violations.empty()) << bus.violations[0];
}

TEST_F(Pci, D3_AGuestSeesItsOwnFunctionsAlone)
{
    boot();
    EXPECT_EQ(load(0, slot_1), 0x11E81234u);
    EXPECT_EQ(load(0, slot_1 + 2, 2), 0x11E8u);
    EXPECT_EQ(load(0, slot_1 + 1, 1), 0x12u);
    EXPECT_EQ(load(1, slot_2), 0x00101B36u);
    for (uint64_t other : {sample_config_pa, slot_2, sample_config_pa + 0x28000, slot_1 + 0x1000}) {
        EXPECT_EQ(load(0, other), all) << std::hex << other;
        EXPECT_EQ(load(0, other, 1), 0xFFu);
        store(0, other + 4, PciModel::memory | PciModel::master);
    }
    EXPECT_EQ(command(2), PciModel::memory);
    EXPECT_EQ(command(5), PciModel::intx_off);
    EXPECT_EQ(machine->exits(0, BH_EXIT_REASON_PCI_ACCESS), 15u);
    EXPECT_EQ(machine->status(0).state, uint32_t{BH_DOMAIN_STATE_RUNNING});
}

TEST_F(Pci, D3_AGuestMastersMemoryWithItsOwnFunction)
{
    boot();
    store(0, slot_1 + 4, PciModel::memory | PciModel::master | 0x143, 2);
    EXPECT_EQ(command(1), PciModel::memory | PciModel::master);
    EXPECT_EQ(load(0, slot_1 + 4, 2), PciModel::memory | PciModel::master);
    store(0, slot_1 + 5, 4, 1);
    EXPECT_EQ(command(1), PciModel::memory | PciModel::master | PciModel::intx_off);
    store(0, slot_1 + 4, 0);
    EXPECT_EQ(command(1), PciModel::memory) << "its registers always answer";
}

TEST_F(Pci, D3_AccessesThatPciDoesNotHaveEndTheDomain)
{
    for (const auto &[bytes, offset] : {std::pair{8u, 0u}, {4u, 2u}, {2u, 1u}}) {
        boot();
        machine->on_core(0);
        machine->trap(esr_load(bytes, 0, false, bytes == 8), slot_1 + offset);
        EXPECT_EQ(machine->status(0).end, uint32_t{BH_DOMAIN_END_BAD_DEVICE_ACCESS}) << bytes;
    }
}

TEST_F(Pci, D3_ADomainWithoutAFunctionHasNoConfigurationSpace)
{
    boot([](SampleManifest &m) { m.header.functions.count = 1; });
    machine->on_core(1);
    machine->trap(esr_load(4, 0), slot_2);
    EXPECT_EQ(machine->status(1).end, uint32_t{BH_DOMAIN_END_STAGE2_DATA_ABORT});
}

TEST_F(Pci, D3_AStoppedDomainsFunctionsMasterNothing)
{
    boot();
    store(0, slot_1 + 4, PciModel::master);
    ASSERT_EQ(command(1), PciModel::memory | PciModel::master);
    machine->on_core(1);
    store(1, slot_2 + 4, PciModel::master);
    const unsigned reads = bus.reads, writes = bus.writes;
    (void)domain_stop(domain_at(0));
    EXPECT_EQ(bus.reads, reads) << "another domain's core does not wait for the function";
    EXPECT_EQ(bus.writes, writes) << "its VCPU may still read its registers";
    machine->on_core(0);
    EXPECT_EQ(command(1), PciModel::intx_off) << "its VCPU is off";
    EXPECT_EQ(bus.reads, reads);
    EXPECT_EQ(command(2), PciModel::memory | PciModel::master) << "the other domain goes on";
}

TEST_F(Pci, D3_FunctionsAreOnUntilTheLastVcpuIsOff)
{
    boot();
    store(1, slot_2 + 4, PciModel::master);
    constexpr uint64_t cpu_on = 0xC4000003;
    machine->on_core(1);
    machine->hvc(cpu_on, 1, 0x40004000, 0);
    machine->on_core(3);
    ASSERT_EQ(domain_at(1)->vcpus[1].power, uint32_t{VCPU_ON});
    machine->on_core(0);
    (void)domain_stop(domain_at(1));
    machine->on_core(1);
    EXPECT_EQ(command(2), PciModel::memory | PciModel::master) << "its registers answer";
    machine->on_core(3);
    EXPECT_EQ(command(2), PciModel::intx_off);
}

// Its core may be late.
TEST_F(Pci, D3_AFunctionThatRunsAgainIsNotTurnedOff)
{
    boot();
    restart_with_reset([](PciModel::Function &) {});
    pci_domain_off(domain_at(1));
    EXPECT_EQ(command(2), PciModel::memory);
}

TEST_F(Pci, D3_AWriteOfAStoppedDomainsVcpuEnablesNothing)
{
    boot();
    machine->on_core(0);
    (void)domain_stop(domain_at(0)); // its VCPU is in EL2, about to write
    mmio_access access = {
        .offset = 0x8004, .value = PciModel::master, .bytes = 2, .write = true, .again = false};
    EXPECT_TRUE(pci_config_access(domain_at(0), &access));
    EXPECT_EQ(command(1), PciModel::memory);
}

TEST_F(Pci, D3_AFunctionWithoutResetIsRestartedAtOnce)
{
    boot();
    store(0, slot_1 + 4, PciModel::master);
    machine->on_core(0);
    machine->hvc(system_reset);
    EXPECT_EQ(machine->status(0).restarts, 1u);
    EXPECT_EQ(command(1), PciModel::memory);
    EXPECT_EQ(load(0, slot_1 + 4, 2), 0u);
}

TEST_F(Pci, D3_AFunctionIsResetBeforeItsDomainsMemoryIsReused)
{
    boot();
    store(1, slot_2 + 4, PciModel::master);
    PciModel::Function &function = bus.functions.at(2 << 3);
    unsigned windows = 0;
    machine->on_window([&](uint64_t) { windows++; });
    machine->on_core(3);
    machine->on_core(1);
    const uint64_t before = clock_now();
    machine->hvc(system_reset);
    EXPECT_EQ(function.resets, 1u);
    EXPECT_EQ(machine->status(1).restarts, 0u) << "it takes 100 ms";
    EXPECT_EQ(windows, 0u);
    EXPECT_TRUE(machine->waited()) << "its core waits at EL2, and takes interrupts";
    EXPECT_LT(clock_now() - before, clock_ticks(10000000));
    EXPECT_EQ(function.words[0x10], 4u) << "the reset has cleared the BAR";

    const uint64_t alarm = this_cpu()->rare_alarms[RARE_ALARM_RESET];
    EXPECT_GE(alarm, before + clock_ticks(100000000));
    fake_gic_raise(hypervisor_timer);
    fake_clock_set(alarm);
    machine->on_core(1);
    EXPECT_EQ(machine->status(1).restarts, 1u);
    EXPECT_EQ(function.resets, 1u);
    EXPECT_GT(windows, 0u);
    EXPECT_EQ(function.words[0x10], sample_wide_bar_pa | 4);
    EXPECT_EQ(function.command(), PciModel::memory);
    EXPECT_TRUE(bus.violations.empty()) << bus.violations[0];
}

TEST_F(Pci, D3_AFunctionThatIsGoneAfterItsResetIsReported)
{
    boot();
    restart_with_reset([](PciModel::Function &function) { function.gone = true; });
    EXPECT_EQ(machine->status(1).restarts, 1u) << "the domain does not depend on it";
    EXPECT_EQ(load(1, slot_2), all);
    store(1, slot_2 + 4, PciModel::master);
    EXPECT_TRUE(bus.violations.empty()) << bus.violations[0];
    EXPECT_NE(
        said().find("PCI: function 00:02.0 of 'linux' is off until its domain's next start: it is not there"),
        std::string::npos)
        << said();
}

TEST_F(Pci, D3_AFunctionWithoutAPinInTheManifestHasNone)
{
    const auto change = [](SampleManifest &m) { m.functions[0].pin = 0; };
    boot(change);
    EXPECT_FALSE(machine->booted()) << "its interrupt would be another domain's line";
    bus.functions.at(1 << 3).words[0x3C] = 0;
    boot(change);
    ASSERT_TRUE(machine->booted()) << said();
    EXPECT_EQ(command(1), PciModel::memory | PciModel::intx_off);
    store(0, slot_1 + 4, PciModel::master);
    EXPECT_EQ(command(1), PciModel::memory | PciModel::master | PciModel::intx_off);
    EXPECT_EQ(load(0, slot_1 + 0x3C), 0u);
}

TEST_F(Pci, D3_AFunctionWithAnotherPinAfterItsResetIsOff)
{
    boot();
    restart_with_reset([](PciModel::Function &function) { function.words[0x3C] = 0x200; });
    EXPECT_EQ(load(1, slot_2), all);
    EXPECT_EQ(command(2), PciModel::intx_off);
    EXPECT_NE(said().find("start: it has another interrupt pin"), std::string::npos) << said();
}

TEST_F(Pci, D3_AFunctionThatIsNotWhatTheManifestSaysIsNoStart)
{
    struct Row {
        const char *text;
        void (*change)(PciModel &);
    };
    const Row rows[] = {
        {"it is not there", [](PciModel &m) { m.functions.erase(1 << 3); }},
        {"it is another device", [](PciModel &m) { m.functions[1 << 3].words[0] = 0x11E91234; }},
        {"it is a bridge", [](PciModel &m) { m.functions[1 << 3].words[0x0C] = 0x00010000; }},
        {"it is a bridge", [](PciModel &m) { m.functions[1 << 3].words[8] = 0x06000000; }},
        {"its device has several functions",
         [](PciModel &m) { m.functions[1 << 3].words[0x0C] = 0x00800000; }},
        {"it may have registers outside of its BARs",
         [](PciModel &m) {
             m.functions[1 << 3].words[4] |= 1u << 20;
             m.functions[1 << 3].words[0x34] = 0x40;
             m.functions[1 << 3].words[0x40] = 0x14;
         }},
        {"it has another interrupt pin", [](PciModel &m) { m.functions[1 << 3].words[0x3C] = 0x200; }},
        {"it has another interrupt pin", [](PciModel &m) { m.functions[1 << 3].words[0x3C] = 0x0FF; }},
        {"a BAR has another size or kind",
         [](PciModel &m) { m.functions[1 << 3].writable[0x10] = 0xFFFFF000; }},
        {"a BAR has another size or kind", [](PciModel &m) { m.functions[1 << 3].words[0x10] = 8; }},
        {"a BAR has another size or kind",
         [](PciModel &m) { m.functions[1 << 3].writable[0x14] = 0xFFFFF000; }},
    };
    for (const Row &row : rows) {
        const PciModel before = bus;
        row.change(bus);
        boot();
        EXPECT_FALSE(machine->booted()) << row.text;
        EXPECT_NE(said().find(std::string("PCI: function 00:01.0 of 'control': ") + row.text),
                  std::string::npos)
            << said();
        bus = before;
    }
}

// The first domain's function is a virtio disk: BAR 4 has its registers.
class PciVirtio : public Pci {
protected:
    static constexpr uint32_t disk = 0x10421AF4;
    PciVirtio()
    {
        bus.add(1, disk, {{0x20, 0x100000 | 0xC}});
        PciModel::give_reset(function());
        PciModel::give_virtio(function(), 4);
    }
    PciModel::Function &function() { return bus.functions.at(1 << 3); }
    void boot()
    {
        Pci::boot([](SampleManifest &m) {
            m.functions[0].id = disk;
            m.functions[0].bar_kinds = 0xC0000;
            m.functions[0].bar_bytes[4] = 0x100000;
            m.functions[0].bar_pa[4] = m.functions[0].bar_pa[0];
            m.functions[0].bar_bytes[0] = m.functions[0].bar_pa[0] = 0;
        });
    }
    // The capabilities that the guest finds: id, and type of a vendor-specific one.
    std::vector<std::pair<uint32_t, uint32_t>> list()
    {
        std::vector<std::pair<uint32_t, uint32_t>> found;
        for (uint32_t at = load(0, slot_1 + 0x34); at != 0 && found.size() < 64;) {
            const uint32_t word = load(0, slot_1 + at);
            found.emplace_back(word & 0xFF, (word & 0xFF) == 0x09 ? word >> 24 : 0);
            at = word >> 8 & 0xFF;
        }
        return found;
    }
    void expect_no_start(const char *text)
    {
        boot();
        EXPECT_FALSE(machine->booted()) << text;
        EXPECT_NE(said().find(std::string("PCI: function 00:01.0 of 'control': ") + text), std::string::npos)
            << said();
    }
};

TEST_F(PciVirtio, D3_AGuestSeesItsStructuresAndNotTheWindow)
{
    using Entry = std::pair<uint32_t, uint32_t>;
    boot();
    ASSERT_TRUE(machine->booted()) << said();
    EXPECT_EQ(list(), (std::vector<Entry>{{0x10, 0}, {9, 1}, {9, 2}, {9, 3}, {9, 4}}));
    for (uint32_t type = 1; type <= 4; type++) {
        const uint64_t at = slot_1 + PciModel::virtio + (type - 1) * 0x14;
        EXPECT_EQ(load(0, at + 4), 4u);
        EXPECT_EQ(load(0, at + 8), 0x1000 * (type - 1));
        EXPECT_EQ(load(0, at + 12), 0x1000u);
    }
    EXPECT_EQ(load(0, slot_1 + PciModel::virtio + 0x14 + 0x10), 4u);
    for (uint32_t word = 0; word < 20; word += 4) {
        EXPECT_EQ(load(0, slot_1 + PciModel::virtio_window + word), 0u);
    }
    EXPECT_TRUE(bus.violations.empty()) << bus.violations[0];
}

TEST_F(PciVirtio, D3_NoWriteReachesTheWindow)
{
    boot();
    const auto before = function().words;
    for (uint32_t offset = 0x34; offset < 0x100; offset += 4) {
        store(0, slot_1 + offset, all);
        store(0, slot_1 + offset + 1, 0x55, 1);
    }
    EXPECT_EQ(function().words, before);
}

TEST_F(PciVirtio, D3_AnotherDevicesVendorSpecificCapabilitiesAreHidden)
{
    PciModel::give_virtio(bus.functions.at(2 << 3), 0); // whose id is an NVMe disk's
    boot();
    ASSERT_TRUE(machine->booted()) << said();
    EXPECT_EQ(load(1, slot_2 + 0x34), PciModel::express);
    EXPECT_EQ(load(1, slot_2 + PciModel::express) >> 8 & 0xFF, 0u);
    EXPECT_EQ(load(1, slot_2 + PciModel::virtio), 0u);
}

TEST_F(PciVirtio, D3_AStructureOutsideOfItsBarIsNoStart)
{
    function().words[PciModel::virtio + 12] = 0x100001;
    expect_no_start("its capabilities name registers that are not within a BAR");
}

TEST_F(PciVirtio, D3_CapabilitiesThatOverlapAreNoStart)
{
    const uint32_t second = PciModel::virtio + 0x14, multiplier = second + 0x10;
    function().words[second] = (function().words[second] & ~0xFF00u) | multiplier << 8;
    function().words[multiplier] = 0x03100009;
    function().words[multiplier + 4] = 4;
    function().words[multiplier + 8] = 0x2000;
    function().words[multiplier + 12] = 0x1000;
    expect_no_start("its capabilities overlap");
}

TEST_F(PciVirtio, D3_TheFirstUsableStructureOfATypeIsShown)
{
    const uint32_t second = PciModel::virtio + 0x14;
    function().words[PciModel::virtio + 4] = 2; // a BAR of I/O addresses, or none
    function().words[second] = (function().words[second] & 0xFFFFFF) | 1u << 24; // type 1 again
    boot();
    ASSERT_TRUE(machine->booted()) << said();
    EXPECT_EQ(load(0, slot_1 + PciModel::virtio), 0u);
    EXPECT_EQ(load(0, slot_1 + second) & 0xFF0000FF, 0x01000009u);
    EXPECT_EQ(load(0, slot_1 + second + 8), 0x1000u);
}

// Each is read word by word with interrupts masked, so the device's list does not say how many there are.
TEST_F(PciVirtio, D3_AfterSomeUnusableStructuresNoMoreAreRead)
{
    for (uint32_t at = 0x40; at < PciModel::express; at += 4) { // in BAR 9 or 16: the word after it
        const uint32_t next = at + 4 < PciModel::express ? at + 4 : PciModel::virtio;
        function().words[at] = 1u << 24 | 0x10u << 16 | next << 8 | 9;
    }
    function().words[0x34] = 0x40;
    boot();
    ASSERT_TRUE(machine->booted()) << said();
    for (const auto &[id, type] : list()) {
        EXPECT_NE(id, 9u) << "type " << type << " is too far back";
    }
}

TEST_F(PciVirtio, D3_AListThatIsACircleEnds)
{
    const uint32_t last = PciModel::virtio_window;
    function().words[last] = (function().words[last] & ~0xFF00u) | PciModel::virtio << 8;
    boot();
    ASSERT_TRUE(machine->booted()) << said();
    EXPECT_EQ(list().size(), 4u) << "the rest is not on the list any more";
}

TEST_F(PciVirtio, D3_StructuresThatAreElsewhereAfterAResetAreAnotherDevice)
{
    boot();
    bus.on_reset = [](PciModel::Function &one) { one.words[PciModel::virtio + 8] = 0x3000; };
    machine->on_core(0);
    machine->hvc(system_reset);
    for (int i = 0; i < 200 && machine->status(0).restarts == 0; i++) {
        fake_switch_core(0);
        fake_gic_raise(hypervisor_timer);
        fake_clock_set(this_cpu()->rare_alarms[RARE_ALARM_RESET]);
        machine->on_core(0);
    }
    EXPECT_EQ(load(0, slot_1), all);
    EXPECT_NE(said().find("it has other capabilities than at the start"), std::string::npos) << said();
}

// Both functions have message interrupts, which a boot loader has left enabled.
class PciMessages : public testing::Test, public ItsMachine {
protected:
    static constexpr uint64_t msix_1 = slot_1 + PciModel::msix, msix_2 = slot_2 + PciModel::msix;

    PciModel::Function &function(uint32_t slot) { return bus.functions.at(slot << 3); }
    uint32_t control(uint32_t slot) { return function(slot).words[PciModel::msix] >> 30; }
    void restart(
        uint32_t core, const std::function<void()> &before = [] {})
    {
        machine->on_core(core);
        machine->hvc(system_reset);
        before();
        for (int i = 0; i < 200 && machine->status(core).restarts == 0; i++) { // core n is domain n's first
            fake_switch_core(core);
            fake_gic_raise(hypervisor_timer);
            fake_clock_set(std::max(clock_now(), this_cpu()->rare_alarms[RARE_ALARM_RESET]));
            machine->on_core(core);
        }
    }
};

TEST_F(PciMessages, D4_AFunctionThatIsNotReadyInTimeHasNoMessages)
{
    boot();
    PciModel::reset(function(1));
    function(1).words[0] = PciModel::not_ready;
    store(control_core, msix_1 + 2, 0x8000, 2);
    fake_clock_set(clock_now() + clock_ticks(1'000'000'000));
    for (int i = 0; i < 3; i++) {
        store(control_core, msix_1 + 2, 0x8000, 2);
    }
    EXPECT_TRUE(bus.violations.empty()) << bus.violations[0];
    EXPECT_EQ(load(control_core, msix_1, 4), all) << "it is lost";
}

TEST_F(PciMessages, D4_AtTheStartNoFunctionWritesMessages)
{
    boot();
    ASSERT_TRUE(machine->booted()) << said();
    for (const uint32_t slot : {1u, 2u}) {
        EXPECT_EQ(control(slot) & 2, 0u) << slot;
        EXPECT_EQ(load(slot == 1 ? control_core : linux_core, slot == 1 ? msix_1 : msix_2, 4) >> 30, 0u);
    }
    EXPECT_TRUE(bus.violations.empty()) << bus.violations[0];
}

TEST_F(PciMessages, D4_AlsoThoseThatNoGuestSeesAreOff)
{
    boot([](SampleManifest &m) { m.functions[0].messages = 0; });
    ASSERT_TRUE(machine->booted()) << said();
    EXPECT_EQ(control(1) & 2, 0u);
    EXPECT_EQ(load(control_core, slot_1 + 0x34, 4), 0u) << "no capability";
    EXPECT_EQ(load(control_core, msix_1, 4), 0u);
    store(control_core, msix_1, all, 4);
    EXPECT_EQ(control(1) & 2, 0u);
}

TEST_F(PciMessages, D4_TheGuestSeesAsManyAsTheManifestSays)
{
    boot();
    EXPECT_EQ(load(control_core, slot_1 + 0x34, 4), PciModel::msix);
    EXPECT_EQ(load(control_core, msix_1, 4), 0x00000011u) << "one of four, and the list ends";
    EXPECT_EQ(load(linux_core, slot_2 + 0x34, 4), PciModel::express);
    EXPECT_EQ(load(linux_core, slot_2 + PciModel::express, 4) >> 8 & 0xFF, PciModel::msix);
    EXPECT_EQ(load(linux_core, msix_2, 4), 0x001F0011u) << "32 of 65";
    EXPECT_EQ(load(linux_core, msix_2 + 4, 4), 0x2000u);
    EXPECT_EQ(load(linux_core, msix_2 + 8, 4), 0x3000u);
}

TEST_F(PciMessages, D4_WhatTheGuestEnablesReachesTheHardware)
{
    boot();
    store(control_core, slot_1 + 4, PciModel::master, 2);
    store(control_core, msix_1 + 2, 0x8000, 2);
    EXPECT_TRUE(PciModel::writes_messages(function(1)));
    EXPECT_EQ(control(1), 2u);
    EXPECT_EQ(load(control_core, msix_1 + 2, 2), 0x8000u);
    store(control_core, msix_1 + 3, 0xC0, 1);
    EXPECT_EQ(control(1), 3u);
    store(control_core, msix_1, 0, 4);
    EXPECT_EQ(control(1), 0u);
    EXPECT_EQ(control(2) & 2, 0u) << "the other's";
    store(control_core, msix_2, all, 4);
    EXPECT_EQ(control(2) & 2, 0u) << "not by a guest that does not have it";
    EXPECT_TRUE(bus.violations.empty()) << bus.violations[0];
}

TEST_F(PciMessages, D4_TheBootLoadersMaskEndsWhenTheGuestEnables)
{
    boot();
    EXPECT_EQ(load(linux_core, msix_2, 4) >> 30, 0u);
    store(linux_core, msix_2 + 2, 0x8000, 2);
    EXPECT_EQ(control(2), 2u);
}

TEST_F(PciMessages, D4_ATableThatIsTooSmallIsNoStart)
{
    const std::function<void(PciModel::Function &)> changes[] = {
        [](PciModel::Function &one) { one.words[PciModel::msix] &= ~0x7FF0000u; },
        [](PciModel::Function &one) {
            one.words[PciModel::msix] = (one.words[PciModel::msix] & ~0x7FF0000u) | 30u << 16;
        },
        [](PciModel::Function &one) { one.words[PciModel::msix] = 0x09; },
        [](PciModel::Function &one) { one.words[4] &= ~(1u << 20); },
    };
    for (const auto &change : changes) {
        const PciModel before = bus;
        change(function(2));
        boot();
        EXPECT_FALSE(machine->booted());
        EXPECT_NE(
            said().find("PCI: function 00:02.0 of 'linux': it has fewer message interrupts (MSI-X) than "
                        "the manifest says"),
            std::string::npos)
            << said();
        bus = before;
        its = {};
    }
    function(2).words[PciModel::msix] = (function(2).words[PciModel::msix] & ~0x7FF0000u) | 31u << 16;
    boot();
    EXPECT_TRUE(machine->booted()) << "exactly as many";
}

TEST_F(PciMessages, D4_AfterARestartTheyAreOff)
{
    boot();
    for (const uint32_t core : {control_core, linux_core}) { // a function without reset, and one with reset
        const uint32_t slot = core + 1;
        const uint64_t config = sample_config_pa + slot * 0x8000ull;
        store(core, config + 4, PciModel::master, 2);
        store(core, config + PciModel::msix, all, 4);
        ASSERT_EQ(control(slot), 3u);
        restart(core);
        ASSERT_EQ(machine->status(core).restarts, 1u);
        EXPECT_EQ(control(slot) & 2, 0u) << slot;
        EXPECT_EQ(load(core, config + PciModel::msix, 4) >> 30, 0u);
        store(core, config + PciModel::msix + 2, 0x8000, 2);
        EXPECT_EQ(control(slot), 2u) << "and can be enabled again";
    }
    EXPECT_EQ(function(2).resets, 2u) << "at the start, too";
    EXPECT_TRUE(bus.violations.empty()) << bus.violations[0];
}

TEST_F(PciMessages, D4_AStoppedDomainsFunctionWritesNoMessages)
{
    boot();
    store(control_core, slot_1 + 4, PciModel::master, 2);
    store(control_core, msix_1 + 2, 0x8000, 2);
    machine->on_core(linux_core);
    (void)domain_stop(domain_at(0));
    machine->on_core(control_core);
    EXPECT_FALSE(PciModel::writes_messages(function(1)));
    mmio_access access = {
        .offset = 0x8000 + PciModel::msix, .value = 0, .bytes = 4, .write = true, .again = false};
    EXPECT_TRUE(pci_config_access(domain_at(0), &access));
    EXPECT_EQ(control(1), 2u) << "a late write of its VCPU does nothing";
}

TEST_F(PciMessages, D4_AFunctionThatItsGuestHasResetHasThemOff)
{
    boot();
    store(control_core, msix_1 + 2, 0x8000, 2);
    PciModel::reset(function(1));
    EXPECT_EQ(control(1), 0u);
    store(control_core, slot_1 + 4, PciModel::master, 2);
    EXPECT_EQ(control(1), 0u);
    EXPECT_EQ(load(control_core, msix_1 + 2, 2), 0u) << "the guest sees it";
    store(control_core, msix_1 + 2, 0x8000, 2);
    EXPECT_EQ(control(1), 2u);

    PciModel::reset(function(1)); // the guest enables messages before anything else
    store(control_core, msix_1 + 2, 0x8000, 2);
    EXPECT_EQ(control(1), 2u);
    EXPECT_EQ(load(control_core, msix_1 + 2, 2), 0x8000u);
    EXPECT_TRUE(bus.violations.empty()) << bus.violations[0];
}

// A function that changes when it is reset, as an FPGA can.
TEST_F(PciMessages, D4_NoOtherCapabilityIsWrittenAfterAReset)
{
    boot();
    PciModel::Function &one = function(1);
    PciModel::reset(one);
    one.words[PciModel::msix] = 0x09; // vendor-specific
    one.writable[PciModel::msix] = all;
    const auto before = one.words;
    store(control_core, msix_1 + 2, 0x8000, 2);
    EXPECT_EQ(one.words, before);
    store(control_core, slot_1 + 4, PciModel::master, 2);
    EXPECT_EQ(load(control_core, slot_1, 4), all) << "it is off";
    EXPECT_EQ(one.words[PciModel::msix], 0x09u);
    EXPECT_NE(said().find("it has fewer message interrupts (MSI-X)"), std::string::npos) << said();
}

TEST_F(PciMessages, D4_AFunctionWhoseCapabilityMovesIsOff)
{
    boot();
    restart(linux_core, [&] {
        PciModel::Function &one = function(2);
        one.words[PciModel::express] = (one.words[PciModel::express] & ~0xFF00u) | 0xA0 << 8;
        one.words[0xA0] = one.words[PciModel::msix];
        one.words[PciModel::msix] = 0;
    });
    EXPECT_EQ(machine->status(1).restarts, 1u);
    EXPECT_EQ(load(linux_core, slot_2, 4), all);
    EXPECT_NE(said().find("it has other capabilities than at the start"), std::string::npos) << said();
}

// As above: whatever guests write, the hardware sees of the capability the enable bit and the mask.
TEST_F(PciMessages, D4_NoAccessOfAGuestReachesMore)
{
    boot();
    const PciModel before = bus;
    std::mt19937 engine(3);
    const auto random = [&] { return static_cast<uint32_t>(engine()); };
    unsigned enabled = 0;
    for (int i = 0; i < 5000; i++) {
        const unsigned bytes = 1u << random() % 3;
        const uint64_t slot = random() % 2 == 0 ? slot_1 : slot_2;
        store(control_core, slot + (random() % 0x100 & ~(bytes - 1)), random(), bytes);
        EXPECT_EQ(function(1).words[PciModel::msix] & ~(PciModel::msix_enable | PciModel::msix_mask),
                  before.functions.at(1 << 3).words.at(PciModel::msix) & 0x3FFFFFFF);
        enabled += control(1) >> 1;
    }
    EXPECT_GT(enabled, 100u);
    EXPECT_EQ(function(2).words, before.functions.at(2 << 3).words);
    EXPECT_TRUE(bus.violations.empty()) << bus.violations[0];
}

// Whatever a guest does with its configuration space: other functions stay as they are, and of its own the
// hardware sees nothing but the command register's allowed bits.
TEST_F(Pci, D3_NoAccessOfAGuestReachesMore)
{
    boot();
    const PciModel before = bus;
    std::mt19937 engine(2);
    const auto random = [&] { return static_cast<uint32_t>(engine()); };
    for (int i = 0; i < 20000; i++) {
        const unsigned bytes = 1u << random() % 3;
        const uint64_t offset = (random() % 2 == 0 ? 0x8000 : random() % 0x100000) & ~0xFFFull;
        const uint64_t place = offset + (random() % (i % 3 == 0 ? 0x1000 : 0x50) & ~(bytes - 1));
        if (random() % 2 == 0) {
            store(0, sample_config_pa + place, random() % 4 == 0 ? all : random(), bytes);
        } else {
            (void)load(0, sample_config_pa + place, bytes);
        }
    }
    EXPECT_EQ(machine->status(0).state, uint32_t{BH_DOMAIN_STATE_RUNNING});
    for (const auto &[number, function] : before.functions) {
        PciModel::Function now = bus.functions.at(number);
        if (number == 1 << 3) {
            EXPECT_EQ(now.command() & ~(PciModel::memory | PciModel::master | PciModel::intx_off), 0u);
            now.words[4] = function.words.at(4);
        }
        EXPECT_EQ(now.words, function.words) << number;
    }
    EXPECT_TRUE(bus.violations.empty()) << bus.violations[0];
}

} // namespace
} // namespace pci_test
