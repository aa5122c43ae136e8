// SPDX-License-Identifier: Apache-2.0
// Flows between domains through EL2's real entry points (F1, F8): registers of socket devices by trapped
// accesses, the broker by its shared pages and its calls, and the state of both when a domain ends.
#include "hosted_machine.h"
#include "run/domain_life.h"

#include "core/broker_admission.h"
#include "core/broker_door.h"
#include "core/path_costs.h"
#include "table_walk.h"
#include "tests/hypervisor/zdma_model.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <gtest/gtest.h>
#include <utility>
#include <vector>

extern "C" {
#include "flow/door.h"
#include "flow/flows.h"
#include "flow/hypercall_flows.h"
#include "flow/path_stamps.h"
#include "memory/placement.h"
#include "run/vcpu_run.h"
#include "vm/clock.h"
#include <arch/mmio.h>
}

namespace flows_test {
namespace {

using namespace bulkhead_test;

constexpr uint32_t control = 0, linux_ = 1, broker = 2; // domains, and their first cores
constexpr uint64_t device = 0x0B000000;
constexpr uint64_t memory = 0x40000000;
constexpr uint64_t queue_bytes = 0x1000;
constexpr uint16_t entries = 8;
constexpr uint32_t port = 5000;
constexpr uint64_t not_supported =
    static_cast<uint64_t>(-static_cast<int64_t>(BH_HYPERCALL_ERROR_NOT_SUPPORTED));

// The driver of one domain, on its first core.
class Driver {
public:
    Driver(HostedMachine &machine, uint32_t domain) : machine_(machine), domain_(domain) {}

    uint64_t read(uint32_t offset, unsigned bytes = 4)
    {
        guest_regs &regs = machine_.on_core(domain_);
        machine_.trap(esr_load(bytes, 1), device + offset);
        return regs.x[1];
    }

    void write(uint32_t offset, uint64_t value)
    {
        machine_.on_core(domain_).x[1] = value;
        machine_.trap(esr_store(4, 1), device + offset);
    }

    // The physical address of a guest-physical one, by the manifest.
    char *at(uint64_t ipa)
    {
        const uint64_t pa = physical(ipa);
        return machine_.page(pa & ~uint64_t{0xFFF}).data() + (pa & 0xFFF);
    }

    uint64_t physical(uint64_t ipa)
    {
        return placement_of(system_manifest(), domain_at(domain_)->config, ipa, 1).pa.value;
    }

    template <typename T> void put(uint64_t ipa, T value) { std::memcpy(at(ipa), &value, sizeof value); }
    template <typename T> T get(uint64_t ipa)
    {
        T value;
        std::memcpy(&value, at(ipa), sizeof value);
        return value;
    }

    static uint64_t queue(uint32_t number) { return memory + number * queue_bytes; }
    // After a reset, which the broker must have finished.
    void start()
    {
        write(0x70, 3);
        write(0x24, 1);
        write(0x20, 1);
        write(0x70, 11);
        for (uint32_t number = 0; number < VSOCK_QUEUES; number++) {
            std::memset(at(queue(number)), 0, queue_bytes);
            write(0x30, number);
            write(0x38, entries);
            for (uint32_t i = 0; i < 3; i++) {
                write(0x80 + 16 * i, queue(number) + i * 0x400);
                write(0x84 + 16 * i, 0);
            }
            write(0x44, 1);
        }
        write(0x70, 15);
    }

    void notify(uint32_t number) { write(0x50, number); }

private:
    HostedMachine &machine_;
    uint32_t domain_;
};

constexpr uint64_t door_at = memory + 0x8000;
constexpr uint32_t sent = 1u << VSOCK_QUEUE_TX;

uint64_t failed(bh_hypercall_error error)
{
    return static_cast<uint64_t>(-static_cast<int64_t>(error));
}

struct Flows : testing::Test {
    explicit Flows(const std::function<void(SampleManifest &)> &change = [](SampleManifest &) {})
        : machine([&](SampleManifest &m) {
              give_flows(m);
              change(m);
              m.seal();
          })
    {
    }

    HostedMachine machine;
    Driver sender{machine, control};
    Driver receiver{machine, linux_};

    // A call with any registers; `answer` gets x1 to x4.
    uint64_t call(uint64_t function, const std::vector<uint64_t> &x, uint32_t caller = broker)
    {
        guest_regs &regs = machine.on_core(caller);
        std::copy(x.begin(), x.end(), &regs.x[1]);
        regs.x[0] = function;
        machine.trap(esr_hvc);
        std::copy(&regs.x[1], &regs.x[5], answer.begin());
        const uint64_t result = regs.x[0];
        settle();
        return result;
    }

    uint64_t open(uint64_t at = door_at, uint64_t by_event = 1)
    {
        return call(BH_HYPERCALL_BROKER_OPEN, {at, by_event});
    }

    uint64_t tell(uint64_t lines, uint64_t failed_ones = 0, uint64_t left = 0, uint64_t counted = 0)
    {
        return call(BH_HYPERCALL_BROKER_TELL, {lines, failed_ones, left, counted});
    }

    // Handles requests of other cores.
    void settle()
    {
        for (uint32_t core = 0; core < 3; core++) {
            machine.on_core(core);
            while (fake_gic_has_interrupt()) {
                machine.interrupt();
            }
        }
    }

    // The broker's pages, as it sees them.
    template <typename Page> Page &page(uint32_t number)
    {
        const uint64_t at = door_at + uint64_t{number} * BH_PAGE_BYTES;
        const uint64_t pa = placement_of(system_manifest(), domain_at(broker)->config, at, 1).pa.value;
        return *reinterpret_cast<Page *>(machine.page(pa).data());
    }
    broker_door &door() { return page<broker_door>(0); }
    broker_reply &reply() { return page<broker_reply>(1); }
    broker_map &map() { return page<broker_map>(2); }
    door_device &at_door(uint32_t domain) { return door().devices[domain]; }

    uint32_t bells_of(uint32_t domain) { return std::exchange(at_door(domain).bells, 0); }

    // The machine ends, `later` ticks from now.
    static void ends(uint64_t later = 0)
    {
        fake_clock_set(clock_now() + later);
        system_ended();
        flows_ended();
    }

    // The broker reports that it has left all lives that it was told of.
    void leave(uint32_t domain)
    {
        reply().lives[domain] = at_door(domain).life;
        EXPECT_EQ(tell(0, 0, 1u << domain), 0u);
    }

    void start(Driver &driver, uint32_t domain)
    {
        driver.write(0x70, 0);
        if (door_reply_here(0) != nullptr) {
            leave(domain);
            driver.write(0x70, 0);
        }
        driver.start();
    }

    bool line_of(uint32_t domain)
    {
        return (domain_at(domain)->vgic.spis[60 / 32 - 1].line >> 60 % 32 & 1) != 0;
    }

