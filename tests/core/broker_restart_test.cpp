// SPDX-License-Identifier: Apache-2.0
// A broker that ends at any place, and another one that continues with the same devices (F8): every buffer
// returns to its driver once, the drivers learn that their connections are gone, and new connections work.
#include "exchange_world.h"

#include <gtest/gtest.h>
#include <random>

namespace broker_restart_test {
namespace {

using namespace bulkhead_test;

constexpr uint32_t server = 5000;
constexpr uint32_t client = 1024;

struct BrokerRestart : testing::Test {
    World world{2};
    SocketGuest &a = world.guest(0);
    SocketGuest &b = world.guest(1);

    BrokerRestart()
    {
        world.path(0, 1, server);
        for (SocketGuest *guest : {&a, &b}) {
            guest->give_event_buffer();
        }
    }

    bool send(SocketGuest &from, const SocketGuest &to, uint32_t from_port, uint32_t to_port,
              vsock_operation operation, uint32_t bytes = 0)
    {
        const bool done =
            from.send(from.header(to, from_port, to_port, operation, bytes), std::vector<uint8_t>(bytes, 7));

        world.attend(from.device.index);
        return done;
    }

    void connect(uint32_t port)
    {
        send(a, b, port, server, VSOCK_REQUEST);
        world.run();
        send(b, a, server, port, VSOCK_RESPONSE);
        world.run();
        ASSERT_EQ(b.take().size(), 1u);
        ASSERT_EQ(a.take().size(), 1u);
        a.reap();
        b.reap();
    }

