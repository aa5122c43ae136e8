// SPDX-License-Identifier: Apache-2.0
// Message interrupts: the start of the ITS's driver on a model of an ITS, and the virtual ITS as guests use
// it. A function's message reaches the guest that has the function and has mapped the message, and nobody
// else (D4).
#include "its_guest.h"
#include <cstring>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

extern "C" {
#include "arch/hosted/fake_registers.h"
#include "core/crc32.h"
#include "its/its.h"
#include "run/domain_life.h"
#include "vgic/vgic_its.h"
#include <arch/gic.h>
}

namespace its_test {
namespace {

using namespace bulkhead_test;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

constexpr uint64_t system_reset = 0x84000009;
constexpr uint64_t cached = 7ull << 59 | 1ull << 10;           // of GITS_CBASER
constexpr uint64_t properties_cached = 7ull << 7 | 1ull << 10; // of GICR_PROPBASER

class Its : public testing::Test, public ItsMachine {
protected:
    // Why EL2 does not start; empty: it starts.
    std::string refusal()
    {
        boot();
        return machine->booted() ? "" : said();
    }
    bool is_well() const
    {
        return its.violations.empty() && fake_gic_violations() == 0 && fake_faults() == 0;
    }
};

// With LPIs that have no active state, and with the emulator's, which are active until their end.
class VirtualIts : public Its, public testing::WithParamInterface<bool> {
protected:
    VirtualIts() { its.keeps_active = GetParam(); }
    // From now on EL2 opens windows to memory of linux only.
    void expect_own_windows()
    {
        machine->on_window([](uint64_t pa) {
            const uint64_t color = pa >> 13 & 7;
            EXPECT_TRUE(pa >= 0x48000000 && color >= 3 && color <= 5) << std::hex << pa;
        });
    }
    // Both guests have mapped all messages of their functions.
    void boot_and_map()
    {
        boot();
        ASSERT_TRUE(machine->booted()) << said();
        open(control_core);
        map(control_core, 1);
        open(linux_core);
        map(linux_core, 32);
    }
    void TearDown() override
    {
        EXPECT_TRUE(is_well()) << (its.violations.empty() ? "misuse of the interrupt controller"
                                                          : its.violations[0]);
    }
};

TEST_F(Its, D4_EachMessageOfADomainsFunctionIsAnLpiOfItsOwnAtTheStart)
{
    boot();
    ASSERT_TRUE(machine->booted()) << said();
    EXPECT_TRUE(is_well()) << its.violations[0];
    EXPECT_EQ(its.order, "sttqE") << "off; both tables, the queue; on";
    EXPECT_EQ(its.message(control_device, 0), (ItsModel::Signal{control_core, first_lpi}));
    for (uint32_t event = 0; event < BH_MAX_MESSAGES; event++) {
        EXPECT_EQ(its.message(linux_device, event),
                  (ItsModel::Signal{linux_core, first_lpi + BH_MAX_MESSAGES + event}));
    }
}

TEST_F(Its, D4_AllOtherMessagesAreDropped)
{
    boot();
    for (uint32_t device = 0; device < 0x10000; device++) {
        for (const uint32_t event : {0u, 1u, 31u, 32u, 0xFFFFu}) {
            const bool known =
                (device == control_device && event == 0) || (device == linux_device && event < 32);
            EXPECT_EQ(its.message(device, event).has_value(), known) << device << ", " << event;
        }
    }
}

TEST_F(Its, D4_AFunctionWithoutMessagesHasNone)
{
    boot([](SampleManifest &m) { m.functions[0].messages = 0; });
    ASSERT_TRUE(machine->booted()) << said();
    EXPECT_EQ(its.message(control_device, 0), std::nullopt);
    EXPECT_TRUE(its.message(linux_device, 31).has_value());
    store(control_core, ctlr, 1, 4);
    EXPECT_EQ(machine->status(0).end, uint32_t{BH_DOMAIN_END_STAGE2_DATA_ABORT}) << "its guest sees no ITS";
}

TEST_F(Its, D4_WhatABootLoaderHasLeftEnabledIsOff)
{
    its.ctlr = 1;
    for (ItsModel::Redistributor &one : its.redistributors) {
        one = {1, 0x7000000D, 0x70010000};
    }
    boot();
    ASSERT_TRUE(machine->booted()) << said();
    EXPECT_EQ(its.order, "sttqE");
    EXPECT_TRUE(is_well()) << its.violations[0];
}

TEST_F(Its, D4_ABootLoadersPendingMessagesAreForgotten)
{
    its.memory_is_clear = false;
    boot();
    EXPECT_TRUE(is_well()) << its.violations[0];
    for (const ItsModel::Redistributor &one : its.redistributors) {
        EXPECT_EQ(one.ctlr, 1u);
        EXPECT_NE(one.pendbaser & 1ull << 62, 0u) << "nothing is read from the table";
        EXPECT_EQ(one.pendbaser & 0xF80, 0x80u) << "past the caches, as EL2 has cleared it";
    }
}

TEST_F(Its, D4_LpisThatABootLoaderHasEnabledAndThatCannotBeDisabledAreNoStart)
{
    its.redistributors[2].ctlr = 1;
    its.lpis_can_be_disabled = false;
    boot();
    EXPECT_FALSE(machine->booted());
    EXPECT_EQ(its.redistributors[2].propbaser, 0u) << "no register changes while LPIs are enabled";
    EXPECT_TRUE(its.violations.empty()) << its.violations[0];
}

// The redistributors of all cores are silenced, whatever the manifest uses of them: no core of a system
// without message interrupts looks at these registers later.
TEST_F(Its, D2_D4_TheyAreNoStartOfASystemWithoutMessageInterruptsEither)
{
    const auto without_its = [](SampleManifest &m) {
        m.header.its = {};
        m.functions[0].messages = m.functions[1].messages = 0;
    };
    its.redistributors[3] = {1, 0x7000000D, 0x70010000};
    boot(without_its);
    ASSERT_TRUE(machine->booted()) << said();
    EXPECT_EQ(its.redistributors[3].ctlr, 0u) << "it would write to memory of the boot loader";
    its.redistributors[3].ctlr = 1;
    its.lpis_can_be_disabled = false;
    boot(without_its);
    EXPECT_FALSE(machine->booted());
    its.redistributors_have_lpis = false;
    EXPECT_TRUE(gic_silence(&system_manifest()->platform)) << "the bit is reserved without LPIs";
}

TEST_F(Its, D4_ACoreDoesNotChangeRegistersWhileItsLpisAreEnabled)
{
    boot();
    ASSERT_TRUE(machine->booted()) << said();
    its.lpis_can_be_disabled = false;
    machine->on_core(2);
    EXPECT_FALSE(its_cpu_init(cpu_at(2)));
    EXPECT_NE(said().find("ITS: core 2: LPIs that a boot loader has enabled"), std::string::npos);
    EXPECT_TRUE(its.violations.empty()) << its.violations[0];
}

TEST_F(Its, D4_AnItsThatCannotBeUsedIsNoStart)
{
    struct Row {
        const char *text;
        void (*change)(ItsModel &);
    };
    const Row rows[] = {
        {"ITS: no physical LPIs", [](ItsModel &m) { m.typer &= ~1ull; }},
        {"ITS: fewer device ids than functions",
         [](ItsModel &m) { m.typer = (m.typer & ~(0x1Full << 13)) | 6u << 13; }},
        {"ITS: fewer events than messages of a function",
         [](ItsModel &m) { m.typer = (m.typer & ~(0x1Full << 8)) | 3u << 8; }},
        {"ITS: entries of its tables are too long", [](ItsModel &m) { m.tables[0].entry_bytes = 17; }},
        {"ITS: entries of its tables are too long", [](ItsModel &m) { m.tables[1].entry_bytes = 32; }},
        {"ITS: no tables of 4 KiB", [](ItsModel &m) { m.tables[0].only_large_pages = true; }},
        {"ITS: its tables are not coherent with caches", [](ItsModel &m) { m.tables[1].coherent = false; }},
        {"ITS: its queue is not coherent with caches", [](ItsModel &m) { m.queue_is_coherent = false; }},
        {"ITS: it does not answer", [](ItsModel &m) { m.pace = ItsModel::Pace::stalled; }},
        {"", [](ItsModel &m) { m.becomes_quiet = false; }},
        {"ITS: core 0: a redistributor has no LPIs", [](ItsModel &m) { m.redistributors_have_lpis = false; }},
        {"ITS: core 0: a redistributor is not coherent with caches",
         [](ItsModel &m) { m.properties_are_coherent = false; }},
        {"ITS: no table of devices or of collections", [](ItsModel &m) { m.tables[1] = {}; }},
    };
    for (const Row &row : rows) {
        const ItsModel before = its;
        row.change(its);
        boot();
        EXPECT_FALSE(machine->booted()) << row.text;
        EXPECT_NE(said().find(row.text), std::string::npos) << said();
        EXPECT_NE(std::string(row.text) == "", said().find("ITS: ") != std::string::npos);
        EXPECT_TRUE(its.violations.empty()) << its.violations[0];
        its = before;
    }
}

TEST_F(Its, D4_TheSmallestItsThatSufficesIsUsed)
{
    its.typer = 1u | 15u << 4 | 4u << 8 | 7u << 13;
    its.tables = {ItsModel::Table{2, 32}, ItsModel::Table{4, 16}, {}, ItsModel::Table{1, 16}};
    boot();
    ASSERT_TRUE(machine->booted()) << said();
    EXPECT_TRUE(is_well()) << its.violations[0];
    EXPECT_EQ(its.baser[0] >> 63, 0u) << "the table of virtual processors stays off";
    EXPECT_TRUE(its.message(linux_device, 31).has_value());
}

TEST_F(Its, D4_RedistributorsCanBeNamedByTheirAddresses)
{
    its.typer |= 1u << 19;
    boot();
    ASSERT_TRUE(machine->booted()) << said();
    EXPECT_TRUE(is_well()) << its.violations[0];
    EXPECT_EQ(its.message(linux_device, 0)->core, linux_core);
    EXPECT_EQ(its.message(control_device, 0)->core, control_core);
}

TEST_F(Its, D4_AnItsThatExecutesLateIsWaitedFor)
{
    its.pace = ItsModel::Pace::at_reads;
    boot();
    ASSERT_TRUE(machine->booted()) << said();
    EXPECT_TRUE(its.message(linux_device, 31).has_value());
}

// Device ids of functions behind bridges are beyond a frame of the table of devices.
TEST_F(Its, D3_D4_FunctionsBehindBridgesHaveMessages)
{
    constexpr uint32_t port = 8 << 3, other_port = 9 << 3 | 1;
    for (const uint32_t bridge : {port, other_port}) {
        const uint32_t before = bridge == port ? control_device : linux_device;
        bus.add_bridge(bridge, sample_bridge_id);
        bus.links[bridge][0] = bus.functions.at(before);
        bus.functions.erase(before);
    }
    boot(put_behind_bridges);
    ASSERT_TRUE(machine->booted()) << said();
    EXPECT_NE(its.baser[0] & 1ull << 62, 0u);
    EXPECT_EQ(its.message(1 << 8, 0), (ItsModel::Signal{0, first_lpi}));
    EXPECT_EQ(its.message(2 << 8, 31), (ItsModel::Signal{1, first_lpi + BH_MAX_MESSAGES + 31}));
    EXPECT_FALSE(its.message(linux_device, 0).has_value()) << "as its guest names it";
    open(linux_core);
    execute(linux_core, {command::mapd(linux_device, 5), command::mapc(0, 0),
                         command::mapti(linux_device, 3, first_lpi, 0), command::inv(linux_device, 3)});
    EXPECT_TRUE(its.message(2 << 8, 3).has_value());
    EXPECT_EQ(handled(linux_core), std::vector<uint32_t>{first_lpi});
    EXPECT_TRUE(its.violations.empty()) << its.violations[0];
}

TEST_F(Its, D4_AnItsWithoutTwoLevelsIsNoStartForThem)
{
    constexpr uint32_t port = 8 << 3, other_port = 9 << 3 | 1;
    for (const uint32_t bridge : {port, other_port}) {
        const uint32_t before = bridge == port ? control_device : linux_device;
        bus.add_bridge(bridge, sample_bridge_id);
        bus.links[bridge][0] = bus.functions.at(before);
    }
    its.tables[0].has_levels = false;
    boot(put_behind_bridges);
    EXPECT_FALSE(machine->booted());
    EXPECT_NE(said().find("ITS: no table of two levels"), std::string::npos) << said();
}

// 33 commands for each function: more than the queue has room for.
TEST_F(Its, D4_ManyFunctionsFillTheQueueSeveralTimes)
{
    struct {
        SampleManifest sample;
        manifest_function functions[8];
        manifest_stream streams[8];
    } m{*make_sample_manifest(), {}, {}};
    give_its(m.sample);
    m.sample.header.functions = table(m, m.functions);
    m.sample.header.streams = table(m, m.streams);
    bus.functions.clear();
    for (uint32_t i = 0; i < 8; i++) {
        m.functions[i] = {.domain = i % 2,
                          .requester = (i + 1) << 3,
                          .guest_slot = i + 1,
                          .id = 0x11E81234,
                          .pin = 1,
                          .bar_kinds = 0,
                          .messages = BH_MAX_MESSAGES,
                          .flags = 0,
                          .bar_pa = {},
                          .bar_bytes = {}};
        m.streams[i] = {.domain = i % 2, .stream = (i + 1) << 3};
        PciModel::give_messages(bus.add(i + 1, 0x11E81234, {}), BH_MAX_MESSAGES);
    }
    m.sample.header.total_bytes = sizeof m;
    m.sample.header.crc32 = 0;
    m.sample.header.crc32 = crc32_update(0, &m, sizeof m);
    boot(m.sample.header);
    ASSERT_TRUE(machine->booted()) << said();
    for (uint32_t i = 0; i < 8; i++) {
        for (uint32_t event = 0; event < BH_MAX_MESSAGES; event++) {
            EXPECT_EQ(its.message((i + 1) << 3, event),
                      (ItsModel::Signal{i % 2, first_lpi + BH_MAX_MESSAGES * i + event}));
        }
    }
    EXPECT_GT(its.commands.size() * 32, 2 * size_t{BH_PAGE_BYTES});
    EXPECT_TRUE(is_well()) << its.violations[0];
}

TEST_P(VirtualIts, D4_AMessageArrivesAtTheGuestThatHasTheFunction)
{
    boot_and_map();
    ASSERT_TRUE(its.message(control_device, 0));
    EXPECT_THAT(handled(linux_core), IsEmpty());
    EXPECT_THAT(handled(control_core), ElementsAre(first_lpi));
    for (uint32_t event = 0; event < 32; event++) {
        ASSERT_TRUE(its.message(linux_device, event));
        EXPECT_THAT(handled(control_core), IsEmpty());
        EXPECT_THAT(handled(linux_core), ElementsAre(first_lpi + event));
    }
    EXPECT_EQ(machine->exits(linux_core, BH_EXIT_REASON_IRQ_DEVICE), 32u);
    EXPECT_EQ(machine->exits(linux_core, BH_EXIT_REASON_IRQ_UNEXPECTED), 0u);
}

TEST_P(VirtualIts, D4_MoreMessagesThanListRegistersAllArrive)
{
    boot_and_map();
    std::vector<uint32_t> all;
    for (uint32_t event = 0; event < 32; event++) {
        ASSERT_TRUE(its.message(linux_device, event));
        all.push_back(first_lpi + event);
    }
    EXPECT_THAT(handled(linux_core), testing::UnorderedElementsAreArray(all));
}

TEST_P(VirtualIts, D4_TheItsGetsNoCommandAfterTheStart)
{
    boot_and_map();
    EXPECT_TRUE(start_second_vcpu());
    const size_t commands = its.commands.size();
    its.order.clear();
    execute(linux_core,
            {command::mapc(1, 1), command::movi(linux_device, 3, 1), command::inv(linux_device, 3),
             command::interrupt(linux_device, 3), command::discard(linux_device, 3)});
    machine->on_core(control_core);
    machine->hvc(system_reset);
    EXPECT_EQ(its.commands.size(), commands);
    EXPECT_EQ(its.order, "");
}

TEST_P(VirtualIts, D4_MessagesThatTheGuestHasNotMappedAreLost)
{
    boot();
    open(linux_core);
    ASSERT_TRUE(its.message(linux_device, 0));
    EXPECT_THAT(handled(linux_core), IsEmpty()) << "no device";
    execute(linux_core, {command::mapd(linux_device, 5)});
    ASSERT_TRUE(its.message(linux_device, 0));
    EXPECT_THAT(handled(linux_core), IsEmpty()) << "no event";
    execute(linux_core, {command::mapti(linux_device, 0, first_lpi + 5, 0)});
    ASSERT_TRUE(its.message(linux_device, 0));
    EXPECT_THAT(handled(linux_core), IsEmpty()) << "no collection";
    execute(linux_core, {command::mapc(0, 0)});
    EXPECT_THAT(handled(linux_core), IsEmpty()) << "earlier messages are lost";
    ASSERT_TRUE(its.message(linux_device, 0));
    EXPECT_THAT(handled(linux_core), ElementsAre(first_lpi + 5)) << "the guest's own number";
    EXPECT_EQ(machine->exits(linux_core, BH_EXIT_REASON_IRQ_DEVICE), 4u);
}

TEST_P(VirtualIts, D4_AGuestCannotMapOrRaiseAnothersMessages)
{
    boot();
    open(linux_core);
    open(control_core);
    map(linux_core, 1);
    execute(control_core, {command::mapd(linux_device, 5), command::mapc(0, 0),
                           command::mapti(linux_device, 0, first_lpi, 0), command::interrupt(linux_device, 0),
                           command::discard(linux_device, 0)});
    EXPECT_THAT(handled(linux_core), IsEmpty());
    EXPECT_THAT(handled(control_core), IsEmpty());
    ASSERT_TRUE(its.message(linux_device, 0));
    EXPECT_THAT(handled(control_core), IsEmpty());
    EXPECT_THAT(handled(linux_core), ElementsAre(first_lpi));
}

TEST_P(VirtualIts, D4_ADisabledMessageStaysPending)
{
    boot_and_map();
    set_property(linux_core, first_lpi + 7, 0xA0);
    ASSERT_TRUE(its.message(linux_device, 7));
    EXPECT_THAT(handled(linux_core), ElementsAre(first_lpi + 7)) << "a table is read when a command says so";
    execute(linux_core, {command::inv(linux_device, 7)});
    ASSERT_TRUE(its.message(linux_device, 7));
    ASSERT_TRUE(its.message(linux_device, 8));
    EXPECT_THAT(handled(linux_core), ElementsAre(first_lpi + 8));
    set_property(linux_core, first_lpi + 7, 0xA1);
    EXPECT_THAT(handled(linux_core), IsEmpty());
    execute(linux_core, {command::invall(0)});
    EXPECT_THAT(handled(linux_core), ElementsAre(first_lpi + 7));
}

TEST_P(VirtualIts, D4_MessagesWaitUntilTheGuestEnablesLpis)
{
    boot_and_map();
    enable_lpis(linux_core, 0, false);
    EXPECT_EQ(load(linux_core, gicr_ipa, 4) & 1, 0u);
    ASSERT_TRUE(its.message(linux_device, 3));
    EXPECT_THAT(handled(linux_core), IsEmpty());
    enable_lpis(linux_core, 0);
    EXPECT_EQ(load(linux_core, gicr_ipa, 4) & 1, 1u);
    EXPECT_THAT(handled(linux_core), ElementsAre(first_lpi + 3));
}

TEST_P(VirtualIts, D4_AMessageInAListRegisterWaitsWhileItIsDisabled)
{
    boot_and_map();
    ASSERT_TRUE(its.message(linux_device, 3));
    take(linux_core);
    ASSERT_TRUE(fake_gic_guest_has_interrupt());
    enable_lpis(linux_core, 0, false);
    EXPECT_FALSE(fake_gic_guest_has_interrupt());
    store(linux_core, gicd_ipa, 0, 4);
    enable_lpis(linux_core, 0);
    EXPECT_FALSE(fake_gic_guest_has_interrupt()) << "the distributor's group is off";
    store(linux_core, gicd_ipa, 3, 4);
    EXPECT_THAT(handled(linux_core), ElementsAre(first_lpi + 3));
}

TEST_P(VirtualIts, D4_TheMostUrgentMessageComesFirst)
{
    boot_and_map();
    set_property(linux_core, first_lpi + 9, 0x41);
    set_property(linux_core, first_lpi + 20, 0xF1);
    execute(linux_core, {command::inv(linux_device, 9), command::inv(linux_device, 20)});
    for (const uint32_t event : {20u, 4u, 5u, 6u, 7u, 8u, 9u}) {
        ASSERT_TRUE(its.message(linux_device, event));
    }
    const std::vector<uint32_t> order = handled(linux_core);
    ASSERT_EQ(order.size(), 7u);
    EXPECT_EQ(order.front(), first_lpi + 9);
    EXPECT_EQ(order.back(), first_lpi + 20);
}

TEST_P(VirtualIts, D4_PropertiesOutsideOfTheGuestsMemoryDisable)
{
    boot_and_map();
    expect_own_windows();
    for (const uint64_t table :
         {sample_its_pa, uint64_t{0x48008000}, uint64_t{0}, uint64_t{0xFFFFFFFFFF000}}) {
        store(linux_core, gicr_ipa + 0x70, table | 13, 8);
        execute(linux_core, {command::invall(0)});
        ASSERT_TRUE(its.message(linux_device, 3));
        EXPECT_THAT(handled(linux_core), IsEmpty()) << std::hex << table;
    }
    EXPECT_EQ(machine->status(1).state, uint32_t{BH_DOMAIN_STATE_RUNNING});
    store(linux_core, gicr_ipa + 0x70, properties_ipa | 13, 8);
    execute(linux_core, {command::invall(0)});
    EXPECT_THAT(handled(linux_core), ElementsAre(first_lpi + 3));
}

TEST_P(VirtualIts, D4_AMessageThatComesAgainIsNotLost)
{
    boot_and_map();
    ASSERT_TRUE(its.message(linux_device, 3));
    take(linux_core);
    ASSERT_TRUE(its.message(linux_device, 3));
    EXPECT_THAT(handled(linux_core), ElementsAre(first_lpi + 3)) << "one pending message, not two";

    ASSERT_TRUE(its.message(linux_device, 3));
    take(linux_core);
    ASSERT_EQ(fake_gic_guest_acknowledge(), first_lpi + 3);
    ASSERT_TRUE(its.message(linux_device, 3));
    take(linux_core);
    EXPECT_FALSE(fake_gic_guest_has_interrupt()) << "its priority is active";
    fake_gic_guest_end(first_lpi + 3);
    EXPECT_THAT(handled(linux_core), ElementsAre(first_lpi + 3));
    EXPECT_THAT(handled(linux_core), IsEmpty());
}

TEST_P(VirtualIts, D4_AMessageThatComesAgainAmongManyIsNotLost)
{
    boot_and_map();
    for (uint32_t event = 0; event < 12; event++) {
        ASSERT_TRUE(its.message(linux_device, event));
    }
    take(linux_core);
    const uint32_t first = fake_gic_guest_acknowledge();
    ASSERT_NE(first, FAKE_GIC_SPURIOUS);
    ASSERT_TRUE(its.message(linux_device, first - first_lpi));
    take(linux_core);
    fake_gic_guest_end(first);
    std::vector<uint32_t> expected;
    for (uint32_t event = 0; event < 12; event++) {
        expected.push_back(first_lpi + event);
    }
    EXPECT_THAT(handled(linux_core), testing::UnorderedElementsAreArray(expected));
}

TEST_P(VirtualIts, D4_AnInterruptOfAnotherKindDoesNotDisturb)
{
    constexpr uint32_t device_spi = 48;
    boot_and_map();
    store(linux_core, gicd_ipa + 0x6000 + 8 * device_spi, 0, 8);
    store(linux_core, gicd_ipa + 0x104, 1u << (device_spi - 32), 4);
    fake_gic_raise(device_spi);
    ASSERT_TRUE(its.message(linux_device, 3));
    EXPECT_THAT(handled(linux_core), UnorderedElementsAre(device_spi, first_lpi + 3));
    EXPECT_FALSE(fake_gic_is_active(device_spi));
}

TEST_P(VirtualIts, D4_AMessageReachesAVcpuOnAnotherCore)
{
    boot_and_map();
    ASSERT_TRUE(start_second_vcpu());
    enable_lpis(second_core, 1);
    execute(linux_core, {command::mapc(1, 1), command::movi(linux_device, 6, 1)});
    ASSERT_TRUE(its.message(linux_device, 6));
    EXPECT_EQ(its.message(linux_device, 6)->core, linux_core) << "the physical one stays there";
    take(linux_core);
    EXPECT_FALSE(fake_gic_guest_has_interrupt());
    EXPECT_THAT(handled(second_core), ElementsAre(first_lpi + 6));
    EXPECT_THAT(handled(linux_core), IsEmpty());
}

TEST_P(VirtualIts, D4_APendingMessageMovesWithItsCollection)
{
    boot_and_map();
    ASSERT_TRUE(start_second_vcpu());
    enable_lpis(second_core, 1);
    ASSERT_TRUE(its.message(linux_device, 6));
    take(linux_core);
    ASSERT_TRUE(fake_gic_guest_has_interrupt());
    execute(linux_core, {command::mapc(1, 1), command::movi(linux_device, 6, 1)});
    EXPECT_FALSE(fake_gic_guest_has_interrupt());
    EXPECT_THAT(handled(second_core), ElementsAre(first_lpi + 6));
    ASSERT_TRUE(its.message(linux_device, 6));
    take_all();
    execute(second_core, {command::mapc(1, 0)});
    take_all();
    EXPECT_THAT(handled(second_core), IsEmpty());
    EXPECT_THAT(handled(linux_core), ElementsAre(first_lpi + 6));
}

TEST_P(VirtualIts, D4_MovedWhileItIsHandledItComesAtTheOther)
{
    boot_and_map();
    ASSERT_TRUE(start_second_vcpu());
    enable_lpis(second_core, 1);
    ASSERT_TRUE(its.message(linux_device, 6));
    take(linux_core);
    ASSERT_EQ(fake_gic_guest_acknowledge(), first_lpi + 6);
    execute(linux_core, {command::mapc(1, 1), command::movi(linux_device, 6, 1)});
    ASSERT_TRUE(its.message(linux_device, 6));
    EXPECT_THAT(handled(second_core), ElementsAre(first_lpi + 6)) << "LPIs have no active state";
    machine->on_core(linux_core);
    fake_gic_guest_end(first_lpi + 6);
    EXPECT_THAT(handled(linux_core), IsEmpty());
    ASSERT_TRUE(its.message(linux_device, 6));
    EXPECT_THAT(handled(second_core), ElementsAre(first_lpi + 6));
}

TEST_P(VirtualIts, D4_AMessageOfAVcpuThatIsOffWaits)
{
    constexpr uint64_t cpu_off = 0x84000002;
    boot_and_map();
    ASSERT_TRUE(start_second_vcpu());
    enable_lpis(second_core, 1);
    execute(linux_core, {command::mapc(1, 1), command::movi(linux_device, 6, 1)});
    ASSERT_TRUE(its.message(linux_device, 6));
    take_all(); // in a list register there
    machine->on_core(second_core);
    machine->hvc(cpu_off);
    ASSERT_TRUE(its.message(linux_device, 6));
    EXPECT_THAT(handled(linux_core), IsEmpty());
    ASSERT_TRUE(start_second_vcpu());
    EXPECT_THAT(handled(second_core), ElementsAre(first_lpi + 6)) << "LPIs stay enabled";
    machine->on_core(second_core);
    machine->hvc(cpu_off);
    ASSERT_TRUE(its.message(linux_device, 6));
    take_all();
    execute(linux_core, {command::mapc(1, 0)});
    EXPECT_THAT(handled(linux_core), ElementsAre(first_lpi + 6)) << "a system that turns a core off moves it";
}

TEST_P(VirtualIts, D4_AMessageWakesAVcpuThatWaits)
{
    constexpr uint64_t cpu_suspend = 0xC4000001, esr_wfi = 0x01ull << 26 | 1u << 25;
    static ItsModel *signals;
    boot_and_map();
    ASSERT_TRUE(start_second_vcpu()); // so that no core is idle while the hook is another one
    signals = &its;
    machine->on_core(linux_core);
    fake_hook_wfi([] { (void)signals->message(linux_device, 3); });
    EXPECT_EQ(machine->hvc(cpu_suspend), 0u);
    fake_hook_wfi(nullptr);
    EXPECT_THAT(handled(linux_core), ElementsAre(first_lpi + 3)) << "it came while EL2 waited for the guest";

    ASSERT_TRUE(its.message(linux_device, 4));
    take(linux_core);
    machine->trap(esr_wfi);
    EXPECT_TRUE(fake_gic_guest_has_interrupt()) << "it stays pending";
    EXPECT_THAT(handled(linux_core), ElementsAre(first_lpi + 4));
}

TEST_P(VirtualIts, D4_MappingsEnd)
{
    boot_and_map();
    for (const ItsCommand &end : {command::discard(linux_device, 3), command::mapd(linux_device, 5),
                                  command::mapd(linux_device, 1, false), command::mapc(0, 0, false)}) {
        map(linux_core, 32);
        ASSERT_TRUE(its.message(linux_device, 3));
        EXPECT_THAT(handled(linux_core), ElementsAre(first_lpi + 3));
        ASSERT_TRUE(its.message(linux_device, 3));
        take(linux_core);
        ASSERT_TRUE(fake_gic_guest_has_interrupt());
        execute(linux_core, {end});
        EXPECT_FALSE(fake_gic_guest_has_interrupt()) << std::hex << end[0];
        ASSERT_TRUE(its.message(linux_device, 3));
        EXPECT_THAT(handled(linux_core), IsEmpty()) << std::hex << end[0];
    }
}

TEST_P(VirtualIts, D4_CommandsRaiseAndClear)
{
    boot_and_map();
    execute(linux_core, {command::interrupt(linux_device, 30)});
    EXPECT_THAT(handled(linux_core), ElementsAre(first_lpi + 30));
    execute(linux_core, {command::interrupt(linux_device, 30), command::clear(linux_device, 30)});
    EXPECT_THAT(handled(linux_core), IsEmpty());
    execute(linux_core, {command::interrupt(linux_device, 30)});
    ASSERT_TRUE(fake_gic_guest_has_interrupt());
    execute(linux_core, {command::clear(linux_device, 30)});
    EXPECT_FALSE(fake_gic_guest_has_interrupt()) << "in a list register";
    execute(linux_core, {command::clear(linux_device, 30), command::interrupt(linux_device, 30)});
    EXPECT_THAT(handled(linux_core), ElementsAre(first_lpi + 30));
}

TEST_P(VirtualIts, D4_ClearedAndRaisedInOneExitItComesOnce)
{
    boot_and_map();
    execute(linux_core, {command::interrupt(linux_device, 30)});
    ASSERT_TRUE(fake_gic_guest_has_interrupt());
    execute(linux_core, {command::clear(linux_device, 30), command::interrupt(linux_device, 30)});
    EXPECT_THAT(handled(linux_core), ElementsAre(first_lpi + 30));
    EXPECT_THAT(handled(linux_core), IsEmpty());
}

TEST_P(VirtualIts, D4_ARestartForgetsEverything)
{
    boot_and_map();
    ASSERT_TRUE(its.message(control_device, 0));
    take(control_core);
    ASSERT_TRUE(fake_gic_guest_has_interrupt());
    ASSERT_TRUE(its.message(control_device, 0));
    machine->on_core(control_core);
    machine->hvc(system_reset);
    ASSERT_EQ(machine->status(0).restarts, 1u);
    EXPECT_EQ(load(control_core, ctlr, 4) & 1, 0u);
    EXPECT_EQ(load(control_core, cbaser, 8), cached);
    EXPECT_EQ(load(control_core, cwriter, 8), 0u);
    EXPECT_EQ(load(control_core, creadr, 8), 0u);
    EXPECT_EQ(load(control_core, baser, 8) >> 63, 0u);
    EXPECT_EQ(load(control_core, gicr_ipa, 4) & 1, 0u);
    EXPECT_EQ(load(control_core, gicr_ipa + 0x70, 8), 0u);
    EXPECT_EQ(load(control_core, gicr_ipa + 0x78, 8), 0u);
    open(control_core);
    ASSERT_TRUE(its.message(control_device, 0));
    EXPECT_THAT(handled(control_core), IsEmpty()) << "nothing is mapped";
    map(control_core, 1);
    EXPECT_THAT(handled(control_core), IsEmpty());
    ASSERT_TRUE(its.message(control_device, 0));
    EXPECT_THAT(handled(control_core), ElementsAre(first_lpi));
}

TEST_P(VirtualIts, D4_MessagesOfAStoppedDomainAreLost)
{
    boot_and_map();
    machine->on_core(linux_core);
    (void)domain_stop(domain_at(0));
    ASSERT_TRUE(its.message(control_device, 0));
    fake_switch_core(control_core);
    const uint64_t injected = system_core_status(control_core)->injected;
    machine->take_while_idle();
    EXPECT_EQ(system_core_status(control_core)->injected, injected);
    EXPECT_FALSE(fake_gic_has_interrupt()) << "taken, and not held";
    bh_domain_state before{};
    ASSERT_TRUE(domain_restart_from_any(domain_at(0), &before));
    machine->on_core(control_core);
    ASSERT_EQ(machine->status(0).restarts, 1u);
    open(control_core);
    map(control_core, 1);
    EXPECT_THAT(handled(control_core), IsEmpty());
    ASSERT_TRUE(its.message(control_device, 0));
    EXPECT_THAT(handled(control_core), ElementsAre(first_lpi));
}

TEST_P(VirtualIts, D4_ALongQueueIsExecutedAFewCommandsAtATime)
{
    boot_and_map();
    for (unsigned i = 0; i < 100; i++) {
        put(linux_core, command::sync(0));
    }
    put(linux_core, command::interrupt(linux_device, 3));
    EXPECT_FALSE(store(linux_core, cwriter, written[linux_core], 8)) << "the guest repeats the instruction";
    EXPECT_NE(load(linux_core, creadr, 8), written[linux_core]);
    ASSERT_TRUE(its.message(linux_device, 4));
    EXPECT_THAT(handled(linux_core), ElementsAre(first_lpi + 4)) << "interrupts come between";
    EXPECT_GE(run(linux_core), 12u);
    EXPECT_EQ(load(linux_core, creadr, 8), written[linux_core]);
    EXPECT_THAT(handled(linux_core), ElementsAre(first_lpi + 3));
}

TEST_P(VirtualIts, D4_ACommandThatChangesAllLpisIsTheLastOfItsExit)
{
    boot_and_map();
    for (uint32_t event = 0; event < 32; event++) {
        execute(linux_core, {command::mapti(linux_device, event, first_lpi + event, 0)});
    }
    put(linux_core, command::invall(0));
    const uint64_t second = written[linux_core];
    put(linux_core, command::invall(0));
    EXPECT_FALSE(store(linux_core, cwriter, written[linux_core], 8));
    EXPECT_EQ(load(linux_core, creadr, 8), second);
    EXPECT_TRUE(store(linux_core, cwriter, written[linux_core], 8));
}

TEST_P(VirtualIts, D4_ADisabledItsTranslatesNoMessage)
{
    boot_and_map();
    store(linux_core, ctlr, 0, 4);
    ASSERT_TRUE(its.message(linux_device, 3));
    EXPECT_THAT(handled(linux_core), IsEmpty());
    store(linux_core, ctlr, 1, 4);
    EXPECT_THAT(handled(linux_core), IsEmpty()) << "it is lost";
    ASSERT_TRUE(its.message(linux_device, 3));
    EXPECT_THAT(handled(linux_core), ElementsAre(first_lpi + 3));
}

TEST_F(Its, D4_MessagesWaitWhileABudgetIsSpent)
{
    boot();
    fake_switch_core(linux_core);
    its_hold_messages(true);
    EXPECT_EQ(fake_sysreg(SYSREG_ID_ICC_PMR_EL1), 0xB0u) << "only what is more urgent than messages";
    its_hold_messages(false);
    EXPECT_EQ(fake_sysreg(SYSREG_ID_ICC_PMR_EL1), 0xFFu);
}

TEST_P(VirtualIts, D4_AQueueOutsideOfTheGuestsMemoryDoesNothing)
{
    boot_and_map();
    expect_own_windows();
    for (const uint64_t queue : {uint64_t{0x48007000}, sample_its_pa, uint64_t{0x3FFFF000},
                                 uint64_t{0x40C00000}, uint64_t{0xFFFFFFFFFF000}}) {
        store(linux_core, ctlr, 0, 4);
        store(linux_core, cbaser, valid | queue | 0xFF, 8);
        store(linux_core, cwriter, 0, 8);
        store(linux_core, ctlr, 1, 4);
        unsigned exits = 1;
        while (!store(linux_core, cwriter, 0xFFFE0, 8)) {
            exits++;
        }
        EXPECT_GE(exits, (0x7FFFu + 7) / 8) << "each command takes its time";
        EXPECT_EQ(load(linux_core, creadr, 8), 0xFFFE0u);
    }
    EXPECT_EQ(machine->status(1).state, uint32_t{BH_DOMAIN_STATE_RUNNING});
    ASSERT_TRUE(its.message(linux_device, 3));
    EXPECT_THAT(handled(linux_core), ElementsAre(first_lpi + 3)) << "mapped as before";
}

TEST_P(VirtualIts, D4_AQueueCanCrossTheGuestsPages)
{
    boot_and_map();
    store(linux_core, ctlr, 0, 4);
    store(linux_core, cbaser, valid | 0x40005000 | 1, 8); // physically, its second page is elsewhere
    store(linux_core, ctlr, 1, 4);
    const ItsCommand raise = command::interrupt(linux_device, 3);
    std::memcpy(machine->page(0x48016000).data(), raise.data(), sizeof raise);
    while (!store(linux_core, cwriter, 0x1020, 8)) {
    }
    EXPECT_THAT(handled(linux_core), ElementsAre(first_lpi + 3));
}

TEST_P(VirtualIts, D4_AWriterBeyondTheQueueExecutesNothing)
{
    boot_and_map();
    put(linux_core, command::interrupt(linux_device, 3));
    const uint64_t before = load(linux_core, creadr, 8);
    EXPECT_TRUE(store(linux_core, cwriter, 0x1000, 8)) << "the guest goes on";
    EXPECT_EQ(load(linux_core, creadr, 8), before);
    EXPECT_THAT(handled(linux_core), IsEmpty());
    run(linux_core);
    EXPECT_THAT(handled(linux_core), ElementsAre(first_lpi + 3));
}

TEST_P(VirtualIts, D4_ACommandRunsOnlyWhileTheItsIsEnabledAndHasAQueue)
{
    boot_and_map();
    store(linux_core, ctlr, 0, 4);
    execute(linux_core, {command::interrupt(linux_device, 3)});
    EXPECT_THAT(handled(linux_core), IsEmpty());
    store(linux_core, ctlr, 1, 4);
    EXPECT_THAT(handled(linux_core), ElementsAre(first_lpi + 3));
    store(linux_core, cbaser, 0, 8);
    EXPECT_EQ(load(linux_core, cbaser, 8), valid | queue_ipa | cached) << "fixed while it is enabled";
    store(linux_core, ctlr, 0, 4);
    store(linux_core, cbaser, queue_ipa, 8);
    store(linux_core, ctlr, 1, 4);
    written[linux_core] = 0;
    execute(linux_core, {command::interrupt(linux_device, 3)});
    EXPECT_THAT(handled(linux_core), IsEmpty()) << "a queue that is not valid";
}

TEST_P(VirtualIts, D4_RegistersCanBeAccessedByHalves)
{
    boot();
    store(linux_core, cbaser, queue_ipa | 0x400, 4);
    store(linux_core, cbaser + 4, 0x80000000, 4);
    EXPECT_EQ(load(linux_core, cbaser, 8), valid | queue_ipa | cached);
    EXPECT_EQ(load(linux_core, cbaser, 4), queue_ipa | 0x400);
    EXPECT_EQ(load(linux_core, cbaser + 4, 4), (valid | cached) >> 32);
    store(linux_core, gicr_ipa + 0x70, properties_ipa | 13, 4);
    store(linux_core, gicr_ipa + 0x74, 1, 4);
    EXPECT_EQ(load(linux_core, gicr_ipa + 0x70, 8), 1ull << 32 | properties_ipa | 13 | properties_cached);
    EXPECT_EQ(load(linux_core, gicr_ipa + 0x74, 4), 1u);
    store(linux_core, gicr_ipa + 0x7C, 0x40000001, 4);
    EXPECT_EQ(load(linux_core, gicr_ipa + 0x78, 8), 1ull << 32) << "`all zero` reads as zero";
    EXPECT_EQ(load(linux_core, typer, 4), load(linux_core, typer, 8) & 0xFFFFFFFF);
    EXPECT_EQ(load(linux_core, typer + 4, 4), load(linux_core, typer, 8) >> 32);
    store(linux_core, cwriter, 0x40, 4);
    EXPECT_EQ(load(linux_core, cwriter, 8), 0x40u);
}

TEST_P(VirtualIts, D4_TheGuestSeesWhatEl2Implements)
{
    boot();
    const uint64_t type = load(linux_core, typer, 8);
    EXPECT_EQ(type & 3, 1u) << "physical LPIs, no virtual ones";
    EXPECT_EQ(type >> 8 & 31, 15u) << "16 bits of event ids";
    EXPECT_EQ(type >> 13 & 31, 7u) << "functions of bus 0";
    EXPECT_EQ(type >> 19 & 1, 0u) << "redistributors by number";
    EXPECT_EQ(type >> 32 & 31, 0x13u) << "16 collections";
    EXPECT_EQ(load(linux_core, baser, 8) >> 56 & 7, 1u);
    EXPECT_EQ(load(linux_core, baser + 8, 8) >> 56 & 7, 4u);
    for (uint64_t n = 2; n < 8; n++) {
        EXPECT_EQ(load(linux_core, baser + 8 * n, 8), 0u);
    }
    EXPECT_EQ(load(linux_core, baser, 8) >> 8 & 3, 2u) << "pages of 64 KiB";
    store(linux_core, baser, UINT64_MAX, 8);
    EXPECT_EQ(load(linux_core, baser, 8) >> 56 & 7, 1u);
    EXPECT_EQ(load(linux_core, baser, 8) >> 8 & 3, 3u) << "the guest chooses the size of pages";
    EXPECT_EQ(load(linux_core, ctlr, 4), 1u << 31) << "off, and quiet";
    EXPECT_EQ(load(linux_core, its_ipa + 0xFFE8, 4), 0x3Bu) << "GICv3";
    EXPECT_EQ(load(linux_core, its_ipa + 0x1000, 8), 0u);
    const uint64_t distributor = load(linux_core, gicd_ipa + 4, 4);
    EXPECT_EQ(distributor >> 17 & 1, 1u) << "LPIs";
    EXPECT_EQ(distributor >> 19 & 31, 13u) << "14 bits of INTID";
    EXPECT_EQ(distributor >> 11 & 31, 5u) << "64 LPIs";
    for (const uint32_t vcpu : {0u, 1u}) {
        EXPECT_EQ(load(linux_core, gicr_ipa + vcpu * 0x20000 + 8, 8) & 0xFFFF01, vcpu << 8 | 1);
    }
}

TEST_P(VirtualIts, D4_AccessesThatAnItsDoesNotHaveEndTheDomain)
{
    const std::pair<unsigned, uint64_t> accesses[] = {
        {1, cbaser},     {2, cbaser},          {8, ctlr},    {1, ctlr}, {8, its_ipa + 0xFFE8},
        {8, cbaser + 4}, {2, gicr_ipa + 0x70}, {8, gicr_ipa}};
    for (const auto &[bytes, ipa] : accesses) {
        boot();
        (void)load(linux_core, ipa, bytes);
        EXPECT_EQ(machine->status(1).end, uint32_t{BH_DOMAIN_END_BAD_DEVICE_ACCESS})
            << bytes << ", " << std::hex << ipa;
    }
}

TEST_P(VirtualIts, D4_LpisHaveNoRegistersInTheDistributor)
{
    boot_and_map();
    ASSERT_TRUE(its.message(linux_device, 3));
    take(linux_core);
    for (uint64_t offset = 0x80; offset < 0xE00; offset += 4) {
        if (offset % 0x80 >= 4 * (BH_MAX_INTID / 32) && offset < 0x400) {
            store(linux_core, gicd_ipa + offset, 0xFFFFFFFF, 4);
            EXPECT_EQ(load(linux_core, gicd_ipa + offset, 4), 0u) << std::hex << offset;
        }
    }
    store(linux_core, gicd_ipa + 0x6000 + 8 * (BH_MAX_INTID + 3), 1, 8);
    EXPECT_THAT(handled(linux_core), ElementsAre(first_lpi + 3));
}

TEST_P(VirtualIts, D4_ADomainsDeviceReachesThePageThatTakesMessagesAndNoOther)
{
    boot_and_map();
    constexpr uint64_t takes_messages = sample_its_pa + 0x10000;
    EXPECT_EQ(smmu.access(linux_device, takes_messages + 0x40), takes_messages + 0x40);
    EXPECT_EQ(smmu.access(linux_device, sample_its_pa + 0x88), std::nullopt);
    EXPECT_EQ(smmu.access(linux_device, takes_messages + 0x1000), std::nullopt);
    EXPECT_EQ(smmu.access(5 << 3, takes_messages + 0x40), std::nullopt) << "nobody's";
}

INSTANTIATE_TEST_SUITE_P(D4, VirtualIts, testing::Bool(), [](const testing::TestParamInfo<bool> &variant) {
    return std::string(variant.param ? "LpisActiveUntilTheirEnd" : "LpisWithoutActiveState");
});

} // namespace
} // namespace its_test