    std::array<uint64_t, 4> answer{};
};

TEST_F(Flows, F1_ADomainFindsItsDevice)
{
    EXPECT_EQ(sender.read(0x000), 0x74726976u);
    EXPECT_EQ(sender.read(0x004), 2u);
    EXPECT_EQ(sender.read(0x008), VSOCK_DEVICE_ID);
    EXPECT_EQ(sender.read(0x100, 8), 3u);
    EXPECT_EQ(receiver.read(0x100), 4u);
    EXPECT_EQ(sender.read(0xF00), 0u) << "behind its registers";
    EXPECT_EQ(machine.exits(control, BH_EXIT_REASON_SOCKET_ACCESS), 5u);
    EXPECT_EQ(machine.status(control).state, BH_DOMAIN_STATE_RUNNING);
}

TEST_F(Flows, F8_TheBrokerHasNoDeviceAndOthersHaveNoBroker)
{
    for (const uint64_t function :
         std::initializer_list<uint64_t>{BH_HYPERCALL_BROKER_OPEN, BH_HYPERCALL_BROKER_TELL,
                                         BH_HYPERCALL_BROKER_COPY, BH_HYPERCALL_BROKER_COSTS}) {
        EXPECT_EQ(call(function, {door_at, 1}, control), not_supported);
    }
    machine.on_core(broker);
    machine.trap(esr_load(4, 1), device);
    EXPECT_EQ(machine.status(broker).state, BH_DOMAIN_STATE_CRASHED);
}

TEST_F(Flows, F8_ADoorIsWholePagesOfTheBrokersOwnAndIsOpenedOnce)
{
    const uint64_t invalid = failed(BH_HYPERCALL_ERROR_INVALID_PARAMETERS);
    const uint64_t end = memory + 0x100000;
    for (const uint64_t wrong :
         std::initializer_list<uint64_t>{door_at + 4, memory - BH_PAGE_BYTES, end - 2 * BH_PAGE_BYTES, end,
                                         device, BH_BROKER_WINDOW + 0x60000000, ~uint64_t{0xFFF}}) {
        EXPECT_EQ(open(wrong), invalid) << std::hex << wrong;
    }
    EXPECT_EQ(open(door_at, 2), invalid);
    EXPECT_EQ(tell(1), invalid) << "there is no door";
    EXPECT_EQ(open(end - 3 * BH_PAGE_BYTES), 0u);
    EXPECT_EQ(open(), invalid) << "another one";
    EXPECT_EQ(machine.status(broker).state, BH_DOMAIN_STATE_RUNNING);
}

// A manager on another core stops the broker: it has closed the door before this call opens it.
TEST_F(Flows, F8_ADoorThatIsOpenedDuringAStopDoesNotStayOpen)
{
    auto &state = domain_at(broker)->state;
    const uint32_t running = state;
    guest_regs &regs = machine.on_core(broker);
    state = BH_DOMAIN_STATE_RESTARTING;
    regs.x[0] = BH_HYPERCALL_BROKER_OPEN;
    regs.x[1] = door_at;
    regs.x[2] = 1;
    machine.trap(esr_hvc);
    EXPECT_EQ(door_here(0), nullptr);
    state = running;
}

TEST_F(Flows, F8_TheMapSaysWhoseMemoryIsWhere)
{
    ASSERT_EQ(open(), 0u);
    EXPECT_EQ(map().chunk_bytes, 4096u);
    EXPECT_EQ(map().copied_bytes, UINT32_MAX);
    EXPECT_EQ(map().domains[control].cid, 3u);
    EXPECT_EQ(map().domains[linux_].cid, 4u);
    EXPECT_EQ(map().domains[broker].cid, 0u);
    EXPECT_EQ(map().domains[broker].segment_count, 0u);
    for (const uint32_t domain : {control, linux_}) {
        const segment_map own = {.segments = &map().segments[map().domains[domain].first_segment],
                                 .count = map().domains[domain].segment_count,
                                 .space = {map().color_bits},
                                 .sets = reinterpret_cast<const color_set *>(map().color_sets)};
        for (const uint64_t at : std::initializer_list<uint64_t>{memory, memory + 0x1234, memory + 0x10FFF}) {
            const placement expected = placement_of(system_manifest(), domain_at(domain)->config, at, 64);
            const placement found = segment_map_at(&own, at, 64);
            EXPECT_EQ(found.pa.value, expected.pa.value);
            EXPECT_EQ(found.bytes, expected.bytes);
        }
    }
}

TEST_F(Flows, F8_TheBrokerHearsHowADeviceIsSetUp)
{
    start(sender, control); // before there is a broker
    ASSERT_EQ(open(), 0u);
    start(receiver, linux_); // and after
    for (const uint32_t domain : {control, linux_}) {
        const door_device &told = at_door(domain);
        EXPECT_EQ(told.version % 2, 0u);
        EXPECT_EQ(told.status, 15u);
        EXPECT_EQ(told.accepted, VIRTIO_F_VERSION_1);
        for (uint32_t i = 0; i < VSOCK_QUEUES; i++) {
            EXPECT_EQ(told.queues[i].descriptors, Driver::queue(i));
            EXPECT_EQ(told.queues[i].available, Driver::queue(i) + 0x400);
            EXPECT_EQ(told.queues[i].used, Driver::queue(i) + 0x800);
            EXPECT_EQ(told.queues[i].entries, entries);
            EXPECT_EQ(told.queues[i].begun, 1u);
        }
        EXPECT_EQ(bells_of(domain), DOOR_BELL_CHANGED);
    }
    EXPECT_EQ(door().flows[0].changes, 1u);
    EXPECT_EQ(door().flows[0].parameters.port, port);
    EXPECT_EQ(door().flows[2].changes, 0u);
}

TEST_F(Flows, F1_AQueueThatCannotBeStopsTheDeviceAndNothingElse)
{
    ASSERT_EQ(open(), 0u);
    sender.write(0x70, 0);
    leave(control);
    sender.write(0x70, 0);
    sender.write(0x70, 3);
    sender.write(0x24, 1);
    sender.write(0x20, 1);
    sender.write(0x70, 11);
    sender.write(0x38, entries);
    sender.write(0x80, 0x3FFFF000); // not its own
    sender.write(0x44, 1);
    EXPECT_EQ(sender.read(0x70), 11u | VIRTIO_STATUS_NEEDS_RESET);
    EXPECT_EQ(at_door(control).status, 0u);
    EXPECT_EQ(machine.status(control).state, BH_DOMAIN_STATE_RUNNING);
}

TEST_F(Flows, F9_ANotificationIsABellAndTheTimeOfTheFirst)
{
    ASSERT_EQ(open(), 0u);
    start(sender, control);
    (void)bells_of(control);
    sender.notify(VSOCK_QUEUE_TX);
    EXPECT_EQ(at_door(control).bells, sent);
    const uint64_t first = at_door(control).notified_at;
    EXPECT_EQ(first, clock_now());
    fake_clock_set(first + 1000);
    sender.notify(VSOCK_QUEUE_TX);
    sender.notify(VSOCK_QUEUE_RX);
    EXPECT_EQ(at_door(control).notified_at, first) << "nobody has looked since";
    EXPECT_EQ(bells_of(control), sent | 1u << VSOCK_QUEUE_RX);
    sender.notify(VSOCK_QUEUE_TX);
    EXPECT_EQ(at_door(control).notified_at, first + 1000);
    sender.notify(3);
    EXPECT_EQ(bells_of(control), sent) << "there is no fourth queue";
    EXPECT_EQ(bells_of(linux_), DOOR_BELL_CHANGED);
}

TEST_F(Flows, F9_WhatTheBrokerHasNotHeardWhenTheMachineEndsIsSaid)
{
    ASSERT_EQ(open(), 0u);
    start(sender, control);
    (void)bells_of(control);
    ends();
    EXPECT_EQ(machine.status(control).unheard_ticks, 0u);
    sender.notify(VSOCK_QUEUE_RX);
    ends(1000);
    EXPECT_EQ(machine.status(control).unheard_ticks, 0u) << "buffers, and not packets";
    sender.notify(VSOCK_QUEUE_TX);
    fake_clock_set(clock_now() + 1000);
    sender.notify(VSOCK_QUEUE_TX);
    ends();
    EXPECT_EQ(machine.status(control).unheard_ticks, 1000u);
    EXPECT_EQ(machine.status(linux_).unheard_ticks, 0u);
    ends(1ull << 32);
    EXPECT_EQ(machine.status(control).unheard_ticks, UINT32_MAX);
    (void)bells_of(control);
    ends();
    EXPECT_EQ(machine.status(control).unheard_ticks, 0u);
}

TEST_F(Flows, F8_ABrokerIsWokenIfItWaitsAndByAnEventOnly)
{
    ASSERT_EQ(open(), 0u);
    start(sender, control);
    const uint32_t events = fake_barriers(FAKE_SEV);
    sender.notify(VSOCK_QUEUE_TX);
    EXPECT_EQ(door().woken, 0u);
    EXPECT_EQ(fake_barriers(FAKE_SEV), events);
    reply().waits = 1;
    sender.notify(VSOCK_QUEUE_TX);
    EXPECT_EQ(door().woken, 1u);
    EXPECT_GT(fake_barriers(FAKE_SEV), events);
    machine.on_core(broker);
    EXPECT_FALSE(fake_gic_has_interrupt());
    EXPECT_FALSE(line_of(broker));
}

TEST_F(Flows, F8_OrByItsInterruptUntilItTellsSomething)
{
    ASSERT_EQ(open(door_at, 0), 0u);
    start(sender, control);
    reply().waits = 1;
    sender.notify(VSOCK_QUEUE_TX);
    EXPECT_EQ(door().woken, 1u);
    EXPECT_TRUE(line_of(broker));
    EXPECT_EQ(tell(0), 0u);
    EXPECT_FALSE(line_of(broker));
}

TEST_F(Flows, F8_DriversAreInterruptedAndDevicesFail)
{
    ASSERT_EQ(open(), 0u);
    start(sender, control);
    EXPECT_EQ(tell(~0ull), 0u) << "also of those that have no device, or one that is not set up";
    EXPECT_TRUE(line_of(control));
    EXPECT_FALSE(line_of(linux_));
    EXPECT_EQ(sender.read(0x60), 1u);
    sender.write(0x64, 1);
    EXPECT_FALSE(line_of(control));
    EXPECT_EQ(tell(0, 1u << control | 1u << linux_), 0u);
    EXPECT_EQ(sender.read(0x70), 15u | VIRTIO_STATUS_NEEDS_RESET);
    EXPECT_EQ(sender.read(0x60), VIRTIO_INTERRUPT_CONFIG);
    EXPECT_EQ(receiver.read(0x70), 0u) << "no driver";
    EXPECT_EQ(tell(1u << control), 0u);
    EXPECT_EQ(sender.read(0x60), VIRTIO_INTERRUPT_CONFIG) << "nothing more of its queues";
}

TEST_F(Flows, F8_StatisticsAreThoseOfTheBroker)
{
    ASSERT_EQ(open(), 0u);
    reply().statistics[1] = {.packets = 1,
                             .bytes = 2,
                             .control_packets = 3,
                             .misses = 4,
                             .latency_least = ~uint64_t{0},
                             .latency_most = 6,
                             .latency_total = 7,
                             .lost = 8,
                             .refused = 9,
                             .unread = 10};
    EXPECT_EQ(tell(0, 0, 0, ~uint64_t{1}), 0u);
    const status_flow &status = system_status()->flows[1];
    EXPECT_EQ(status.packets, 1u);
    EXPECT_EQ(status.bytes, 2u);
    EXPECT_EQ(status.control_packets, 3u);
    EXPECT_EQ(status.misses, 4u);
    EXPECT_EQ(status.latency_min_ticks, UINT32_MAX);
    EXPECT_EQ(status.latency_max_ticks, 6u);
    EXPECT_EQ(status.latency_sum_ticks, 7u);
    EXPECT_EQ(status.lost, 8u);
    EXPECT_EQ(status.refused, 9u);
    EXPECT_EQ(status.unread, 10u);
    EXPECT_EQ(status.port, port) << "what the flow is, is EL2's word";
}

TEST_F(Flows, T2_ADriverThatStopsItsDeviceWaitsInItsOwnTime)
{
    ASSERT_EQ(open(), 0u);
    start(sender, control);
    reply().lives[control] = at_door(control).life;
    const uint32_t life = at_door(control).life;
    const uint64_t at = fake_sysreg(SYSREG_ID_ELR_EL2);
    const auto stop = [&] {
        machine.on_core(control);
        fake_set_sysreg(SYSREG_ID_ELR_EL2, at);
        sender.write(0x70, 0);
        machine.on_core(control);
        return fake_sysreg(SYSREG_ID_ELR_EL2);
    };
    EXPECT_EQ(stop(), at) << "the store is executed again";
    EXPECT_EQ(stop(), at);
    EXPECT_EQ(at_door(control).life, life + 1) << "one reset, however often it is asked for";
    EXPECT_EQ(at_door(control).status, 0u);
    EXPECT_TRUE(flows_touch(domain_at(control)));
    EXPECT_FALSE(flows_touch(domain_at(broker)));
    leave(control);
    EXPECT_EQ(stop(), at + 4);
    EXPECT_EQ(sender.read(0x70), 0u);
    start(sender, control);
    EXPECT_EQ(at_door(control).status, 15u);
    EXPECT_EQ(at_door(control).queues[VSOCK_QUEUE_TX].begun, 2u);
}

TEST_F(Flows, F1_ADriverCanGiveUpAQueueAndSetItUpAgain)
{
    ASSERT_EQ(open(), 0u);
    start(sender, control);
    reply().lives[control] = at_door(control).life;
    sender.write(0x30, VSOCK_QUEUE_RX);
    sender.write(0x44, 0);
    EXPECT_EQ(at_door(control).status, 0u) << "nothing of the device runs meanwhile";
    leave(control);
    sender.write(0x44, 0);
    EXPECT_EQ(sender.read(0x44), 0u);
    EXPECT_EQ(sender.read(0x70), 15u) << "without a reset of the device";
    EXPECT_EQ(at_door(control).status, 15u);
    EXPECT_EQ(at_door(control).queues[VSOCK_QUEUE_RX].entries, 0u);
    for (uint32_t i = 0; i < 3; i++) {
        sender.write(0x80 + 16 * i, Driver::queue(VSOCK_QUEUE_RX) + i * 0x400);
    }
    sender.write(0x38, entries);
    (void)bells_of(control);
    sender.write(0x44, 1);
    EXPECT_EQ(sender.read(0x44), 1u);
    EXPECT_EQ(bells_of(control), DOOR_BELL_CHANGED);
    EXPECT_EQ(at_door(control).queues[VSOCK_QUEUE_RX].begun, 2u);
    EXPECT_EQ(at_door(control).queues[VSOCK_QUEUE_TX].begun, 1u) << "the others go on";
}

TEST_F(Flows, F1_ADomainThatEndsSetsNoDeviceUpAnyMore)
{
    ASSERT_EQ(open(), 0u);
    start(sender, control);
    machine.on_core(linux_);
    EXPECT_EQ(domain_stop(domain_at(control)), BH_DOMAIN_STATE_RUNNING);
    machine.on_core(control); // which has not yet been told of it
    const auto status = [&](bool write, uint64_t value) {
        mmio_access access{.offset = 0x70, .value = value, .bytes = 4, .write = write, .again = false};
        EXPECT_TRUE(flows_device_access(&domain_at(control)->vcpus[0], &access));
        return access.value;
    };
    EXPECT_EQ(status(false, 0), 0u);
    (void)status(true, 3);
    EXPECT_EQ(status(false, 0), 0u);
    EXPECT_EQ(at_door(control).status, 0u);
}

TEST_F(Flows, F2_ADomainThatEndsIsTouchedUntilTheBrokerHasLeftIt)
{
    ASSERT_EQ(open(), 0u);
    start(receiver, linux_);
    reply().lives[linux_] = at_door(linux_).life;
    EXPECT_FALSE(flows_touch(domain_at(linux_)));
    machine.on_core(control);
    EXPECT_EQ(domain_stop(domain_at(linux_)), BH_DOMAIN_STATE_RUNNING);
    EXPECT_TRUE(flows_touch(domain_at(linux_)));
    leave(linux_);
    EXPECT_FALSE(flows_touch(domain_at(linux_)));
}

TEST_F(Flows, F2_ABrokerThatIsEndedInMidCopyTouchesUntilItsCoreHasStopped)
{
    ASSERT_EQ(open(), 0u);
    start(sender, control);
    start(receiver, linux_);
    machine.on_core(control);
    EXPECT_EQ(domain_stop(domain_at(broker)), BH_DOMAIN_STATE_RUNNING);
    EXPECT_TRUE(flows_touch(domain_at(linux_)));
    machine.on_core(broker);
    vcpu_went_off(&domain_at(broker)->vcpus[0]);
    EXPECT_FALSE(flows_touch(domain_at(linux_)));
    const broker_door before = door();
    sender.notify(VSOCK_QUEUE_TX);
    sender.write(0x70, 0);
    EXPECT_EQ(std::memcmp(&before, &door(), sizeof before), 0) << "its memory is not its own any more";
}

TEST_F(Flows, F8_DevicesOfABrokerThatIsGoneAskForAReset)
{
    ASSERT_EQ(open(), 0u);
    start(sender, control);
    machine.on_core(broker);
    machine.trap(esr_load(4, 1), device);
    EXPECT_EQ(machine.status(broker).state, BH_DOMAIN_STATE_CRASHED);
    EXPECT_EQ(sender.read(0x70), 15u | VIRTIO_STATUS_NEEDS_RESET) << "nobody knows where its queues were";
    start(sender, control);
    EXPECT_EQ(sender.read(0x70), 15u);
}

// A broker's state is kept when its core has left it, and its next life finds it in the shared pages.
TEST_F(Flows, F8_ABrokerThatIsStartedAgainFindsHowFarItWas)
{
    ASSERT_EQ(open(), 0u);
    start(sender, control);
    const door_progress none{};
    EXPECT_EQ(std::memcmp(&reply().progress[control], &none, sizeof none), 0) << "it is the first";
    door_progress &progress = reply().progress[control];
    progress.begun[VSOCK_QUEUE_TX] = at_door(control).queues[VSOCK_QUEUE_TX].begun;
    progress.queues[VSOCK_QUEUE_TX] = {
        .next_taken = 9, .next_used = 7, .reserved = 0, .held = {0x18, 0, 0, 0}};
    reply().statistics[1] = flow_path_statistics{};
    reply().statistics[1].packets = 4;
    reply().statistics[1].bytes = 400;
    reply().statistics[1].latency_least = 20;
    reply().statistics[1].latency_most = 30;
    EXPECT_EQ(tell(0, 0, 0, 2), 0u);
    reply().statistics[1].lost = 1; // which EL2 was not told of

    machine.on_core(control);
    bh_domain_state before{};
    ASSERT_TRUE(domain_restart_from_any(domain_at(broker), &before));
    EXPECT_EQ(sender.read(0x70), 15u) << "devices go on";
    progress.queues[VSOCK_QUEUE_TX].next_taken = 10; // its core has not seen it yet
    const door_progress last = progress;
    machine.on_core(broker);
    vcpu_went_off(&domain_at(broker)->vcpus[0]);
    sender.notify(VSOCK_QUEUE_TX);
    machine.on_core(broker);
    vcpu_went_off(&domain_at(broker)->vcpus[0]); // once is enough
    std::memset(&reply(), 0, sizeof reply());

    ASSERT_EQ(open(), 0u);
    EXPECT_EQ(std::memcmp(&reply().progress[control], &last, sizeof last), 0);
    EXPECT_EQ(at_door(control).queues[VSOCK_QUEUE_TX].begun, last.begun[VSOCK_QUEUE_TX])
        << "the same life of it";
    EXPECT_EQ(at_door(control).status, 15u);
    reply().statistics[1].packets = 2;
    reply().statistics[1].bytes = 100;
    reply().statistics[1].latency_least = 25;
    reply().statistics[1].latency_most = 50;
    EXPECT_EQ(tell(0, 0, 0, 2), 0u);
    const status_flow &status = system_status()->flows[1];
    EXPECT_EQ(status.packets, 6u);
    EXPECT_EQ(status.bytes, 500u);
    EXPECT_EQ(status.latency_min_ticks, 20u);
    EXPECT_EQ(status.latency_max_ticks, 50u);
    EXPECT_EQ(status.lost, 1u);
}

struct FlowsWhoseBrokerReturns : Flows {
    FlowsWhoseBrokerReturns()
        : Flows([](SampleManifest &m) { m.domains[broker].flags |= BH_DOMAIN_FLAG_RESTART_ON_FAILURE; })
    {
    }
};

TEST_F(FlowsWhoseBrokerReturns, F8_AFaultOfTheBrokerIsNoneOfTheDevices)
{
    ASSERT_EQ(open(), 0u);
    start(sender, control);
    reply().progress[control].queues[VSOCK_QUEUE_RX].next_taken = 3;
    machine.on_core(broker);
    machine.trap(esr_load(4, 1), device);
    machine.on_core(broker);
    EXPECT_EQ(machine.status(broker).state, BH_DOMAIN_STATE_RUNNING);
    EXPECT_EQ(machine.status(broker).restarts, 1u);
    EXPECT_EQ(sender.read(0x70), 15u);
    ASSERT_EQ(open(), 0u);
    EXPECT_EQ(reply().progress[control].queues[VSOCK_QUEUE_RX].next_taken, 3u);
}

TEST_F(Flows, F2_TheMachineEndsWhenNobodyIsLeftWhoSends)
{
    machine.on_core(control);
    domain_end(domain_at(control), BH_DOMAIN_STATE_STOPPED, BH_DOMAIN_END_SYSTEM_OFF);
    EXPECT_FALSE(system_is_ending());
    machine.on_core(linux_);
    domain_end(domain_at(linux_), BH_DOMAIN_STATE_STOPPED, BH_DOMAIN_END_SYSTEM_OFF);
    EXPECT_TRUE(system_is_ending()) << "the broker serves nobody";
}

struct FlowsWhoseBrokerManages : Flows {
    FlowsWhoseBrokerManages()
        : Flows([](SampleManifest &m) { m.domains[broker].flags |= BH_DOMAIN_FLAG_MANAGER; })
    {
    }
};

TEST_F(FlowsWhoseBrokerManages, F2_TheMachineStaysSinceItMayStartOneAgain)
{
    for (const uint32_t domain : {uint32_t{control}, uint32_t{linux_}}) {
        machine.on_core(domain);
        domain_end(domain_at(domain), BH_DOMAIN_STATE_STOPPED, BH_DOMAIN_END_SYSTEM_OFF);
    }
    EXPECT_FALSE(system_is_ending());
    machine.on_core(broker);
    domain_end(domain_at(broker), BH_DOMAIN_STATE_STOPPED, BH_DOMAIN_END_SYSTEM_OFF);
    EXPECT_TRUE(system_is_ending());
}

// Flows that a manager adds and removes (F6), at a rate of 100 MB/s.
struct FlowChanges : Flows {
    static constexpr uint32_t other = 6000;
    static constexpr uint64_t ms = 1'000'000;
    static constexpr uint32_t ends_ns = 110; // of each flow: by EL2's own interrupts

