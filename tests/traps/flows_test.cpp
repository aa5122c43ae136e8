// SPDX-License-Identifier: Apache-2.0
// Flows between domains through EL2's real entry points (F1, F2): socket devices by trapped accesses, the
// broker by its calls, and what becomes of both when a domain ends.
#include "hosted_machine.h"
#include "run/domain_life.h"

#include "core/flow_exchange.h"
#include "tests/hypervisor/zdma_model.h"

#include <array>
#include <cstring>
#include <functional>
#include <gtest/gtest.h>

extern "C" {
#include "flow/flows.h"
#include "flow/hypercall_flows.h"
#include "memory/placement.h"
#include "run/vcpu_run.h"
#include <arch/mmio.h>
}

using namespace bulkhead_test;

namespace {

constexpr uint32_t control = 0, linux_ = 1, broker = 2; // domains, and their first cores
constexpr uint64_t device = 0x0B000000;
constexpr uint64_t memory = 0x40000000;
constexpr uint64_t queue_bytes = 0x1000;
constexpr uint64_t buffers = memory + 0x10000;
constexpr uint64_t buffer_bytes = 0x1000;
constexpr uint16_t entries = 8;
constexpr uint32_t port = 5000, client = 1024;
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

    // Where a guest-physical address is, by the manifest.
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
    static uint64_t buffer(uint32_t number, uint32_t index)
    {
        return buffers + (number * 8 + index) * buffer_bytes;
    }

    void start()
    {
        write(0x70, 0);
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

    void offer(uint32_t number, uint16_t index, uint32_t bytes, uint16_t flags)
    {
        const uint64_t place = queue(number) + index * 16u;
        const uint64_t ring = queue(number) + 0x400;

        put(place, buffer(number, index));
        put(place + 8, bytes);
        put(place + 12, flags);
        const auto next = get<uint16_t>(ring + 2);
        put(ring + 4 + next % entries * 2u, index);
        put(ring + 2, static_cast<uint16_t>(next + 1));
    }

    void give_buffers()
    {
        for (uint16_t i = 0; i < entries; i++) {
            offer(VSOCK_QUEUE_RX, i, buffer_bytes, 2);
        }
        write(0x50, VSOCK_QUEUE_RX);
    }

    void send(const Driver &to, uint32_t from_port, uint32_t to_port, vsock_operation operation,
              uint32_t bytes = 0)
    {
        vsock_header header{};
        header.source_cid = 3 + domain_;
        header.destination_cid = 3 + to.domain_;
        header.source_port = from_port;
        header.destination_port = to_port;
        header.type = VSOCK_TYPE_STREAM;
        header.operation = static_cast<uint16_t>(operation);
        header.bytes = bytes;
        put(buffer(VSOCK_QUEUE_TX, sent_), header);
        offer(VSOCK_QUEUE_TX, sent_, VSOCK_HEADER_BYTES + bytes, 0);
        sent_ = static_cast<uint16_t>((sent_ + 1) % entries);
        write(0x50, VSOCK_QUEUE_TX);
    }

    uint16_t used(uint32_t number) { return get<uint16_t>(queue(number) + 0x800 + 2); }

    // The n-th packet that was delivered.
    vsock_header received(uint16_t n)
    {
        const auto head = get<uint32_t>(queue(VSOCK_QUEUE_RX) + 0x800 + 4 + n % entries * 8u);
        return get<vsock_header>(buffer(VSOCK_QUEUE_RX, head));
    }

private:
    HostedMachine &machine_;
    uint32_t domain_;
    uint16_t sent_ = 0;
};

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

    uint64_t next()
    {
        machine.on_core(broker);
        EXPECT_EQ(machine.hvc(BH_HYPERCALL_BROKER_NEXT), 0u);
        settle();
        return machine.on_core(broker).x[1];
    }

    // Requests of other cores are taken.
    void settle()
    {
        for (uint32_t core = 0; core < 3; core++) {
            machine.on_core(core);
            while (fake_gic_has_interrupt()) {
                machine.interrupt();
            }
        }
    }