    // Number of a queue's chains that the device holds.
    static uint32_t held(const SocketGuest &guest, uint32_t queue)
    {
        uint32_t count = 0;
        for (uint64_t word : guest.progress[queue].held) {
            count += static_cast<uint32_t>(__builtin_popcountll(word));
        }
        return count;
    }
};

TEST_F(BrokerRestart, f8_buffers_of_a_broker_that_ended_come_back_once)
{
    connect(client);
    for (uint32_t i = 0; i < 3; i++) {
        ASSERT_TRUE(send(a, b, client, server, VSOCK_PAYLOAD, 10'000));
    }
    ASSERT_EQ(world.next(), FLOW_NEXT_TRANSFER) << "a chunk of the first packet is on its way";
    ASSERT_EQ(held(a, VSOCK_QUEUE_TX), 3u);
    ASSERT_EQ(held(b, VSOCK_QUEUE_RX), 1u);
    world.restart_broker();
    EXPECT_EQ(a.reap(), 3u);
    EXPECT_EQ(world.interrupted & 3u, 3u);
    EXPECT_TRUE(b.take().empty()) << "the receive buffer comes back with nothing in it";
    EXPECT_EQ(held(a, VSOCK_QUEUE_TX) + held(b, VSOCK_QUEUE_RX), 0u);
    EXPECT_EQ(a.take_events(), 1u);
    EXPECT_EQ(b.take_events(), 1u);

    EXPECT_TRUE(send(a, b, client, server, VSOCK_PAYLOAD, 100));
    world.run();
    EXPECT_EQ(a.take().at(0).header.operation, VSOCK_RESET) << "nothing is known of the connection";
    a.reap();
    connect(client + 1);
    EXPECT_TRUE(send(a, b, client + 1, server, VSOCK_PAYLOAD, 100));
    world.run();
    EXPECT_EQ(b.take().at(0).payload.size(), 100u);
}

TEST_F(BrokerRestart, f8_an_event_waits_for_its_buffer)
{
    ASSERT_EQ(a.take_events(), 0u);
    world.restart_broker();
    ASSERT_EQ(a.take_events(), 1u);
    // The driver gives the buffer of its event queue back; no reset is owed any more.
    world.attend(0);
    EXPECT_EQ(a.take_events(), 0u);
}

// Wherever the broker ends, between two of its calls: nothing is lost or returned twice. reap() would not
// know a chain that came back twice.
TEST_F(BrokerRestart, f8_no_buffer_is_lost_wherever_the_broker_ends)
{
    std::mt19937 generator(2026);
    const auto below = [&](uint32_t end) { return static_cast<uint32_t>(generator() % end); };
    uint32_t connections = 0;

    for (uint32_t round = 0; round < 500; round++) {
        connect(client + connections++);
        const uint32_t port = client + connections - 1;
        for (uint32_t i = below(6); i > 0; i--) {
            send(a, b, port, server, VSOCK_PAYLOAD, 1 + below(12'000));
        }
        if (below(2) == 0) {
            send(b, a, server, port, VSOCK_CREDIT_UPDATE);
        }
        for (uint32_t i = below(8); i > 0; i--) {
            world.next();
        }
        world.restart_broker();
        for (SocketGuest *guest : {&a, &b}) {
            guest->reap();
            guest->take();
            ASSERT_EQ(guest->take_events(), 1u);
            ASSERT_EQ(held(*guest, VSOCK_QUEUE_TX), 0u);
            ASSERT_EQ(held(*guest, VSOCK_QUEUE_RX), 0u);
            ASSERT_EQ(guest->mmio.device.status & VIRTIO_STATUS_NEEDS_RESET, 0u);
            const virtqueue_progress &rx = guest->progress[VSOCK_QUEUE_RX];
            ASSERT_EQ(rx.next_taken, rx.next_used);
        }
        world.attend(0);
        world.attend(1);
    }
}

// The steps of taking a chain and of returning one, with an end of the broker after each of them.
TEST_F(BrokerRestart, f8_an_end_within_a_step_is_found)
{
    virtqueue &queue = b.device.virtio.queues[VSOCK_QUEUE_RX];
    virtqueue_progress &progress = b.progress[VSOCK_QUEUE_RX];
    virtqueue_chain chain{};
    const auto resume = [&] { return virtqueue_resume(&queue, &b.memory); };
    const auto used = [&] { return progress.next_used; };

    // The head is stored, and the position is not.
    ASSERT_EQ(virtqueue_peek(&queue, &b.memory, &chain), VIRTQUEUE_TAKEN);
    const virtqueue_progress before = progress;
    virtqueue_take(&queue, chain.head);
    progress.next_taken = before.next_taken;
    ASSERT_TRUE(resume());
    EXPECT_EQ(progress.next_taken, 1u);
    EXPECT_EQ(used(), 1u);

    // The driver's index says that the chain was returned; the device's state does not yet.
    ASSERT_EQ(virtqueue_peek(&queue, &b.memory, &chain), VIRTQUEUE_TAKEN);
    virtqueue_take(&queue, chain.head);
    const virtqueue_progress taken = progress;
    ASSERT_TRUE(virtqueue_give(&queue, &b.memory, chain.head, VSOCK_HEADER_BYTES));
    const virtqueue_progress given = progress;
    progress = taken;
    ASSERT_TRUE(resume());
    EXPECT_EQ(used(), 2u) << "once";

    // The same, one step later.
    progress = given;
    progress.next_used = taken.next_used;
    ASSERT_TRUE(resume());
    EXPECT_EQ(used(), 2u);
    EXPECT_EQ(b.take().size(), 1u);

    // The broker does not continue with inconsistent state.
    progress.next_used = static_cast<uint16_t>(given.next_used + 5);
    EXPECT_FALSE(resume());
}

TEST_F(BrokerRestart, f8_a_driver_that_changed_its_queue_meanwhile_is_asked_for_a_reset)
{
    const uint16_t index = 77;

    std::memcpy(b.memory.at(b.used(VSOCK_QUEUE_RX) + 2), &index, sizeof index);
    world.restart_broker();
    EXPECT_NE(b.mmio.device.status & VIRTIO_STATUS_NEEDS_RESET, 0u);
    EXPECT_EQ(a.mmio.device.status & VIRTIO_STATUS_NEEDS_RESET, 0u);
    EXPECT_EQ(a.take_events(), 1u);
}

} // namespace
} // namespace broker_restart_test