    FlowChanges()
        : Flows([](SampleManifest &m) {
              m.domains[control].flags |= BH_DOMAIN_FLAG_MANAGER;
              m.header.broker.bytes_per_s = 100'000'000;
              m.header.broker.costs.transport_max = 700;
              m.header.broker.costs.notify_max = 1300;
              m.header.broker.costs.end_interrupts_max = 90;
              m.domains[control].interrupted_ns = 20;
              m.domains[linux_].interrupted_ns = 90;
          })
    {
    }

    uint64_t add(uint64_t to_port, uint64_t bytes = 4096, uint64_t period = ms, uint64_t deadline = ms)
    {
        return call(BH_HYPERCALL_FLOW_ADD, {control, linux_, to_port, bytes, period, deadline, 0}, control);
    }

    uint64_t ask() { return call(BH_HYPERCALL_FLOW_TEST, {}, control); }

    // The broker tests the flow that it is asked for, as its program does.
    void broker_tests()
    {
        const uint64_t number = broker_admission_request(&door());
        flow_admission admission{};
        door_answer result{};
        if (broker_admission_test(&admission, &door(), &map(), number, &result)) {
            result.number = number;
            result.longest_away_ns = 700;
            reply().answer = result;
        }
    }

    // Has the broker test the flow; the manager asks before and after.
    uint64_t verdict()
    {
        EXPECT_EQ(ask(), 0u);
        EXPECT_EQ(answer[0], BH_FLOW_VERDICT_GOES_ON);
        broker_tests();
        EXPECT_EQ(ask(), 0u);
        return answer[0];
    }