    // As the broker's program does it.
    void run()
    {
        for (uint64_t answer = next(); answer != BH_BROKER_ANSWER_NOTHING; answer = next()) {
            if (answer == BH_BROKER_ANSWER_TRANSFER) {
                copy();
            }
        }
    }

    void copy()
    {
        const guest_regs &regs = machine.on_core(broker);
        for (uint64_t i = 0; i < regs.x[4]; i++) {
            machine.page((regs.x[3] + i) & ~uint64_t{0xFFF})[(regs.x[3] + i) & 0xFFF] =
                machine.page((regs.x[2] + i) & ~uint64_t{0xFFF})[(regs.x[2] + i) & 0xFFF];
        }
    }

    void connect()
    {
        sender.start();
        sender.give_buffers();
        receiver.start();
        receiver.give_buffers();
        sender.send(receiver, client, port, VSOCK_REQUEST);
        run();
        ASSERT_EQ(receiver.used(VSOCK_QUEUE_RX), 1u);
        receiver.send(sender, port, client, VSOCK_RESPONSE);
        run();
        ASSERT_EQ(sender.received(0).operation, VSOCK_RESPONSE);
    }
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

TEST_F(Flows, F1_TheBrokerHasNoDeviceAndOthersHaveNoBroker)
{
    machine.on_core(broker);
    machine.trap(esr_load(4, 1), device);
    EXPECT_EQ(machine.status(broker).state, BH_DOMAIN_STATE_CRASHED);
    machine.on_core(control);
    EXPECT_EQ(machine.hvc(BH_HYPERCALL_BROKER_NEXT), not_supported);
}

TEST_F(Flows, F2_PayloadGoesFromBufferToBuffer)
{
    connect();
    std::memset(sender.at(sender.buffer(VSOCK_QUEUE_TX, 1) + VSOCK_HEADER_BYTES), 'x', 100);
    sender.send(receiver, client, port, VSOCK_PAYLOAD, 100);
    ASSERT_EQ(next(), BH_BROKER_ANSWER_TRANSFER);
    const guest_regs &regs = machine.on_core(broker);
    EXPECT_EQ(regs.x[2], sender.physical(sender.buffer(VSOCK_QUEUE_TX, 1)) + VSOCK_HEADER_BYTES);
    EXPECT_EQ(regs.x[3], receiver.physical(receiver.buffer(VSOCK_QUEUE_RX, 1)) + VSOCK_HEADER_BYTES);
    EXPECT_EQ(regs.x[4], 100u);
    EXPECT_EQ(receiver.used(VSOCK_QUEUE_RX), 1u) << "not before it is there";
    copy();
    run();
    EXPECT_EQ(receiver.used(VSOCK_QUEUE_RX), 2u);
    EXPECT_EQ(receiver.received(1).bytes, 100u);
    EXPECT_EQ(*receiver.at(receiver.buffer(VSOCK_QUEUE_RX, 1) + VSOCK_HEADER_BYTES + 99), 'x');
    EXPECT_EQ(sender.used(VSOCK_QUEUE_TX), 2u);
    EXPECT_EQ(system_status()->flows[0].packets, 1u);
    EXPECT_EQ(system_status()->flows[0].bytes, 100u);
    EXPECT_EQ(receiver.read(0x60), 1u) << "an interrupt";
    receiver.write(0x64, 1);
    EXPECT_EQ(receiver.read(0x60), 0u);
}

TEST_F(Flows, F1_AQueueThatCannotBeStopsTheDeviceAndNothingElse)
{
    connect();
    sender.put(sender.queue(VSOCK_QUEUE_TX), uint64_t{0x3FFFF000}); // not its own
    sender.offer(VSOCK_QUEUE_TX, 0, 44, 0);
    sender.put(sender.queue(VSOCK_QUEUE_TX), uint64_t{0x3FFFF000});
    sender.write(0x50, VSOCK_QUEUE_TX);
    settle();
    EXPECT_EQ(sender.read(0x70), 15u | VIRTIO_STATUS_NEEDS_RESET);
    EXPECT_EQ(sender.read(0x60), 1u | VIRTIO_INTERRUPT_CONFIG);
    EXPECT_EQ(receiver.received(1).operation, VSOCK_RESET) << "the other end hears of it";
    EXPECT_EQ(machine.status(control).state, BH_DOMAIN_STATE_RUNNING);
    sender.start();
    EXPECT_EQ(sender.read(0x70), 15u);
}

TEST_F(Flows, F2_ADomainThatEndsIsTouchedUntilTheTransferIsDone)
{
    connect();
    sender.send(receiver, client, port, VSOCK_PAYLOAD, 100);
    ASSERT_EQ(next(), BH_BROKER_ANSWER_TRANSFER);
    EXPECT_TRUE(flows_touch(domain_at(linux_)));
    machine.on_core(linux_);
    EXPECT_EQ(domain_stop(domain_at(linux_)), BH_DOMAIN_STATE_RUNNING);
    EXPECT_TRUE(flows_touch(domain_at(linux_)));
    machine.on_core(broker);
    EXPECT_EQ(machine.hvc(BH_HYPERCALL_BROKER_NEXT), 0u);
    EXPECT_FALSE(flows_touch(domain_at(linux_)));
    machine.on_core(control);
    while (fake_gic_has_interrupt()) {
        machine.interrupt();
    }
    EXPECT_EQ(sender.received(1).operation, VSOCK_RESET);
    EXPECT_EQ(system_status()->flows[0].packets, 0u);
    EXPECT_EQ(system_status()->flows[0].lost, 1u);
}

TEST_F(Flows, F2_AManagerThatEndsTheBrokerInMidCopyWaitsUntilItsCoreHasStopped)
{
    connect();
    const uint16_t given_back = receiver.used(VSOCK_QUEUE_RX);
    sender.send(receiver, client, port, VSOCK_PAYLOAD, 100);
    ASSERT_EQ(next(), BH_BROKER_ANSWER_TRANSFER);
    machine.on_core(control);
    EXPECT_EQ(domain_stop(domain_at(broker)), BH_DOMAIN_STATE_RUNNING);
    EXPECT_TRUE(flows_touch(domain_at(linux_)));
    EXPECT_EQ(receiver.used(VSOCK_QUEUE_RX), given_back) << "it is written to";
    machine.on_core(broker);
    vcpu_went_off(&domain_at(broker)->vcpus[0]);
    EXPECT_FALSE(flows_touch(domain_at(linux_)));
    EXPECT_EQ(receiver.used(VSOCK_QUEUE_RX), given_back + 1);
}

TEST_F(Flows, T2_PacketsOfAStrangerAreTakenAFewAtATime)
{
    constexpr uint16_t most = 2; // of one entry
    connect();
    const uint16_t before = sender.used(VSOCK_QUEUE_TX);
    for (uint16_t i = 0; i < entries; i++) {
        sender.put(sender.buffer(VSOCK_QUEUE_TX, i), vsock_header{}); // of CID 0
        sender.offer(VSOCK_QUEUE_TX, i, VSOCK_HEADER_BYTES, 0);
    }
    sender.write(0x50, VSOCK_QUEUE_TX);
    EXPECT_EQ(sender.used(VSOCK_QUEUE_TX), before + most);
    for (uint16_t taken = most; taken < entries; taken += most) {
        machine.on_core(control);
        ASSERT_TRUE(fake_gic_has_interrupt()) << "its own core asks itself for the rest";
        machine.interrupt();
        EXPECT_LE(sender.used(VSOCK_QUEUE_TX), before + taken + most);
    }
    settle();
    EXPECT_EQ(sender.used(VSOCK_QUEUE_TX), before + entries);
}

TEST_F(Flows, T2_ADriverThatStopsItsDeviceWaitsInItsOwnTime)
{
    connect();
    sender.send(receiver, client, port, VSOCK_PAYLOAD, 100);
    ASSERT_EQ(next(), BH_BROKER_ANSWER_TRANSFER);
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
    EXPECT_TRUE(flows_touch(domain_at(control)));
    machine.on_core(broker);
    EXPECT_EQ(machine.hvc(BH_HYPERCALL_BROKER_NEXT), 0u);
    EXPECT_EQ(stop(), at + 4);
    EXPECT_EQ(sender.read(0x70), 0u);
}

TEST_F(Flows, F1_ADriverCanGiveUpAQueueAndSetItUpAgain)
{
    connect();
    sender.write(0x30, VSOCK_QUEUE_RX);
    sender.write(0x44, 0);
    EXPECT_EQ(sender.read(0x44), 0u);
    EXPECT_EQ(sender.read(0x70), 15u) << "without a reset of the device";
    settle();
    run();
    EXPECT_EQ(receiver.received(1).operation, VSOCK_RESET) << "its connections are gone";
    for (uint32_t i = 0; i < 3; i++) {
        sender.write(0x80 + 16 * i, sender.queue(VSOCK_QUEUE_RX) + i * 0x400);
    }
    sender.write(0x38, entries);
    std::memset(sender.at(sender.queue(VSOCK_QUEUE_RX)), 0, queue_bytes);
    sender.write(0x44, 1);
    EXPECT_EQ(sender.read(0x44), 1u);
    sender.give_buffers();
    sender.send(receiver, client + 1, port, VSOCK_REQUEST);
    run();
    EXPECT_EQ(receiver.received(2).operation, VSOCK_REQUEST);
}

TEST_F(Flows, F1_ADomainThatEndsSetsNoDeviceUpAnyMore)
{
    connect();
    machine.on_core(linux_);
    EXPECT_EQ(domain_stop(domain_at(control)), BH_DOMAIN_STATE_RUNNING);
    machine.on_core(control); // which has not yet heard of it
    const auto status = [&](bool write, uint64_t value) {
        mmio_access access{.offset = 0x70, .value = value, .bytes = 4, .write = write, .again = false};
        EXPECT_TRUE(flows_device_access(&domain_at(control)->vcpus[0], &access));
        return access.value;
    };
    EXPECT_EQ(status(false, 0), 0u);
    (void)status(true, 3);
    EXPECT_EQ(status(false, 0), 0u);
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

    FlowChanges()
        : Flows([](SampleManifest &m) {
              m.domains[control].flags |= BH_DOMAIN_FLAG_MANAGER;
              m.header.broker.bytes_per_s = 100'000'000;
              m.header.broker.costs.transport_max = 700;
              m.header.broker.costs.notify_max = 1300;
          })
    {
    }

    static uint64_t failed(bh_hypercall_error error)
    {
        return static_cast<uint64_t>(-static_cast<int64_t>(error));
    }

    // A call of the manager; x1 to x4 of the answer are kept.
    uint64_t call(uint64_t function, std::array<uint64_t, 7> x, uint32_t caller = control)
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

    uint64_t add(uint64_t to_port, uint64_t bytes = 4096, uint64_t period = ms, uint64_t deadline = ms)
    {
        return call(BH_HYPERCALL_FLOW_ADD, {control, linux_, to_port, bytes, period, deadline, 0});
    }

    // Until the verdict.
    uint64_t verdict()
    {
        for (int i = 0; i < 100'000; i++) {
            EXPECT_EQ(call(BH_HYPERCALL_FLOW_TEST, {}), 0u);
            if (answer[0] != BH_FLOW_VERDICT_GOES_ON) {
                break;
            }
        }
        return answer[0];
    }

    uint64_t remove(uint64_t number) { return call(BH_HYPERCALL_FLOW_REMOVE, {number}); }

    // What the receiver of a request along this port gets.
    bool carries(uint32_t to_port)
    {
        const uint16_t before = receiver.used(VSOCK_QUEUE_RX);

        sender.send(receiver, client + to_port, to_port, VSOCK_REQUEST);
        run();
        return receiver.used(VSOCK_QUEUE_RX) != before;
    }

    void start()
    {
        sender.start();
        sender.give_buffers();
        receiver.start();
        receiver.give_buffers();
    }

    std::array<uint64_t, 4> answer{};
};

TEST_F(FlowChanges, F6_AnAdmittedFlowCarries)
{
    start();
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
    EXPECT_EQ(call(BH_HYPERCALL_FLOW_TEST, {}), failed(BH_HYPERCALL_ERROR_FLOW_BUSY)) << "nothing to test";
}

TEST_F(FlowChanges, F6_AFlowThatWouldMakeOthersLateIsRefused)
{
    ASSERT_EQ(add(other, 65536, ms / 10, ms / 10), 0u);
    EXPECT_EQ(verdict(), BH_FLOW_VERDICT_OVERLOADED);
    // 64 KiB need 0.66 ms, and the flows of the manifest as much in every one.
    ASSERT_EQ(add(other, 16384, ms, ms / 20), 0u);
    EXPECT_EQ(verdict(), BH_FLOW_VERDICT_LATE);
    EXPECT_GT(answer[3], answer[2]) << "more is asked for than there is time";
    EXPECT_EQ(system_status()->flows[2].state, BH_FLOW_STATE_NONE);
    EXPECT_EQ(add(other, 64, ms, 1999), failed(BH_HYPERCALL_ERROR_FLOW_FIXED));
    EXPECT_EQ(answer[0], 2u) << "that flow itself";
    EXPECT_EQ(add(other), 0u) << "the others may still come";
    EXPECT_EQ(verdict(), BH_FLOW_VERDICT_ADMITTED);
}

TEST_F(FlowChanges, F6_AFlowThatEndsMakesRoom)
{
    connect();
    ASSERT_EQ(remove(0), 0u);
    EXPECT_EQ(receiver.received(1).operation, VSOCK_RESET);
    EXPECT_EQ(sender.received(1).operation, VSOCK_RESET);
    EXPECT_EQ(system_status()->flows[0].state, BH_FLOW_STATE_CLOSED);
    EXPECT_FALSE(carries(port));
    EXPECT_EQ(remove(0), failed(BH_HYPERCALL_ERROR_INVALID_PARAMETERS)) << "it is gone";
    ASSERT_EQ(add(port, 32768, ms / 2, ms / 2), 0u) << "the same ends";
    EXPECT_EQ(verdict(), BH_FLOW_VERDICT_ADMITTED);
    EXPECT_TRUE(carries(port));
}

TEST_F(FlowChanges, F6_WhatCannotBeIsRefusedAndChangesNothing)
{
    const uint64_t invalid = failed(BH_HYPERCALL_ERROR_INVALID_PARAMETERS);
    const std::array<uint64_t, 7> good = {control, linux_, other, 4096, ms, ms, 0};
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
        EXPECT_EQ(call(BH_HYPERCALL_FLOW_ADD, x), invalid) << place << " " << value;
    }
    auto few = good; // transfers: fewer than the chunks
    few[3] = 65536;
    few[6] = 15;
    EXPECT_EQ(call(BH_HYPERCALL_FLOW_ADD, few), invalid);
    for (const uint64_t number : {uint64_t{2}, uint64_t{BH_MAX_FLOWS}, ~uint64_t{0}}) {
        EXPECT_EQ(remove(number), invalid);
    }
    EXPECT_EQ(call(BH_HYPERCALL_FLOW_ADD, good, linux_), not_supported) << "no manager";
    EXPECT_EQ(call(BH_HYPERCALL_FLOW_REMOVE, {0}, linux_), not_supported);
    EXPECT_EQ(call(BH_HYPERCALL_FLOW_TEST, {}), failed(BH_HYPERCALL_ERROR_FLOW_BUSY));
}