    // The broker answers the latest request, or one `ago` before it, with any values.
    void broker_answers(uint32_t verdict, uint64_t ago = 0, uint32_t problem = FLOW_OK, uint32_t culprit = 0)
    {
        reply().answer = {.number = door().request.number - ago,
                          .problem = problem,
                          .culprit = culprit,
                          .verdict = verdict,
                          .reserved = 0,
                          .at = ~0ull,
                          .demand = ~0ull,
                          .longest_away_ns = ~0ull};
    }

    uint64_t remove(uint64_t number) { return call(BH_HYPERCALL_FLOW_REMOVE, {number}, control); }

    // The broker is told that a flow with this port is open.
    bool carries(uint32_t to_port)
    {
        return std::any_of(std::begin(door().flows), std::end(door().flows), [&](const door_flow &flow) {
            return flow.changes % 2 == 1 && flow.parameters.port == to_port;
        });
    }
};

TEST_F(FlowChanges, F6_AnAdmittedFlowCarries)
{
    ASSERT_EQ(open(), 0u);
    EXPECT_FALSE(carries(other));
    ASSERT_EQ(add(other), 0u);
    const uint64_t number = answer[0];
    EXPECT_EQ(number, 2u) << "behind those of the manifest";
    EXPECT_FALSE(carries(other)) << "it is not tested yet";
    ASSERT_EQ(verdict(), BH_FLOW_VERDICT_ADMITTED);
    EXPECT_EQ(answer[1], number);
    EXPECT_TRUE(carries(other));
    const status_flow &status = system_status()->flows[number];
    EXPECT_EQ(status.state, BH_FLOW_STATE_OPEN);
    EXPECT_EQ(status.port, other);
    EXPECT_EQ(status.deadline_ns, ms);
    EXPECT_EQ(call(BH_HYPERCALL_FLOW_TEST, {}, control), failed(BH_HYPERCALL_ERROR_FLOW_BUSY))
        << "nothing to test";
}

TEST_F(FlowChanges, F6_AFlowThatWouldMakeOthersLateIsRefused)
{
    ASSERT_EQ(open(), 0u);
    ASSERT_EQ(add(other, 65536, ms / 10, ms / 10), 0u);
    EXPECT_EQ(verdict(), BH_FLOW_VERDICT_OVERLOADED);
    // 64 KiB need 0.66 ms, and the flows of the manifest as much in each millisecond.
    ASSERT_EQ(add(other, 16384, ms, ms / 20), 0u);
    EXPECT_EQ(verdict(), BH_FLOW_VERDICT_LATE);
    EXPECT_GT(answer[3], answer[2]) << "more is asked for than there is time";
    EXPECT_EQ(system_status()->flows[2].state, BH_FLOW_STATE_NONE);
    ASSERT_EQ(add(other, 64, ms, 1999), 0u);
    broker_tests();
    EXPECT_EQ(ask(), failed(BH_HYPERCALL_ERROR_FLOW_FIXED));
    EXPECT_EQ(answer[0], 2u) << "that flow itself";
    EXPECT_EQ(ask(), failed(BH_HYPERCALL_ERROR_FLOW_BUSY)) << "it is told once";
    EXPECT_EQ(add(other), 0u) << "the others may still come";
    EXPECT_EQ(verdict(), BH_FLOW_VERDICT_ADMITTED);
}

TEST_F(FlowChanges, F6_AFlowThatEndsMakesRoomWhenTheBrokerHasLeftIt)
{
    ASSERT_EQ(open(), 0u);
    const uint32_t changes = door().flow_changes;
    ASSERT_EQ(remove(0), 0u);
    EXPECT_EQ(door().flow_changes, changes + 1);
    EXPECT_EQ(door().flows[0].changes, 2u);
    EXPECT_EQ(system_status()->flows[0].state, BH_FLOW_STATE_CLOSED);
    EXPECT_EQ(remove(0), failed(BH_HYPERCALL_ERROR_INVALID_PARAMETERS)) << "it is gone";
    EXPECT_EQ(add(port, 32768, ms / 2, ms / 2), failed(BH_HYPERCALL_ERROR_FLOW_BUSY)) << "ends still hear";
    reply().flow_changes[0] = door().flows[0].changes;
    ASSERT_EQ(add(port, 32768, ms / 2, ms / 2), 0u) << "the same ends";
    EXPECT_EQ(verdict(), BH_FLOW_VERDICT_ADMITTED);
    EXPECT_TRUE(carries(port));
}

TEST_F(FlowChanges, F6_WhatCannotBeIsRefusedAndChangesNothing)
{
    const uint64_t invalid = failed(BH_HYPERCALL_ERROR_INVALID_PARAMETERS);
    const std::vector<uint64_t> good = {control, linux_, other, 4096, ms, ms, 0};
    const std::pair<size_t, uint64_t> bad[] = {{0, 3},          {0, linux_},
                                               {0, broker},     {0, 1ull << 32},
                                               {1, broker},     {1, ~0ull},
                                               {2, port},       {2, 0xFFFFFFFF},
                                               {2, 1ull << 40}, {3, 0},
                                               {3, 65537},      {3, (1ull << 32) | 64},
                                               {4, 0},          {4, (1ull << 40) + 1},
                                               {5, 0},          {5, ~0ull},
                                               {6, 0x100001},   {6, 1ull << 33}};
    for (const auto &[place, value] : bad) {
        auto x = good;
        x[place] = value;
        EXPECT_EQ(call(BH_HYPERCALL_FLOW_ADD, x, control), invalid) << place << " " << value;
    }
    auto few = good; // transfers: fewer than the chunks
    few[3] = 65536;
    few[6] = 15;
    ASSERT_EQ(open(), 0u);
    ASSERT_EQ(call(BH_HYPERCALL_FLOW_ADD, few, control), 0u);
    broker_tests();
    EXPECT_EQ(ask(), invalid) << "only the broker knows";
    for (const uint64_t number :
         std::initializer_list<uint64_t>{uint64_t{2}, uint64_t{BH_MAX_FLOWS}, ~uint64_t{0}}) {
        EXPECT_EQ(remove(number), invalid);
    }
    EXPECT_EQ(call(BH_HYPERCALL_FLOW_ADD, good, linux_), not_supported) << "no manager";
    EXPECT_EQ(call(BH_HYPERCALL_FLOW_REMOVE, {0}, linux_), not_supported);
    EXPECT_EQ(call(BH_HYPERCALL_FLOW_TEST, {}, control), failed(BH_HYPERCALL_ERROR_FLOW_BUSY));
}

TEST_F(FlowChanges, F6_OneAtATimeAndOnlyByWhoBegan)
{
    ASSERT_EQ(add(other), 0u);
    EXPECT_EQ(add(other + 1), failed(BH_HYPERCALL_ERROR_FLOW_BUSY));
    EXPECT_EQ(remove(0), failed(BH_HYPERCALL_ERROR_FLOW_BUSY));
    machine.on_core(control);
    domain_stop(domain_at(control)); // the domain that added it has ended
    hypercall_flows_domain_stopped(domain_at(control));
    std::array<uint64_t, 31> x = {BH_HYPERCALL_FLOW_ADD, control, linux_, other + 1, 4096, ms, ms};
    ASSERT_TRUE(hypercall_flows(domain_at(linux_), x.data()));
    EXPECT_EQ(x[0], 0u) << "the test has ended with its owner";
    x = {BH_HYPERCALL_FLOW_ADD, control, linux_, other + 2, 4096, ms, ms};
    ASSERT_TRUE(hypercall_flows(domain_at(control), x.data()));
    EXPECT_EQ(x[0], failed(BH_HYPERCALL_ERROR_FLOW_BUSY)) << "nobody would end what it begins";
}

TEST_F(FlowChanges, F8_TheBrokerIsWokenForATestAndSeesAllFlows)
{
    ASSERT_EQ(open(), 0u);
    reply().waits = 1;
    door().woken = 0;
    const uint64_t before = door().request.number;
    ASSERT_EQ(add(other, 4096, 3 * ms, 2 * ms), 0u);
    EXPECT_EQ(door().woken, 1u);
    const door_request &request = door().request;
    EXPECT_EQ(request.number, before + 1);
    EXPECT_EQ(request.flow, 2u);
    EXPECT_EQ(request.source, control);
    EXPECT_EQ(request.destination, linux_);
    EXPECT_EQ(request.packet_bytes, 4096u);
    EXPECT_EQ(request.period_ns, 3 * ms);
    EXPECT_EQ(request.deadline_ns, 2 * ms);
    EXPECT_EQ(request.ends_ns, ends_ns);
    EXPECT_EQ(map().bytes_per_s, 100'000'000u);
    EXPECT_EQ(map().costs.notify_max, 1300u);
    flow_admission admission{};
    door_answer result{};
    ASSERT_TRUE(broker_admission_test(&admission, &door(), &map(), request.number, &result));
    EXPECT_EQ(admission.count, 3u) << "two of the manifest";
    EXPECT_EQ(admission.senders, 2u);
    for (uint32_t i = 0; i < admission.task_count; i++) {
        EXPECT_EQ(admission.tasks[i].ends_ns, ends_ns) << "of all tasks of both directions";
    }
    for (uint32_t i = 0; i < 2; i++) {
        EXPECT_EQ(door().flows[i].ends_ns, ends_ns);
        EXPECT_EQ(door().flows[i].deadline_ns, manifest_flows(system_manifest())[i].deadline_ns);
    }
}

TEST_F(FlowChanges, F8_AnAnswerOutOfRangeRefusesTheFlow)
{
    ASSERT_EQ(open(), 0u);
    for (const uint32_t nonsense :
         {uint32_t{FLOW_GOES_ON}, uint32_t{FLOW_IMPOSSIBLE}, uint32_t{6}, UINT32_MAX}) {
        ASSERT_EQ(add(other), 0u);
        broker_answers(nonsense);
        EXPECT_EQ(ask(), 0u);
        EXPECT_EQ(answer[0], BH_FLOW_VERDICT_UNDECIDED) << nonsense;
        EXPECT_EQ(answer[2], 0u);
        EXPECT_FALSE(carries(other));
    }
    ASSERT_EQ(add(other), 0u);
    broker_answers(FLOW_SCHEDULABLE, 0, UINT32_MAX, UINT32_MAX);
    EXPECT_EQ(ask(), failed(BH_HYPERCALL_ERROR_INVALID_PARAMETERS));
    EXPECT_EQ(answer[0], 2u) << "no slot: the flow itself";
    ASSERT_EQ(add(other), 0u);
    broker_answers(FLOW_SCHEDULABLE, 0, FLOW_QUEUE_LONG, 1);
    EXPECT_EQ(ask(), failed(BH_HYPERCALL_ERROR_FLOW_ROOM));
    EXPECT_EQ(answer[0], 1u);
    EXPECT_FALSE(carries(other));
}

TEST_F(FlowChanges, F8_AnAnswerToAnEarlierRequestIsNone)
{
    ASSERT_EQ(open(), 0u);
    ASSERT_EQ(add(other, 65536, ms / 10, ms / 10), 0u);
    const uint64_t number = answer[0];
    EXPECT_EQ(remove(number), 0u) << "the caller cancels its test";
    EXPECT_EQ(door().request.flow, uint32_t{BH_MAX_FLOWS});
    broker_answers(FLOW_SCHEDULABLE);
    EXPECT_EQ(ask(), failed(BH_HYPERCALL_ERROR_FLOW_BUSY)) << "nothing is tested";
    EXPECT_FALSE(carries(other));
    ASSERT_EQ(add(other), 0u);
    for (const uint64_t ago : {uint64_t{1}, uint64_t{2}, uint64_t{1000}, uint64_t{1} << 32}) {
        broker_answers(FLOW_SCHEDULABLE, ago);
        EXPECT_EQ(ask(), 0u);
        EXPECT_EQ(answer[0], BH_FLOW_VERDICT_GOES_ON) << ago;
    }
    EXPECT_FALSE(carries(other));
    EXPECT_EQ(verdict(), BH_FLOW_VERDICT_ADMITTED);
    EXPECT_EQ(door().request.flow, uint32_t{BH_MAX_FLOWS}) << "the next broker does not test it again";
}

TEST_F(FlowChanges, F8_ABrokerThatNeverAnswersHoldsUpNobodyElse)
{
    ASSERT_EQ(open(), 0u);
    ASSERT_EQ(add(other), 0u);
    const uint64_t number = answer[0];
    for (int i = 0; i < 1000; i++) {
        ASSERT_EQ(ask(), 0u);
        ASSERT_EQ(answer[0], BH_FLOW_VERDICT_GOES_ON);
    }
    EXPECT_EQ(remove(0), failed(BH_HYPERCALL_ERROR_FLOW_BUSY));
    EXPECT_EQ(remove(number), 0u);
    EXPECT_EQ(remove(0), 0u) << "the manager has given up";
}

TEST_F(FlowChanges, F8_AManagerThatNeverAsksHoldsUpNobodyElse)
{
    ASSERT_EQ(open(), 0u);
    ASSERT_EQ(add(other), 0u);
    const uint64_t number = answer[0];
    const auto by_another = [](std::array<uint64_t, 31> x) {
        EXPECT_TRUE(hypercall_flows(domain_at(linux_), x.data()));
        return x;
    };
    auto x = by_another({BH_HYPERCALL_FLOW_ADD, control, linux_, other + 1, 4096, ms, ms});
    EXPECT_EQ(x[0], failed(BH_HYPERCALL_ERROR_FLOW_BUSY));
    EXPECT_EQ(x[1], number) << "which flow is being tested";
    EXPECT_EQ(by_another({BH_HYPERCALL_FLOW_REMOVE, number})[0], 0u);
    EXPECT_EQ(by_another({BH_HYPERCALL_FLOW_ADD, control, linux_, other + 1, 4096, ms, ms})[0], 0u);
    EXPECT_EQ(ask(), failed(BH_HYPERCALL_ERROR_FLOW_BUSY)) << "no flow of the first manager is being tested";
}

TEST_F(FlowChanges, F8_ABrokerThatEndsDuringATestLeavesItToTheNextOne)
{
    ASSERT_EQ(add(other), 0u) << "also before there is a broker";
    ASSERT_EQ(open(), 0u);
    const uint64_t number = door().request.number;
    EXPECT_EQ(door().request.flow, 2u);
    machine.on_core(control);
    bh_domain_state before{};
    ASSERT_TRUE(domain_restart_from_any(domain_at(broker), &before));
    broker_answers(FLOW_SCHEDULABLE); // its core has not seen it yet
    EXPECT_EQ(ask(), 0u);
    EXPECT_EQ(answer[0], BH_FLOW_VERDICT_GOES_ON) << "the door is closed";
    machine.on_core(broker);
    vcpu_went_off(&domain_at(broker)->vcpus[0]);
    std::memset(&reply(), 0, sizeof reply());
    ASSERT_EQ(open(), 0u);
    EXPECT_EQ(door().request.number, number);
    EXPECT_EQ(door().request.flow, 2u);
    EXPECT_EQ(verdict(), BH_FLOW_VERDICT_ADMITTED);
    EXPECT_TRUE(carries(other));
}

TEST_F(FlowChanges, F8_ATestEndsWithItsOwner)
{
    ASSERT_EQ(open(), 0u);
    ASSERT_EQ(add(other), 0u);
    const uint64_t number = door().request.number;
    broker_answers(FLOW_SCHEDULABLE);
    machine.on_core(control);
    domain_stop(domain_at(control));
    hypercall_flows_domain_stopped(domain_at(control));
    EXPECT_EQ(door().request.number, number + 1);
    EXPECT_EQ(door().request.flow, uint32_t{BH_MAX_FLOWS});
    flow_admission admission{};
    door_answer result{};
    EXPECT_FALSE(broker_admission_test(&admission, &door(), &map(), number + 1, &result));
    EXPECT_FALSE(carries(other));
}

// A pace that is longer than the period would put off the packets of a conforming sender without a bound.
TEST_F(FlowChanges, F9_ThePaceIsNotLongerThanThePeriod)
{
    constexpr uint64_t period_ns = 3'333'333;
    ASSERT_EQ(open(), 0u);
    ASSERT_EQ(add(other, 4096, period_ns, 5 * ms), 0u);
    ASSERT_EQ(verdict(), BH_FLOW_VERDICT_ADMITTED);
    const flow_path_parameters &opened = door().flows[2].parameters;
    ASSERT_EQ(opened.port, other);
    const double hz = clock_hz();
    EXPECT_LE(double(opened.period_ticks), double(period_ns) * hz / 1e9);
    EXPECT_GT(double(opened.period_ticks), double(period_ns) * hz / 1e9 - 1);
    const flow_costs *costs = manifest_costs(&system_manifest()->broker);
    EXPECT_LE(double(opened.deadline_ticks), double(flow_moved_ns(5 * ms, ends_ns, costs)) * hz / 1e9);
    EXPECT_GT(double(opened.deadline_ticks), double(flow_moved_ns(5 * ms, ends_ns, costs)) * hz / 1e9 - 1);
    EXPECT_NEAR(double(opened.queued_ticks), double(flow_queued_ns(5 * ms, ends_ns, costs)) * hz / 1e9, 1);
}

TEST_F(FlowChanges, F6_AsManyAsThereIsRoomFor)
{
    ASSERT_EQ(open(), 0u);
    for (uint32_t i = 2; i < BH_MAX_FLOWS; i++) {
        ASSERT_EQ(add(other + i, 64, 1000 * ms, 1000 * ms), 0u);
        ASSERT_EQ(verdict(), BH_FLOW_VERDICT_ADMITTED);
    }
    EXPECT_EQ(add(other, 64, 1000 * ms, 1000 * ms), failed(BH_HYPERCALL_ERROR_FLOW_ROOM));
    reply().statistics[7].packets = 5;
    reply().statistics[7].misses = 4;
    EXPECT_EQ(tell(0, 0, 0, 1u << 7), 0u);
    EXPECT_EQ(remove(7), 0u);
    EXPECT_EQ(system_status()->flows[7].misses, 4u);
    reply().flow_changes[7] = door().flows[7].changes;
    EXPECT_EQ(add(other, 64, 1000 * ms, 1000 * ms), 0u);
    EXPECT_EQ(answer[0], 7u);
    EXPECT_EQ(verdict(), BH_FLOW_VERDICT_ADMITTED);
    EXPECT_EQ(system_status()->flows[7].misses, 0u);
    EXPECT_EQ(system_status()->flows[7].replaced_misses, 4u) << "what has been late stays known";
}

// A manager, and stamps of the path of packets.
struct FlowsMeasured : Flows {
    FlowsMeasured()
        : Flows([](SampleManifest &m) {
              m.domains[control].flags |= BH_DOMAIN_FLAG_MANAGER;
              m.header.broker.stamps = 1;
          })
    {
    }

    uint64_t read(uint64_t core, uint64_t part, uint64_t bucket, uint32_t caller = control)
    {
        return call(BH_HYPERCALL_PATH_COST_READ, {core, part, bucket}, caller);
    }

    // The line of a domain is raised, and its driver reads the device's status `ticks` later.
    void notified(uint64_t ticks)
    {
        machine.on_core(linux_);
        fake_clock_set(clock_now() + 1); // a time of 0 means that nothing was raised
        path_stamps_raise(linux_);
        fake_clock_set(clock_now() + ticks);
        path_stamps_heard(linux_);
    }
};

TEST_F(FlowsMeasured, F5_AManagerReadsWhatACoreHasMeasured)
{
    ASSERT_EQ(read(linux_, BH_PATH_PART_NOTIFY, 0), 0u);
    EXPECT_EQ(answer[0], 0u);
    notified(100);
    notified(40);
    ASSERT_EQ(read(linux_, BH_PATH_PART_NOTIFY, 0), 0u);
    EXPECT_EQ(answer, (std::array<uint64_t, 4>{2, 40, 100, 140}));
    uint64_t all = 0;
    for (uint64_t bucket = 0; bucket < PATH_COST_BUCKETS; bucket++) {
        std::array<uint64_t, 31> x = {BH_HYPERCALL_PATH_COST_READ, linux_, BH_PATH_PART_NOTIFY, bucket};
        ASSERT_TRUE(hypercall_flows(domain_at(control), x.data()));
        all += x[5];
    }
    EXPECT_EQ(all, 2u);
    ASSERT_EQ(read(control, BH_PATH_PART_NOTIFY, 0), 0u);
    EXPECT_EQ(answer[0], 0u) << "of another core";
}

TEST_F(FlowsMeasured, F5_WhatIsOutOfRangeIsRefusedAndOthersHaveNoSuchCall)
{
    const uint64_t invalid = failed(BH_HYPERCALL_ERROR_INVALID_PARAMETERS);
    const uint64_t cores = system_manifest()->cpus.count;
    EXPECT_EQ(read(cores, BH_PATH_PART_NOTIFY, 0), invalid);
    EXPECT_EQ(read(uint64_t{1} << 32, BH_PATH_PART_NOTIFY, 0), invalid);
    EXPECT_EQ(read(0, BH_PATH_PART_COUNT, 0), invalid);
    EXPECT_EQ(read(0, BH_PATH_PART_NOTIFY, PATH_COST_BUCKETS), invalid);
    EXPECT_EQ(read(0, BH_PATH_PART_NOTIFY, 0, linux_), failed(BH_HYPERCALL_ERROR_NOT_SUPPORTED));
}

TEST_F(FlowChanges, F5_WithoutStampsThereIsNothingToRead)
{
    EXPECT_EQ(call(BH_HYPERCALL_PATH_COST_READ, {0, BH_PATH_PART_NOTIFY, 0}, control),
              failed(BH_HYPERCALL_ERROR_INVALID_PARAMETERS));
}

TEST_F(Flows, F6_WithoutAManagerNobodyAddsAny)
{
    std::array<uint64_t, 31> x = {BH_HYPERCALL_FLOW_ADD, control, linux_, 6000, 64, 1'000'000, 1'000'000};
    ASSERT_TRUE(hypercall_flows(domain_at(control), x.data()));
    EXPECT_EQ(x[0], static_cast<uint64_t>(-static_cast<int64_t>(BH_HYPERCALL_ERROR_NO_FLOWS)));
}

// A driver that keeps its queues from `base` on, and accepts features 32 and up.
void set_up(Driver &driver, uint64_t base, uint32_t features)
{
    driver.write(0x70, 3);
    driver.write(0x24, 1);
    driver.write(0x20, features);
    driver.write(0x70, 11);
    driver.write(0x30, 0);
    driver.write(0x38, entries);
    for (uint32_t i = 0; i < 3; i++) {
        driver.write(0x80 + 16 * i, base + i * 0x400);
        driver.write(0x84 + 16 * i, 0);
    }
    driver.write(0x44, 1);
    driver.write(0x70, 15);
}

struct FlowsInAPool : Flows {
    FlowsInAPool() : Flows(give_pool) { EXPECT_EQ(open(), 0u); }