TEST_F(FlowChanges, F6_OneAtATimeAndOnlyByWhoBegan)
{
    ASSERT_EQ(add(other), 0u);
    EXPECT_EQ(add(other + 1), failed(BH_HYPERCALL_ERROR_FLOW_BUSY));
    EXPECT_EQ(remove(0), failed(BH_HYPERCALL_ERROR_FLOW_BUSY));
    machine.on_core(control);
    domain_stop(domain_at(control)); // who asked is gone
    hypercall_flows_domain_stopped(domain_at(control));
    std::array<uint64_t, 31> x = {BH_HYPERCALL_FLOW_ADD, control, linux_, other + 1, 4096, ms, ms};
    ASSERT_TRUE(hypercall_flows(domain_at(linux_), x.data()));
    EXPECT_EQ(x[0], 0u) << "the test has ended with its owner";
    x = {BH_HYPERCALL_FLOW_ADD, control, linux_, other + 2, 4096, ms, ms};
    ASSERT_TRUE(hypercall_flows(domain_at(control), x.data()));
    EXPECT_EQ(x[0], failed(BH_HYPERCALL_ERROR_FLOW_BUSY)) << "nobody would end what it begins";
}

TEST_F(FlowChanges, F6_AsManyAsThereIsRoomFor)
{
    for (uint32_t i = 2; i < BH_MAX_FLOWS; i++) {
        ASSERT_EQ(add(other + i, 64, 1000 * ms, 1000 * ms), 0u);
        ASSERT_EQ(verdict(), BH_FLOW_VERDICT_ADMITTED);
    }
    EXPECT_EQ(add(other, 64, 1000 * ms, 1000 * ms), failed(BH_HYPERCALL_ERROR_FLOW_ROOM));
    EXPECT_EQ(remove(7), 0u);
    EXPECT_EQ(add(other, 64, 1000 * ms, 1000 * ms), 0u);
    EXPECT_EQ(answer[0], 7u);
}

TEST_F(Flows, F6_WithoutAManagerNobodyAddsAny)
{
    std::array<uint64_t, 31> x = {BH_HYPERCALL_FLOW_ADD, control, linux_, 6000, 64, 1'000'000, 1'000'000};
    ASSERT_TRUE(hypercall_flows(domain_at(control), x.data()));
    EXPECT_EQ(x[0], static_cast<uint64_t>(-static_cast<int64_t>(BH_HYPERCALL_ERROR_NO_FLOWS)));
}

// With an engine that copies in the broker's place.
struct FlowsByEngine : Flows {
    FlowsByEngine() : Flows(give_engine)
    {
        connect();
        std::memset(sender.at(sender.buffer(VSOCK_QUEUE_TX, 1) + VSOCK_HEADER_BYTES), 'x', 100);
    }

    void send() { sender.send(receiver, client, port, VSOCK_PAYLOAD, 100); }

    // The engine does what it was told; its interrupt arrives at the broker's core.
    void engine_runs()
    {
        zdma_runs();
        EXPECT_TRUE(zdma_interrupts());
        machine.on_core(broker);
        fake_gic_raise(sample_engine_irq); // what EL2 does lowers it
        while (fake_gic_has_interrupt()) {
            machine.interrupt();
        }
        EXPECT_FALSE(zdma_interrupts());
        settle();
    }