    static constexpr uint32_t version_1 = 1, access_platform = 2; // features 32 and 33

    uint32_t offered(Driver &driver)
    {
        driver.write(0x14, 1);
        return static_cast<uint32_t>(driver.read(0x10));
    }
};

TEST_F(FlowsInAPool, F8_TheDeviceSaysThatItReachesNotEverything)
{
    EXPECT_EQ(offered(sender), version_1 | access_platform);
    EXPECT_EQ(offered(receiver), version_1) << "of a domain without a pool";
}

TEST_F(FlowsInAPool, F8_ADriverThatDoesNotAcceptThisIsRefused)
{
    set_up(sender, sample_pool_ipa, version_1);
    EXPECT_EQ(sender.read(0x70), 3u) << "neither FEATURES_OK nor DRIVER_OK";
    EXPECT_EQ(at_door(control).status, 0u);
}

TEST_F(FlowsInAPool, F8_AQueueOutsideOfThePoolStopsTheDevice)
{
    for (const uint64_t outside : {memory, sample_pool_ipa - BH_PAGE_BYTES, sample_pool_ipa - 0x400}) {
        start(sender, control);
        sender.write(0x70, 0);
        leave(control);
        sender.write(0x70, 0);
        const uint32_t before = machine.status(control).socket_failures;
        set_up(sender, outside, version_1 | access_platform);
        EXPECT_NE(sender.read(0x70) & VIRTIO_STATUS_NEEDS_RESET, 0u) << std::hex << outside;
        EXPECT_EQ(at_door(control).status, 0u);
        EXPECT_EQ(machine.status(control).socket_failures, before + 1);
        EXPECT_EQ(machine.status(control).socket_failure, BH_SOCKET_FAILURE_QUEUE);
    }
}

TEST_F(FlowsInAPool, F8_AQueueInThePoolWorks)
{
    set_up(sender, sample_pool_ipa, version_1 | access_platform);
    EXPECT_EQ(sender.read(0x70), 15u);
    EXPECT_EQ(at_door(control).status, 15u);
    EXPECT_EQ(at_door(control).queues[0].descriptors, sample_pool_ipa);
    EXPECT_EQ(machine.status(control).socket_failures, 0u);
    EXPECT_EQ(tell(0, 1u << control), 0u);
    EXPECT_EQ(machine.status(control).socket_failures, 1u);
    EXPECT_EQ(machine.status(control).socket_failure, BH_SOCKET_FAILURE_BROKER);
}

TEST_F(FlowsInAPool, F8_TheBrokersMapAndItsStage2HaveThePoolAlone)
{
    const auto sees = [&](Driver &whose, uint64_t ipa) {
        const stage2 &own = domain_at(broker)->stage2;
        const uint64_t pa = whose.physical(ipa);
        return walk(*own.pool, own.root, BH_BROKER_WINDOW + pa).pa == pa;
    };
    ASSERT_EQ(map().domains[control].segment_count, 1u);
    EXPECT_EQ(map().segments[map().domains[control].first_segment].ipa, sample_pool_ipa);
    for (uint64_t at = memory; at < memory + 0x400000; at += BH_PAGE_BYTES) {
        EXPECT_EQ(sees(sender, at), at >= sample_pool_ipa) << std::hex << at;
    }
    EXPECT_TRUE(sees(receiver, memory));
    EXPECT_TRUE(sees(receiver, memory + 0x8FF000));
}

// With an engine that copies in place of the broker.
struct FlowsByEngine : Flows {
    explicit FlowsByEngine(const std::function<void(SampleManifest &)> &change = give_engine) : Flows(change)
    {
        EXPECT_EQ(open(), 0u);
        reply().waits = 1;
    }