    bool broker_is_woken()
    {
        machine.on_core(broker);
        return (domain_at(broker)->vgic.spis[60 / 32 - 1].line >> 60 % 32 & 1) != 0;
    }
};

TEST_F(FlowsByEngine, F2_ThePacketIsCopiedWithoutTheBrokersHand)
{
    EXPECT_EQ(zdma_rate(), 100u);
    send();
    ASSERT_EQ(next(), BH_BROKER_ANSWER_NOTHING);
    EXPECT_EQ(machine.regs(broker).x[2], ~0ull) << "until it is woken";
    EXPECT_TRUE(zdma_is_busy());
    EXPECT_FALSE(broker_is_woken());
    EXPECT_EQ(receiver.used(VSOCK_QUEUE_RX), 1u) << "not before it is there";
    engine_runs();
    EXPECT_TRUE(broker_is_woken());
    EXPECT_EQ(machine.exits(broker, BH_EXIT_REASON_IRQ_DEVICE), 1u);
    EXPECT_EQ(receiver.used(VSOCK_QUEUE_RX), 1u) << "not before the broker says so";
    ASSERT_EQ(next(), BH_BROKER_ANSWER_NOTHING);
    EXPECT_EQ(receiver.used(VSOCK_QUEUE_RX), 2u);
    EXPECT_EQ(receiver.received(1).bytes, 100u);
    EXPECT_EQ(*receiver.at(receiver.buffer(VSOCK_QUEUE_RX, 1) + VSOCK_HEADER_BYTES + 99), 'x');
    EXPECT_EQ(sender.used(VSOCK_QUEUE_TX), 2u);
    EXPECT_EQ(system_status()->flows[0].packets, 1u);
}

TEST_F(FlowsByEngine, F2_ItIsAskedForNothingWhileItRuns)
{
    send();
    ASSERT_EQ(next(), BH_BROKER_ANSWER_NOTHING);
    send();
    EXPECT_FALSE(broker_is_woken()) << "it could do nothing about it";
    ASSERT_EQ(next(), BH_BROKER_ANSWER_NOTHING);
    EXPECT_EQ(receiver.used(VSOCK_QUEUE_RX), 1u);
    engine_runs();
    EXPECT_TRUE(broker_is_woken());
    EXPECT_EQ(machine.exits(broker, BH_EXIT_REASON_IRQ_UNEXPECTED), 0u);
}

TEST_F(FlowsByEngine, F2_ATransferThatTheBusRefusesEndsItsConnection)
{
    send();
    ASSERT_EQ(next(), BH_BROKER_ANSWER_NOTHING);
    mmio_write32(paddr(sample_engine_pa + 0x128 + 8), 0x2000); // more than there is in one piece
    engine_runs();
    ASSERT_EQ(next(), BH_BROKER_ANSWER_NOTHING);
    EXPECT_EQ(system_status()->failed_transfers, 1u);
    EXPECT_EQ(system_status()->flows[0].packets, 0u);
    EXPECT_EQ(system_status()->flows[0].lost, 1u);
    EXPECT_EQ(sender.received(1).operation, VSOCK_RESET);
    EXPECT_EQ(receiver.received(2).operation, VSOCK_RESET) << "after the buffer that nothing came into";
    EXPECT_EQ(sender.used(VSOCK_QUEUE_TX), 2u);
}