    uint64_t copy(uint64_t from = memory + 0x100, uint64_t to = memory + 0x2200, uint64_t bytes = 100,
                  uint64_t source = control, uint64_t destination = linux_)
    {
        return call(BH_HYPERCALL_BROKER_COPY, {source, from, destination, to, bytes});
    }

    // The engine makes the transfer; its interrupt arrives at the broker's core.
    void engine_runs()
    {
        zdma_runs();
        EXPECT_TRUE(zdma_interrupts());
        machine.on_core(broker);
        fake_gic_raise(sample_engine_irq); // EL2's handling lowers it
        while (fake_gic_has_interrupt()) {
            machine.interrupt();
        }
        EXPECT_FALSE(zdma_interrupts());
        settle();
    }
};

TEST_F(FlowsByEngine, F2_TheBrokerSaysWhatAndTheEngineCopies)
{
    EXPECT_EQ(zdma_read_rate(), 100u);
    EXPECT_EQ(zdma_write_rate(), 100u);
    EXPECT_EQ(map().copied_bytes, 48u) << "as the analysis has it";
    std::memset(sender.at(memory + 0x100), 'x', 100);
    ASSERT_EQ(copy(), 0u);
    EXPECT_EQ(answer[0], 100u);
    EXPECT_TRUE(zdma_is_busy());
    EXPECT_TRUE(flows_touch(domain_at(control)));
    EXPECT_TRUE(flows_touch(domain_at(linux_)));
    EXPECT_EQ(door().engine, DOOR_ENGINE_NOTHING);
    ASSERT_EQ(copy(), 0u);
    EXPECT_EQ(answer[0], 0u) << "one after the other";
    engine_runs();
    EXPECT_EQ(door().engine, DOOR_ENGINE_DONE);
    EXPECT_EQ(door().woken, 1u);
    EXPECT_EQ(machine.exits(broker, BH_EXIT_REASON_IRQ_DEVICE), 1u);
    EXPECT_EQ(*receiver.at(memory + 0x2200 + 99), 'x');
}

TEST_F(FlowsByEngine, F8_ItReachesNothingButMemoryOfDomainsWithASocket)
{
    const uint64_t invalid = failed(BH_HYPERCALL_ERROR_INVALID_PARAMETERS);
    const uint64_t from = memory + 0x100, to = memory + 0x2200;
    EXPECT_EQ(copy(from, to, 0), invalid);
    EXPECT_EQ(copy(from, to, 4097), invalid) << "more than a chunk";
    EXPECT_EQ(copy(from, to, 100, broker), invalid) << "no socket";
    EXPECT_EQ(copy(from, to, 100, control, broker), invalid);
    EXPECT_EQ(copy(from, to, 100, 3), invalid) << "no domain";
    EXPECT_EQ(copy(from, to, 100, control, ~uint64_t{0}), invalid);
    for (const uint64_t wrong :
         std::initializer_list<uint64_t>{memory - 1, memory - 100, uint64_t{0}, ~uint64_t{50}, device}) {
        EXPECT_EQ(copy(wrong, to), invalid) << std::hex << wrong;
        EXPECT_EQ(copy(from, wrong), invalid) << std::hex << wrong;
    }
    EXPECT_FALSE(zdma_is_busy());
    ASSERT_EQ(copy(memory + 0xFF0, to, 4096), 0u);
    EXPECT_LE(answer[0], 4096u) << "no more than lies contiguous";
    EXPECT_GE(answer[0], 16u);
}

struct FlowsByEngineInAPool : FlowsByEngine {
    FlowsByEngineInAPool()
        : FlowsByEngine([](SampleManifest &m) {
              give_pool(m);
              give_engine_alone(m);
          })
    {
    }
};

TEST_F(FlowsByEngineInAPool, F8_TheEngineReachesNothingOutsideOfThePool)
{
    const uint64_t invalid = failed(BH_HYPERCALL_ERROR_INVALID_PARAMETERS);
    const uint64_t to = memory + 0x2200;
    for (const uint64_t wrong :
         {memory, sample_pool_ipa - 1, sample_pool_ipa - 100, sample_pool_ipa + sample_pool_bytes - 99}) {
        EXPECT_EQ(copy(wrong, to), invalid) << std::hex << wrong;
        EXPECT_EQ(copy(to, wrong, 100, linux_, control), invalid) << std::hex << wrong;
    }
    EXPECT_FALSE(zdma_is_busy());
    EXPECT_EQ(copy(sample_pool_ipa, to), 0u);
    EXPECT_TRUE(zdma_is_busy());
}

TEST_F(FlowsByEngine, F9_ATransferThatHasNotEndedWhenTheMachineDoesIsSaid)
{
    ends(1000);
    EXPECT_EQ(system_status()->transfer_ticks[0], 0u);
    ASSERT_EQ(copy(), 0u);
    ends(1000);
    EXPECT_EQ(system_status()->transfer_ticks[0], 1000u);
    engine_runs();
    ends();
    EXPECT_EQ(system_status()->transfer_ticks[0], 0u);
}

TEST_F(FlowsByEngine, F2_ATransferThatTheBusRefusesIsSaidToHaveFailed)
{
    ASSERT_EQ(copy(), 0u);
    mmio_write32(paddr(sample_engine_pa + 0x128 + 8), 0x2000); // more than one contiguous piece
    engine_runs();
    EXPECT_EQ(door().engine, DOOR_ENGINE_FAILED);
    EXPECT_EQ(system_status()->failed_transfers[0], 1u);
}

TEST_F(FlowsByEngine, F2_ABrokerThatEndsLeavesMemoryAloneOnlyWhenTheEngineIsDone)
{
    ASSERT_EQ(copy(), 0u);
    machine.on_core(broker);
    EXPECT_EQ(domain_stop(domain_at(broker)), BH_DOMAIN_STATE_RUNNING);
    machine.on_core(linux_);
    EXPECT_EQ(domain_stop(domain_at(linux_)), BH_DOMAIN_STATE_RUNNING);
    EXPECT_TRUE(flows_touch(domain_at(linux_)));
    EXPECT_TRUE(flows_touch(domain_at(control)));
    machine.on_core(broker);
    zdma_runs();
    fake_gic_raise(sample_engine_irq);
    machine.take_while_idle();
    EXPECT_FALSE(flows_touch(domain_at(linux_)));
    EXPECT_FALSE(flows_touch(domain_at(control)));
    EXPECT_FALSE(zdma_interrupts());
}

// A broker that began after the transfer is not told that a transfer has ended: it would take this for the
// end of its own.
TEST_F(FlowsByEngine, F8_ATransferOfAnEarlierBrokerIsNotOfTheNextOne)
{
    ASSERT_EQ(copy(), 0u);
    machine.on_core(control);
    bh_domain_state before{};
    ASSERT_TRUE(domain_restart_from_any(domain_at(broker), &before));
    machine.on_core(broker);
    vcpu_went_off(&domain_at(broker)->vcpus[0]);
    ASSERT_EQ(open(), 0u);
    reply().waits = 1;
    ASSERT_EQ(copy(), 0u);
    EXPECT_EQ(answer[0], 0u) << "the engine is busy";
    engine_runs();
    EXPECT_EQ(door().engine, DOOR_ENGINE_NOTHING);
    EXPECT_EQ(door().woken, 1u) << "it may begin its own now";
    ASSERT_EQ(copy(), 0u);
    EXPECT_EQ(answer[0], 100u);
    engine_runs();
    EXPECT_EQ(door().engine, DOOR_ENGINE_DONE);
}

} // namespace
} // namespace flows_test