TEST_F(FlowsByEngine, F2_ABrokerThatEndsLeavesBuffersAloneUntilTheEngineIsDone)
{
    send();
    ASSERT_EQ(next(), BH_BROKER_ANSWER_NOTHING);
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

TEST_F(FlowsByEngine, F2_TheBrokerSeesNobodysMemory)
{
    machine.on_core(broker);
    machine.trap(esr_load(4, 1), BH_BROKER_WINDOW + sender.physical(memory));
    EXPECT_EQ(machine.status(broker).state, BH_DOMAIN_STATE_CRASHED);
}

// A broker that waits for events.
struct FlowsByEvent : Flows {
    static constexpr uint64_t word = memory + 0x1004;

    uint64_t ask(uint64_t where = word)
    {
        machine.on_core(broker);
        return machine.hvc(BH_HYPERCALL_BROKER_NEXT, where);
    }

    uint32_t woken()
    {
        const uint64_t pa = placement_of(system_manifest(), domain_at(broker)->config, word, 4).pa.value;
        uint32_t value;
        std::memcpy(&value, &machine.page(pa & ~uint64_t{0xFFF})[pa & 0xFFF], sizeof value);
        return value;
    }
};

TEST_F(FlowsByEvent, F2_APacketIsAWordAndAnEventAndNoInterrupt)
{
    sender.start();
    sender.give_buffers();
    receiver.start();
    receiver.give_buffers();
    EXPECT_EQ(ask(), 0u);
    EXPECT_EQ(woken(), 0u);
    const uint32_t events = fake_barriers(FAKE_SEV);
    sender.send(receiver, client, port, VSOCK_REQUEST);
    EXPECT_EQ(woken(), 1u);
    EXPECT_GT(fake_barriers(FAKE_SEV), events);
    machine.on_core(broker);
    EXPECT_FALSE(fake_gic_has_interrupt());
    EXPECT_EQ(ask(), 0u);
    settle();
    EXPECT_EQ(receiver.used(VSOCK_QUEUE_RX), 1u);
}

TEST_F(FlowsByEvent, F2_TheWordIsTheBrokersOwn)
{
    const auto invalid = static_cast<uint64_t>(-static_cast<int64_t>(BH_HYPERCALL_ERROR_INVALID_PARAMETERS));
    for (const uint64_t wrong : {word + 1, word + 2, memory - 4, memory + 0x100000, device, ~uint64_t{3}}) {
        EXPECT_EQ(ask(wrong), invalid) << std::hex << wrong;
    }
    EXPECT_EQ(machine.status(broker).state, BH_DOMAIN_STATE_RUNNING);
}

} // namespace
