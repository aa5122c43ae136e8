// SPDX-License-Identifier: Apache-2.0
// The exchange of packets between domains (F1, F2): which packets may pass, in which order, at whose cost,
// and the state that is left when an end fails.
#include "exchange_world.h"

#include <algorithm>
#include <array>
#include <bulkhead_layout.h>
#include <gtest/gtest.h>
#include <random>

namespace flow_exchange_test {
namespace {

using namespace bulkhead_test;

constexpr uint32_t server = 5000;
constexpr uint32_t client = 1024;
constexpr uint32_t needs_reset = 64;

struct FlowExchange : testing::Test {
    World world{3};
    SocketGuest &a = world.guest(0);
    SocketGuest &b = world.guest(1);
    SocketGuest &c = world.guest(2);

    void send(SocketGuest &from, const SocketGuest &to, uint32_t from_port, uint32_t to_port,
              vsock_operation operation, const std::vector<uint8_t> &payload = {})
    {
        ASSERT_TRUE(from.send(
            from.header(to, from_port, to_port, operation, static_cast<uint32_t>(payload.size())), payload));
        world.attend(from.device.index);
    }

    void connect(SocketGuest &from, SocketGuest &to, uint32_t port = server, uint32_t from_port = client)
    {
        send(from, to, from_port, port, VSOCK_REQUEST);
        world.run();
        ASSERT_EQ(operations(to.take()), Operations{VSOCK_REQUEST});
        send(to, from, port, from_port, VSOCK_RESPONSE);
        world.run();
        ASSERT_EQ(operations(from.take()), Operations{VSOCK_RESPONSE});
        from.reap();
        to.reap();
    }

    void tell_credit(SocketGuest &from, const SocketGuest &to, uint32_t from_port, uint32_t to_port,
                     uint32_t taken_bytes)
    {
        vsock_header update = from.header(to, from_port, to_port, VSOCK_CREDIT_UPDATE);
        update.taken_bytes = taken_bytes;
        ASSERT_TRUE(from.send(update));
        world.attend(from.device.index);
    }

    // The notified guests, if there were no other effects.
    static std::vector<uint32_t> credit(const std::vector<Received> &all)
    {
        std::vector<uint32_t> taken;
        for (const Received &one : all) {
            EXPECT_EQ(one.header.operation, VSOCK_CREDIT_UPDATE);
            taken.push_back(one.header.taken_bytes);
        }
        return taken;
    }

    static std::vector<uint8_t> stream(const std::vector<Received> &all)
    {
        std::vector<uint8_t> joined;
        for (const Received &one : all) {
            EXPECT_EQ(one.header.operation, VSOCK_PAYLOAD);
            EXPECT_EQ(one.header.bytes, one.payload.size());
            joined.insert(joined.end(), one.payload.begin(), one.payload.end());
        }
        return joined;
    }
};

TEST_F(FlowExchange, f1_a_connection_carries_payload_and_ends)
{
    flow_path &path = world.path(0, 1, server);
    connect(a, b);
    const std::vector<uint8_t> payload = bytes_of(10'000);
    send(a, b, client, server, VSOCK_PAYLOAD, payload);
    world.run();
    const std::vector<Received> got = b.take();
    EXPECT_EQ(stream(got), payload);
    EXPECT_GE(got.size(), 3u) << "split over buffers of 4096";
    EXPECT_EQ(a.reap(), 1u);
    EXPECT_NE(world.interrupted & 1u, 0u);
    EXPECT_EQ(path.statistics.bytes, payload.size());
    EXPECT_EQ(path.statistics.packets, 1u);

    send(b, a, server, client, VSOCK_CREDIT_UPDATE);
    send(a, b, client, server, VSOCK_SHUTDOWN);
    world.run();
    EXPECT_EQ(operations(a.take()), Operations{VSOCK_CREDIT_UPDATE});
    EXPECT_EQ(operations(b.take()), Operations{VSOCK_SHUTDOWN});
    send(b, a, server, client, VSOCK_RESET);
    world.run();
    EXPECT_EQ(operations(a.take()), Operations{VSOCK_RESET});
    send(a, b, client, server, VSOCK_PAYLOAD, payload);
    EXPECT_EQ(operations(a.take()), Operations{VSOCK_RESET}) << "the connection is no more";
}

TEST_F(FlowExchange, f1_what_no_flow_allows_is_answered_with_a_reset)
{
    world.path(0, 1, server);
    send(a, b, client, server + 1, VSOCK_REQUEST);
    send(a, c, client, server, VSOCK_REQUEST);
    send(b, a, client, server, VSOCK_REQUEST);
    send(a, b, client, server, VSOCK_PAYLOAD, bytes_of(10));
    send(a, b, client, server, VSOCK_RESET);
    world.run();
    EXPECT_EQ(operations(a.take()), (Operations{VSOCK_RESET, VSOCK_RESET, VSOCK_RESET}));
    EXPECT_EQ(operations(b.take()), Operations{VSOCK_RESET});
    EXPECT_TRUE(c.take().empty());
    EXPECT_EQ(a.reap(), 4u);
}

TEST_F(FlowExchange, f1_what_a_connection_may_not_carry_ends_it_at_both_ends)
{
    world.path(0, 1, server, 4096);
    connect(a, b);
    send(b, a, server, client, VSOCK_PAYLOAD, bytes_of(10)); // against the flow
    world.run();
    EXPECT_EQ(operations(a.take()), Operations{VSOCK_RESET});
    EXPECT_EQ(operations(b.take()), Operations{VSOCK_RESET});

    connect(a, b);
    send(a, b, client, server, VSOCK_PAYLOAD, bytes_of(4097)); // larger than declared
    world.run();
    EXPECT_EQ(operations(a.take()), Operations{VSOCK_RESET});
    EXPECT_EQ(operations(b.take()), Operations{VSOCK_RESET});
    EXPECT_EQ(world.paths[0].statistics.refused, 2u);
}

TEST_F(FlowExchange, f1_thousands_of_connections_are_opened_and_closed_a_few_at_a_time)
{
    world.path(0, 1, server);
    for (uint32_t i = 0; i < 3000; i++) {
        connect(a, b, server, client + i);
        send(a, b, client + i, server, VSOCK_RESET);
        world.run();
        ASSERT_EQ(operations(b.take()), Operations{VSOCK_RESET});
    }
    for (uint32_t i = 0; i < world.connections; i++) {
        connect(a, b, server, i);
    }
    send(a, b, client, server, VSOCK_REQUEST);
    EXPECT_EQ(operations(a.take()), Operations{VSOCK_RESET}) << "no room for another one";
    send(a, b, 3, server, VSOCK_RESET);
    world.run();
    (void)b.take();
    connect(a, b);
}

TEST_F(FlowExchange, f1_a_reset_arrives_though_its_sender_is_gone_before_it_is_delivered)
{
    world.path(0, 1, server);
    connect(a, b);
    send(a, b, client, server, VSOCK_SHUTDOWN);
    world.run();
    ASSERT_EQ(operations(b.take()), Operations{VSOCK_SHUTDOWN});
    send(b, a, server, client, VSOCK_RESET);
    world.lose(1); // it powers off
    world.run();
    EXPECT_EQ(operations(a.take()), Operations{VSOCK_RESET}) << "else its driver waits for ever";
    world.run();
    EXPECT_TRUE(a.take().empty()) << "only once";
}

TEST_F(FlowExchange, f1_a_reset_on_its_way_takes_no_room_once_its_receiver_is_gone)
{
    world.path(0, 1, server);
    for (uint32_t i = 0; i < 3 * world.connections; i++) {
        connect(a, b);
        send(a, b, client, server, VSOCK_RESET);
        world.restart(1);
        world.run();
        EXPECT_TRUE(b.take().empty()) << "its driver never had that connection";
        (void)a.take();
        a.reap();
    }
}

// On a slow host a credit packet still waits when the reset that ends the connection arrives.
TEST_F(FlowExchange, f1_credit_that_a_reset_overtakes_is_not_lost)
{
    flow_path &path = world.path(0, 1, server, 65536, 1000);
    connect(a, b);
    world.now += 10'000;
    tell_credit(b, a, server, client, 1);
    world.run();
    (void)a.take();
    tell_credit(b, a, server, client, 2);
    send(b, a, server, client, VSOCK_RESET);
    world.now += 10'000;
    world.run();
    EXPECT_EQ(operations(a.take()), Operations{VSOCK_RESET});
    EXPECT_EQ(path.statistics.lost, 0u);
}

TEST_F(FlowExchange, f1_a_port_is_not_used_again_before_the_server_knows_of_its_end)
{
    world.path(0, 1, server);
    connect(a, b);
    for (int i = 0; i < 16; i++) { // until it has no buffer left
        send(a, b, client, server, VSOCK_CREDIT_UPDATE);
        world.run();
        a.reap();
    }
    world.restart(0);
    send(a, b, client, server, VSOCK_REQUEST);
    EXPECT_EQ(operations(a.take()), Operations{VSOCK_RESET}) << "the reset would end the new connection";
    EXPECT_EQ(b.take().size(), 16u);
    world.attend(1);
    world.run();
    EXPECT_EQ(operations(b.take()), Operations{VSOCK_RESET});
    a.reap();
    connect(a, b);
}

TEST_F(FlowExchange, f1_foreign_unknown_and_truncated_packets)
{
    world.path(0, 1, server);
    connect(a, b);
    vsock_header header = a.header(b, client, server, VSOCK_PAYLOAD, 3);
    header.source_cid = c.cid;
    ASSERT_TRUE(a.send(header, bytes_of(3)));
    world.attend(0);
    EXPECT_EQ(a.reap(), 1u);
    EXPECT_TRUE(a.take().empty()) << "dropped";
    EXPECT_EQ(a.device.foreign, 1u);

    header = a.header(b, client, server, VSOCK_PAYLOAD, 3);
    header.type = 3; // there is no such type
    ASSERT_TRUE(a.send(header, bytes_of(3)));
    world.attend(0);
    EXPECT_EQ(operations(a.take()), Operations{VSOCK_RESET});

    header = a.header(b, client, server, VSOCK_PAYLOAD, 4);
    ASSERT_TRUE(a.send(header, bytes_of(3)));
    world.attend(0);
    EXPECT_EQ(a.read(0x70) & needs_reset, needs_reset);
    EXPECT_EQ(a.device.malformed, 1u);
    world.run();
    EXPECT_EQ(operations(b.take()), Operations{VSOCK_RESET}) << "its connections end cleanly";
}

TEST_F(FlowExchange, f1_a_malformed_queue_stops_that_device_alone)
{
    world.path(0, 1, server);
    world.path(2, 1, server + 1);
    connect(a, b);
    connect(c, b, server + 1);
    const std::vector<std::function<void()>> harms = {
        [&] { a.describe(VSOCK_QUEUE_TX, 0, a.memory.base - 1, 44, 0, 0); },
        [&] { a.describe(VSOCK_QUEUE_TX, 0, ~uint64_t{0} - 10, 44, 0, 0); },
        [&] { a.describe(VSOCK_QUEUE_TX, 0, a.memory.base, 0, 0, 0); },
        [&] { a.describe(VSOCK_QUEUE_TX, 0, a.memory.base, 44, 1, SocketGuest::entries); },
        [&] { a.describe(VSOCK_QUEUE_TX, 0, a.memory.base, 44, 1, 0); }, // in a circle
        [&] { a.describe(VSOCK_QUEUE_TX, 0, a.memory.base, 44, 4, 0); }, // indirect
        [&] { a.describe(VSOCK_QUEUE_TX, 0, a.memory.base, 44, 2, 0); }, // for the device to write
        [&] { a.describe(VSOCK_QUEUE_TX, 0, a.memory.base, 43, 0, 0); }, // less than a header
        [&] { a.make_available(VSOCK_QUEUE_TX, SocketGuest::entries); },
        [&] {
            for (uint32_t i = 0; i < SocketGuest::entries; i++) {
                a.make_available(VSOCK_QUEUE_TX, 0); // more than there is room for
            }
        },
    };
    for (const auto &harm : harms) {
        world.restart(0);
        world.run();
        (void)b.take();
        harm();
        a.make_available(VSOCK_QUEUE_TX, 0);
        world.attend(0);
        EXPECT_EQ(a.read(0x70) & needs_reset, needs_reset);
        world.run();
        (void)b.take();
        const std::vector<uint8_t> payload = bytes_of(5000);
        send(c, b, client, server + 1, VSOCK_PAYLOAD, payload);
        world.run();
        EXPECT_EQ(stream(b.take()), payload) << "others go on";
        c.reap();
    }
    EXPECT_EQ(a.device.malformed, harms.size());
    EXPECT_EQ(c.device.malformed + b.device.malformed, 0u);
}

TEST_F(FlowExchange, f1_a_connection_to_a_domain_that_is_not_there_is_refused_at_once)
{
    world.path(0, 1, server);
    world.lose(1);
    send(a, b, client, server, VSOCK_REQUEST);
    EXPECT_EQ(operations(a.take()), Operations{VSOCK_RESET});
}

TEST_F(FlowExchange, f2_the_earliest_deadline_goes_first_and_comes_between_chunks)
{
    world.path(0, 2, server, 65536, 0, 10'000);
    world.path(1, 2, server + 1, 65536, 0, 100);
    connect(a, c);
    connect(b, c, server + 1);
    const std::vector<uint8_t> slow = bytes_of(16'000), urgent = bytes_of(3000, 77);
    send(a, c, client, server, VSOCK_PAYLOAD, slow);
    ASSERT_EQ(world.next(), FLOW_NEXT_TRANSFER);
    EXPECT_EQ(world.transfer.source, 0u);
    send(b, c, client, server + 1, VSOCK_PAYLOAD, urgent);
    ASSERT_EQ(world.next(), FLOW_NEXT_TRANSFER);
    EXPECT_EQ(world.transfer.source, 1u) << "not behind the rest of the large one";
    world.run();
    std::vector<uint8_t> got[2];
    for (const Received &one : c.take()) {
        std::vector<uint8_t> &of = got[one.header.destination_port - server];
        of.insert(of.end(), one.payload.begin(), one.payload.end());
    }
    EXPECT_EQ(got[0], slow);
    EXPECT_EQ(got[1], urgent);
}

TEST_F(FlowExchange, f2_each_delivered_packet_is_recorded_with_its_times)
{
    std::array<uint64_t, 64> memory{};
    auto *ring = reinterpret_cast<sample_ring *>(memory.data());
    constexpr uint64_t words = sizeof(packet_sample) / sizeof(uint64_t);
    sample_writer writer;
    ASSERT_TRUE(sample_writer_init(&writer, ring, sizeof(memory), words));
    flow_path &path = world.path(0, 1, server, 65536, 0, 10'000);
    world.exchange.recorder = &writer;
    connect(a, b);
    sample_reader reader;
    ASSERT_TRUE(sample_reader_init(&reader, ring, sizeof(memory)));
    packet_sample sample;
    auto *out = reinterpret_cast<uint64_t *>(&sample);
    for (int i = 0; i < 2; i++) { // a request and its answer
        ASSERT_TRUE(sample_read(&reader, out));
        EXPECT_EQ(sample.bytes, 0u);
        EXPECT_EQ(sample.begun, sample.delivered);
    }
    const uint64_t sent = world.now;
    send(a, b, client, server, VSOCK_PAYLOAD, bytes_of(10'000));
    ASSERT_EQ(world.next(), FLOW_NEXT_TRANSFER);
    const uint64_t begun = world.now;
    world.now += 5;
    world.run();
    ASSERT_TRUE(sample_read(&reader, out));
    EXPECT_EQ(sample.bytes, 10'000u);
    EXPECT_EQ(sample.flow, 0u);
    EXPECT_GE(sample.release, sent);
    EXPECT_EQ(sample.begun, begun) << "of the first of several transfers";
    EXPECT_EQ(sample.delivered, begun + 5);
    EXPECT_EQ(sample.delivered - sample.release, path.statistics.latency_most) << "as the statistics count";
    EXPECT_FALSE(sample_read(&reader, out));
}

TEST_F(FlowExchange, f2_who_sends_too_often_delays_itself_alone)
{
    world.path(0, 2, server, 4096, 1000, 500);
    world.path(1, 2, server + 1, 4096, 1000, 800);
    world.now = 10'000;
    connect(a, c);
    world.now = 20'000;
    connect(b, c, server + 1);
    world.now = 30'000;
    for (int i = 0; i < 5; i++) {
        send(a, c, client, server, VSOCK_PAYLOAD, bytes_of(100));
    }
    send(b, c, client, server + 1, VSOCK_PAYLOAD, bytes_of(200));
    world.run();
    EXPECT_EQ(c.take().size(), 2u) << "one of each";
    EXPECT_EQ(world.until, 31'000u);
    world.now = 30'999;
    world.run();
    EXPECT_TRUE(c.take().empty());
    for (int i = 1; i < 5; i++) {
        world.now = 30'000 + 1000u * static_cast<unsigned>(i);
        world.run();
        EXPECT_EQ(c.take().size(), 1u);
    }
    EXPECT_EQ(world.paths[0].statistics.misses, 0u);
}

TEST_F(FlowExchange, f2_a_stream_keeps_its_order_whatever_the_pace)
{
    world.path(0, 1, server, 4096, 1000, 500);
    world.now = 10'000;
    connect(a, b);
    world.now = 20'000;
    for (uint8_t i = 0; i < 4; i++) {
        send(a, b, client, server, VSOCK_PAYLOAD, bytes_of(10, i));
    }
    send(a, b, client, server, VSOCK_SHUTDOWN);
    std::vector<Received> got;
    for (int i = 0; i < 10; i++) {
        world.run();
        for (const Received &one : b.take()) {
            got.push_back(one);
        }
        world.now += 1000;
    }
    ASSERT_EQ(got.size(), 5u);
    for (uint8_t i = 0; i < 4; i++) {
        EXPECT_EQ(got[i].payload, bytes_of(10, i));
    }
    EXPECT_EQ(got[4].header.operation, VSOCK_SHUTDOWN) << "not before what was sent before";
}

TEST_F(FlowExchange, f2_credit_that_waits_is_told_once_and_as_it_was_last)
{
    world.path(0, 1, server, 4096, 1'000'000, 1000);
    world.path(1, 2, server + 1, 4096, 1000, 1000);
    world.now = 10'000'000;
    connect(a, b);
    connect(b, c, server + 1);
    world.now += 10'000'000;
    for (uint32_t i = 0; i < 100; i++) { // far more than the queue has places, and than the pace admits
        tell_credit(b, a, server, client, i);
        world.run();
        b.reap();
    }
    EXPECT_LE(world.paths[0].lines[FLOW_BACK].count, 1u);
    send(b, c, client, server + 1, VSOCK_PAYLOAD, bytes_of(50));
    world.run();
    EXPECT_EQ(stream(c.take()), bytes_of(50)) << "other flows of that domain go on";
    world.now += 1'000'000;
    world.run();
    EXPECT_EQ(credit(a.take()), (std::vector<uint32_t>{0, 99}));
}

TEST_F(FlowExchange, f9_control_packets_are_late_too)
{
    world.path(0, 1, server, 4096, 1000, 500);
    world.now = 10'000;
    connect(a, b);
    const flow_path_statistics &statistics = world.paths[0].statistics;
    EXPECT_EQ(statistics.misses, 0u);
    for (const uint64_t late : {false, true}) {
        world.now += 10'000;
        const uint64_t control = statistics.control_packets;
        tell_credit(a, b, client, server, 1);
        tell_credit(b, a, server, client, 1);
        world.now += late ? 600 : 400;
        world.run();
        EXPECT_EQ(statistics.control_packets, control + 2) << "in both directions";
        EXPECT_EQ(statistics.misses, late ? 2u : 0u);
        (void)a.take();
        (void)b.take();
    }
    EXPECT_EQ(statistics.packets, 0u);
}

TEST_F(FlowExchange, f2_credit_keeps_its_place_among_what_its_connection_sends)
{
    world.path(0, 1, server, 4096, 1000, 500);
    world.now = 10'000;
    connect(a, b);
    world.now = 20'000;
    send(a, b, client, server, VSOCK_CREDIT_UPDATE);
    send(a, b, client, server, VSOCK_PAYLOAD, bytes_of(10));
    send(a, b, client, server, VSOCK_CREDIT_UPDATE);
    send(a, b, client, server, VSOCK_CREDIT_REQUEST);
    send(a, b, client, server, VSOCK_CREDIT_REQUEST);
    EXPECT_EQ(a.reap(), 1u) << "the second of the same kind in a row";
    Operations got;
    for (int i = 0; i < 5; i++) {
        world.run();
        const Operations now = operations(b.take());
        got.insert(got.end(), now.begin(), now.end());
        world.now += 1000;
    }
    EXPECT_EQ(got,
              (Operations{VSOCK_CREDIT_UPDATE, VSOCK_PAYLOAD, VSOCK_CREDIT_UPDATE, VSOCK_CREDIT_REQUEST}));
}

TEST_F(FlowExchange, f2_credit_that_waits_for_a_buffer_is_told_as_it_was_last)
{
    world.path(0, 1, server, 4096, 0, 1'000'000);
    connect(a, b);
    for (int i = 0; i < 16; i++) { // all buffers of the receiver
        send(a, b, client, server, VSOCK_PAYLOAD, bytes_of(10));
        world.run();
        a.reap();
    }
    for (uint32_t i = 1; i <= 3; i++) {
        tell_credit(a, b, client, server, i);
        world.run(); // the broker handles it, and there is no buffer
    }
    EXPECT_EQ(world.paths[0].lines[FLOW_THERE].count, 1u);
    (void)b.take();
    world.attend(1);
    world.run();
    EXPECT_EQ(credit(b.take()), std::vector<uint32_t>{3});
}

TEST_F(FlowExchange, f2_a_receiver_without_buffers_holds_up_nobody_else)
{
    world.path(0, 1, server);
    world.path(0, 2, server + 1);
    connect(a, b);
    connect(a, c, server + 1);
    for (int i = 0; i < 20; i++) { // into the remaining buffers; the receiver reads, but provides no new ones
        send(a, b, client, server, VSOCK_PAYLOAD, bytes_of(4096));
        world.run();
        a.reap();
        (void)b.take(false);
    }
    EXPECT_GT(world.paths[0].lines[FLOW_THERE].count, 0u);
    send(a, c, client, server + 1, VSOCK_PAYLOAD, bytes_of(50));
    world.run();
    EXPECT_EQ(stream(c.take()), bytes_of(50));
    const uint64_t delivered = world.paths[0].statistics.packets;
    world.now += 200'000; // longer than the timeout of any packet
    world.run();
    EXPECT_GT(world.paths[0].statistics.lost, 0u);
    EXPECT_EQ(world.paths[0].statistics.packets, delivered);
    EXPECT_EQ(operations(a.take()), Operations{VSOCK_RESET});
    b.give_buffers(8);
    world.attend(1);
    world.run();
    EXPECT_EQ(operations(b.take(false)).back(), VSOCK_RESET);
}

TEST_F(FlowExchange, f2_a_receiver_without_buffers_does_not_split_what_goes_to_others)
{
    world.exchange.chunk_bytes = 512;
    world.path(0, 1, server, 4096, 0, 1'000'000);
    world.path(0, 2, server + 1, 4096, 0, 1000);
    connect(a, b);
    connect(a, c, server + 1);
    for (int i = 0; i < 16; i++) { // all buffers of one
        send(a, c, client, server + 1, VSOCK_PAYLOAD, bytes_of(10));
        world.run();
        a.reap();
    }
    send(a, b, client, server, VSOCK_PAYLOAD, bytes_of(4096));
    ASSERT_EQ(world.next(), FLOW_NEXT_TRANSFER);
    send(a, c, client, server + 1, VSOCK_PAYLOAD, bytes_of(10));
    world.run();
    const std::vector<Received> got = b.take();
    EXPECT_EQ(got.size(), 1u) << "one buffer, though a more urgent packet waits for another receiver";
    EXPECT_EQ(stream(got), bytes_of(4096));
}

TEST_F(FlowExchange, f1_of_a_packet_whose_sender_is_gone_nothing_more_is_delivered)
{
    world.exchange.chunk_bytes = 512;
    world.exchange.ticks_per_mebibyte = 1 << 20; // a tick a byte
    flow_path &path = world.path(0, 1, server);
    connect(a, b);
    send(a, b, client, server, VSOCK_PAYLOAD, bytes_of(4096));
    ASSERT_EQ(world.next(), FLOW_NEXT_TRANSFER);
    ASSERT_EQ(world.next(), FLOW_NEXT_NOTHING) << "the rate";
    world.restart(0);
    EXPECT_EQ(world.next(), FLOW_NEXT_NOTHING) << "still the rate";
    EXPECT_EQ(path.statistics.lost, 1u);
    world.now = world.until;
    world.run();
    EXPECT_EQ(operations(b.take()), Operations{VSOCK_RESET});
    connect(a, b); // the same port, without the earlier state
}

TEST_F(FlowExchange, f1_resets_of_a_driver_tell_a_peer_no_more_than_its_flow_has_let_through)
{
    world.path(0, 1, server, 4096, 1000, 500);
    world.now = 10'000;
    Operations heard;
    for (uint32_t cycle = 0; cycle < 100; cycle++) {
        for (uint32_t i = 0; i < 16; i++) {
            ASSERT_TRUE(a.send(a.header(b, client + i, server, VSOCK_REQUEST)));
        }
        world.attend(0);
        world.run();
        world.restart(0);
        for (uint16_t operation : operations(b.take())) {
            heard.push_back(operation);
        }
    }
    EXPECT_EQ(heard, Operations{VSOCK_REQUEST}) << "time stands still: one packet for the period";
    world.now += 1000;
    world.run();
    EXPECT_EQ(operations(b.take()), Operations{VSOCK_RESET}) << "and one for the next";
    world.now += 1000;
    connect(a, b); // the device works afterwards, whatever was sent and dropped
}

TEST_F(FlowExchange, f1_a_queue_that_is_given_up_is_left_alone_until_it_is_retired)
{
    constexpr uint32_t queue_select = 0x30;
    constexpr uint32_t queue_ready = 0x44;
    world.path(0, 1, server);
    connect(a, b);
    a.write(queue_select, VSOCK_QUEUE_TX);
    a.write(queue_ready, 0);
    world.attend(0);
    EXPECT_EQ(a.read(0x70) & needs_reset, 0u);
    EXPECT_EQ(a.device.malformed, 0u);
    EXPECT_EQ(a.read(queue_ready), 1u) << "a transfer may touch its buffers";
    world.lose(0);
    virtio_device_retire(&a.mmio.device);
    EXPECT_EQ(a.read(queue_ready), 0u);
    world.run();
    EXPECT_EQ(operations(b.take()), Operations{VSOCK_RESET});
}

TEST_F(FlowExchange, f1_many_resets_are_delivered_a_few_at_a_time)
{
    for (uint32_t i = 0; i < 4; i++) {
        world.path(0, 1, server + i);
        for (uint32_t k = 0; k < 3; k++) {
            connect(a, b, server + i, client + k);
        }
    }
    world.lose(0);
    world.run();
    EXPECT_EQ(operations(b.take()), Operations(12, VSOCK_RESET));
}

TEST_F(FlowExchange, f2_the_rate_of_transfers_is_limited)
{
    world.path(0, 1, server);
    connect(a, b);
    world.exchange.ticks_per_mebibyte = 1 << 20; // a tick a byte
    send(a, b, client, server, VSOCK_PAYLOAD, bytes_of(9000));
    uint64_t bytes = 0;
    world.watch = [&](const flow_transfer &transfer) { bytes += transfer.bytes; };
    const uint64_t start = world.now;
    while (bytes < 9000) {
        if (world.next() == FLOW_NEXT_NOTHING) {
            world.now = world.until;
        }
        EXPECT_LE(bytes, world.now - start + 4096);
    }
    EXPECT_LT(stream(b.take()).size(), 9000u) << "the last transfer is not done";
}

TEST_F(FlowExchange, f2_the_memory_of_an_end_that_is_gone_is_touched_until_the_transfer_is_done)
{
    for (uint32_t lost : {0u, 1u}) {
        World own(2);
        own.path(0, 1, server);
        SocketGuest &from = own.guest(0), &to = own.guest(1);
        from.send(from.header(to, client, server, VSOCK_REQUEST));
        own.attend(0);
        own.run();
        (void)to.take();
        to.send(to.header(from, server, client, VSOCK_RESPONSE));
        own.attend(1);
        own.run();
        (void)from.take();
        from.send(from.header(to, client, server, VSOCK_PAYLOAD, 9000), bytes_of(9000));
        own.attend(0);
        ASSERT_EQ(own.next(), FLOW_NEXT_TRANSFER);
        EXPECT_TRUE(flow_exchange_touches(&own.exchange, lost));
        own.lose(lost);
        EXPECT_TRUE(flow_exchange_touches(&own.exchange, lost));
        own.run();
        EXPECT_FALSE(flow_exchange_touches(&own.exchange, lost));
        SocketGuest &survivor = own.guest(1 - lost);
        const std::vector<Received> got = survivor.take();
        ASSERT_EQ(operations(got), Operations{VSOCK_RESET}) << "a clean reset, and nothing half";
        EXPECT_EQ(own.paths[0].statistics.packets, 0u);
    }
}

TEST_F(FlowExchange, f1_who_waits_for_a_reset_gets_one_even_if_its_sender_is_gone)
{
    world.path(0, 1, server);
    connect(a, b);
    send(a, b, client, server, VSOCK_SHUTDOWN);
    world.run();
    EXPECT_EQ(operations(b.take()), Operations{VSOCK_SHUTDOWN});
    send(b, a, server, client, VSOCK_RESET);
    world.lose(1); // before the broker has seen it
    world.run();
    EXPECT_EQ(operations(a.take()), Operations{VSOCK_RESET});
    world.run();
    EXPECT_EQ(operations(a.take()), Operations{}) << "one is enough";
}

TEST_F(FlowExchange, f6_a_flow_that_ends_resets_its_connections_and_carries_nothing)
{
    world.path(0, 1, server);
    world.path(0, 2, server);
    connect(a, b);
    connect(a, c);
    send(a, b, client, server, VSOCK_PAYLOAD, bytes_of(9000));
    send(a, c, client, server, VSOCK_PAYLOAD, bytes_of(3000));
    ASSERT_EQ(world.next(), FLOW_NEXT_TRANSFER);
    world.close(0);
    EXPECT_FALSE(flow_exchange_is_unused(&world.exchange, 0)) << "a transfer is under way";
    EXPECT_EQ(a.reap(), 1u) << "its sender has its buffer again";
    world.run();
    EXPECT_TRUE(flow_exchange_is_unused(&world.exchange, 0));
    EXPECT_EQ(operations(a.take()), Operations{VSOCK_RESET});
    EXPECT_EQ(operations(b.take()), Operations{VSOCK_RESET});
    EXPECT_EQ(stream(c.take()), bytes_of(3000)) << "other flows go on";
    EXPECT_EQ(world.paths[0].statistics.lost, 1u);
    send(a, b, client, server, VSOCK_REQUEST);
    EXPECT_EQ(operations(a.take()), Operations{VSOCK_RESET});
    EXPECT_TRUE(b.take().empty());
}

TEST_F(FlowExchange, f6_another_flow_in_its_place)
{
    world.path(0, 1, server);
    connect(a, b);
    world.close(0);
    world.run();
    ASSERT_TRUE(flow_exchange_is_unused(&world.exchange, 0));
    (void)a.take();
    (void)b.take();
    world.open(0, 2, 1, server + 1);
    EXPECT_FALSE(flow_exchange_is_unused(&world.exchange, 0));
    connect(c, b, server + 1);
    send(c, b, client, server + 1, VSOCK_PAYLOAD, bytes_of(100));
    world.run();
    EXPECT_EQ(stream(b.take()), bytes_of(100));
    EXPECT_EQ(world.paths[0].statistics.packets, 1u) << "counted from the beginning";
    send(a, b, client, server, VSOCK_REQUEST);
    EXPECT_EQ(operations(a.take()), Operations{VSOCK_RESET});
}

TEST_F(FlowExchange, f9_who_is_aborted_for_another_s_doing_hears_of_it_at_the_flow_s_pace)
{
    world.path(0, 1, server, 4096, 1000, 500);
    world.now = 10'000;
    uint64_t delivered = 0;
    for (int i = 0; i < 1000; i++) { // a premature request for credit ends what was requested
        send(a, b, client + static_cast<uint32_t>(i), server, VSOCK_REQUEST);
        send(a, b, client + static_cast<uint32_t>(i), server, VSOCK_CREDIT_REQUEST);
        world.run();
        (void)a.take();
        a.reap();
        delivered += b.take().size();
        world.now += 10;
    }
    EXPECT_GE(delivered, 1u);
    EXPECT_LE(delivered, 11u) << "one packet in each of ten periods at most";
}

TEST_F(FlowExchange, f8_a_domain_that_sends_nonsense_uses_its_own_turns_up)
{
    world.path(0, 1, server, 4096, 1000, 500);
    world.path(2, 1, server + 1, 4096, 1000, 500);
    world.now = 10'000;
    connect(a, b);
    connect(c, b, server + 1);
    world.give_turns(0, 2, 100);
    for (int i = 0; i < 20; i++) {
        ASSERT_TRUE(a.send(a.header(b, 7, 9, VSOCK_PAYLOAD)));
    }
    world.now += 1000;
    world.attend(0);
    world.run();
    EXPECT_EQ(a.reap(), 2u) << "its burst: nothing is earned while the broker sleeps";
    send(c, b, client, server + 1, VSOCK_PAYLOAD, bytes_of(10));
    world.run();
    EXPECT_EQ(stream(b.take()), bytes_of(10)) << "others have their turn";
    EXPECT_EQ(world.until, 11'100u) << "the broker looks again when there is a turn";
    world.now = world.until;
    world.run();
    EXPECT_EQ(a.reap(), 1u);
}

TEST_F(FlowExchange, f9_turns_that_are_missing_bring_no_earlier_deadline)
{
    flow_path &path = world.path(0, 1, server, 4096, 100, 500);
    world.now = 10'000;
    connect(a, b);
    world.give_turns(0, 1, 10'000);
    a.device.turns.left_ns = 0;
    send(a, b, client, server, VSOCK_PAYLOAD, bytes_of(10));
    world.now += 9'000;
    world.run();
    EXPECT_TRUE(b.take().empty());
    world.now += 1'000;
    world.run();
    EXPECT_EQ(b.take().size(), 1u);
    EXPECT_LE(path.statistics.latency_most, 1'000u) << "counted from the last look that found no turn";
}

TEST_F(FlowExchange, f9_a_receiver_that_gives_no_buffers_takes_no_descriptors_from_other_flows)
{
    world.path(0, 1, server, 4096, 0, 500);
    world.path(0, 2, server + 1, 4096, 0, 500);
    world.now = 10'000;
    connect(a, b);
    connect(a, c, server + 1);
    uint32_t unsent = 0;
    for (int i = 0; i < 100; i++) { // the receiver reads nothing; its credit would allow much more
        unsent += a.send(a.header(b, client, server, VSOCK_PAYLOAD, 100), bytes_of(100)) ? 0 : 1;
        world.attend(0);
        world.run();
        world.now += 600; // the deadline of the waiting packets has passed
        world.run();
        a.reap();
        send(a, c, client, server + 1, VSOCK_PAYLOAD, bytes_of(20));
        world.run();
        a.reap();
        ASSERT_EQ(stream(c.take()), bytes_of(20)) << "the other flow goes on in time";
        (void)a.take();
        world.attend(0);
        world.attend(2);
    }
    EXPECT_EQ(unsent, 0u);
    EXPECT_GT(world.paths[0].statistics.lost, 0u);
    EXPECT_EQ(world.paths[1].statistics.misses, 0u);
}

// A receiver notifies its device again and again in time before the deadlines of what waits for it. It gives
// no buffers, or one for each packet of a more urgent flow.
TEST(FlowExchangeBuffers, f9_a_receiver_that_rings_does_not_hold_up_a_sender)
{
    for (const bool gives : {false, true}) {
        World own(3);
        SocketGuest &from = own.guest(0), &to = own.guest(1), &urgent = own.guest(2);
        const auto transmit = [&](SocketGuest &sender, const vsock_header &header) {
            const bool sent = sender.send(header, std::vector<uint8_t>(header.bytes));
            own.attend(sender.device.index);
            own.run();
            sender.reap();
            return sent;
        };
        own.path(0, 1, server, 4096, 0, 500);
        own.path(2, 1, server + 1, 4096, 0, 100);
        own.now = 10'000;
        for (uint32_t i = 0; i < 2; i++) {
            SocketGuest &sender = i == 0 ? from : urgent;
            transmit(sender, sender.header(to, client, server + i, VSOCK_REQUEST));
            transmit(to, to.header(sender, server + i, client, VSOCK_RESPONSE));
        }
        for (int i = 0; i < 14; i++) { // all other buffers
            transmit(urgent, urgent.header(to, client, server + 1, VSOCK_PAYLOAD, 10));
        }
        (void)to.take(false);
        uint32_t unsent = 0;
        for (int i = 0; i < 2000; i++) {
            unsent += transmit(from, from.header(to, client, server, VSOCK_PAYLOAD, 10)) ? 0 : 1;
            if (gives) {
                transmit(urgent, urgent.header(to, client, server + 1, VSOCK_PAYLOAD, 10));
                to.give_buffers(1);
            }
            own.attend(1);
            own.run();
            (void)to.take(false);
            (void)from.take(); // it is told that its connection has ended
            own.attend(0);
            own.now += 250;
        }
        EXPECT_EQ(own.paths[0].statistics.packets, 0u) << gives;
        EXPECT_GT(own.paths[0].statistics.lost, 0u) << gives;
        EXPECT_GE(own.paths[1].statistics.packets, gives ? 2000u : 14u);
        EXPECT_EQ(own.paths[1].statistics.misses, 0u);
        EXPECT_LT(unsent, 500u) << "for the patience of 100,000 ticks at most, of 500,000";
    }
}

TEST_F(FlowExchange, f9_waiting_for_an_engine_is_no_sleep)
{
    world.path(0, 1, server);
    world.path(2, 1, server + 1);
    connect(a, b);
    connect(c, b, server + 1);
    send(a, b, client, server, VSOCK_PAYLOAD, bytes_of(4096));
    ASSERT_EQ(world.next(), FLOW_NEXT_TRANSFER);
    const uint64_t looked = world.exchange.looked;
    const uint64_t sent = world.now + 5;
    flow_exchange_sent(&world.exchange, 2, sent);
    world.now += 10'000; // the engine works
    flow_exchange_woke(&world.exchange, world.now - 100);
    EXPECT_EQ(world.exchange.looked, looked) << "domains earn turns for this time";
    EXPECT_EQ(c.device.sent_since, sent) << "the packet keeps the time of its notification";
}

TEST_F(FlowExchange, f9_a_transfer_that_the_engine_has_put_off_is_none_of_those_admitted)
{
    flow_path &path = world.path(0, 1, server);
    path.ways[FLOW_THERE].most_transfers = 1;
    connect(a, b);
    send(a, b, client, server, VSOCK_PAYLOAD, bytes_of(40));
    for (int i = 0; i < 3; i++) {
        ASSERT_EQ(world.next(), FLOW_NEXT_TRANSFER);
        flow_exchange_put_off(&world.exchange, world.now);
    }
    world.run();
    EXPECT_EQ(stream(b.take()), bytes_of(40));
    EXPECT_EQ(path.statistics.refused, 0u);
}

TEST_F(FlowExchange, f8_a_chain_that_its_guest_changes_afterwards_stops_the_device)
{
    world.path(0, 1, server);
    connect(a, b);
    send(a, b, client, server, VSOCK_PAYLOAD, bytes_of(100));
    const uint16_t head = a.device.packets[world.paths[0].lines[FLOW_THERE].first].head;
    a.describe(VSOCK_QUEUE_TX, head, a.memory.base - 4096, 44, 0, 0);
    world.run();
    EXPECT_EQ(a.read(0x70) & needs_reset, needs_reset);
    EXPECT_EQ(operations(b.take()), Operations{VSOCK_RESET});
}

TEST_F(FlowExchange, f9_what_waited_for_a_buffer_is_released_anew_and_the_rest_a_period_apart)
{
    flow_path &path = world.path(0, 1, server, 4096, 1000, 500);
    world.now = 10'000;
    connect(a, b);
    (void)b.take(false);
    world.now = 20'000;
    for (int i = 0; i < 16; i++) { // all buffers
        send(a, b, client, server, VSOCK_PAYLOAD, bytes_of(10));
        world.run();
        a.reap();
        (void)b.take(false);
        world.now += 1000;
    }
    for (int i = 0; i < 3; i++) {
        send(a, b, client, server, VSOCK_PAYLOAD, bytes_of(10));
    }
    world.run();
    world.now += 50'000; // all three are long overdue
    world.run();
    ASSERT_TRUE(b.take(false).empty());
    b.give_buffers(8);
    world.attend(1);
    world.run();
    EXPECT_EQ(b.take(false).size(), 1u) << "not a flood of what is overdue";
    EXPECT_EQ(world.until, world.now + 1000);
    for (int i = 0; i < 2; i++) {
        world.now += 1000;
        world.run();
        EXPECT_EQ(b.take(false).size(), 1u);
    }
    EXPECT_EQ(path.statistics.lost, 0u);
    EXPECT_EQ(path.statistics.misses, 0u) << "counted from when it could go";
}

TEST_F(FlowExchange, f9_a_reset_and_a_packet_after_it_that_waited_for_a_buffer_are_not_late)
{
    const flow_path &path = world.path(0, 1, server, 4096, 1000, 500);
    world.now = 10'000;
    connect(a, b);
    (void)b.take(false);
    world.now = 20'000;
    for (int i = 0; i < 16; i++) { // all buffers
        send(a, b, client, server, VSOCK_PAYLOAD, bytes_of(10));
        world.run();
        a.reap();
        (void)b.take(false);
        world.now += 1000;
    }
    world.restart(0); // the connection is reset at the other end
    world.run();
    world.now += 5000;
    send(a, b, client + 1, server, VSOCK_REQUEST);
    world.run();
    world.now += 50'000;
    ASSERT_TRUE(b.take(false).empty());
    b.give_buffers(8);
    world.attend(1);
    Operations delivered;
    for (int i = 0; i < 10; i++) {
        world.run();
        for (const uint16_t operation : operations(b.take(false))) {
            delivered.push_back(operation);
        }
        world.now += 1000;
    }
    EXPECT_EQ(delivered, (Operations{VSOCK_RESET, VSOCK_REQUEST}));
    EXPECT_EQ(path.statistics.misses, 0u) << "both counted from when they could go";
}

TEST_F(FlowExchange, f9_a_packet_in_more_pieces_than_were_admitted_is_stopped)
{
    flow_path &path = world.path(0, 1, server);
    path.ways[FLOW_THERE].most_transfers = 3;
    connect(a, b);
    ASSERT_TRUE(a.send(a.header(b, client, server, VSOCK_PAYLOAD, 2000), bytes_of(2000), 200));
    world.attend(0);
    world.run();
    EXPECT_EQ(path.statistics.refused, 1u);
    EXPECT_EQ(path.statistics.lost, 1u);
    EXPECT_EQ(operations(b.take()), Operations{VSOCK_RESET});
    EXPECT_EQ(operations(a.take()), Operations{VSOCK_RESET});
}

TEST(FlowExchangeBuffers, f9_a_receiver_that_offers_shorter_ones_than_are_counted_with_is_stopped)
{
    World world(2);
    world.guests[1] = std::make_unique<SocketGuest>(1, 4, 1000);
    world.pointers[1] = world.guests[1].get();
    world.exchange.devices[1] = &world.guest(1).device;
    SocketGuest &a = world.guest(0), &b = world.guest(1);
    flow_path &path = world.path(0, 1, server);
    b.start();
    world.attend(1);
    const auto send = [&](SocketGuest &from, const vsock_header &header) {
        ASSERT_TRUE(from.send(header, bytes_of(header.bytes)));
        world.attend(from.device.index);
        world.run();
    };
    send(a, a.header(b, client, server, VSOCK_REQUEST));
    send(b, b.header(a, server, client, VSOCK_RESPONSE));
    (void)a.take();
    (void)b.take();
    send(a, a.header(b, client, server, VSOCK_PAYLOAD, 900));
    EXPECT_EQ(operations(b.take()), Operations{VSOCK_PAYLOAD}) << "what fits into one buffer, goes";
    world.attend(1);
    send(a, a.header(b, client, server, VSOCK_PAYLOAD, 2000));
    EXPECT_EQ(operations(a.take()), Operations{VSOCK_RESET});
    EXPECT_EQ(path.statistics.refused, 1u);
    EXPECT_EQ(path.statistics.packets, 1u);
}

TEST_F(FlowExchange, f2_nothing_of_a_connection_follows_a_packet_that_was_lost)
{
    flow_path &path = world.path(0, 1, server, 4096, 1000, 500);
    world.now = 10'000;
    connect(a, b);
    for (uint8_t i = 0; i < 3; i++) {
        send(a, b, client, server, VSOCK_PAYLOAD, bytes_of(100, i));
    }
    ASSERT_EQ(world.next(), FLOW_NEXT_TRANSFER);
    flow_exchange_fail(&world.exchange, world.now, &world.effects);
    Operations got;
    for (int i = 0; i < 5; i++) {
        world.run();
        const Operations now = operations(b.take());
        got.insert(got.end(), now.begin(), now.end());
        world.now += 1000;
    }
    EXPECT_EQ(got, Operations{VSOCK_RESET}) << "no gap in a stream, but its end";
    EXPECT_EQ(path.statistics.lost, 3u);
}

TEST_F(FlowExchange, f2_a_transfer_of_several_pieces_is_one_chunk)
{
    world.exchange.copied_bytes = UINT32_MAX;
    world.path(0, 1, server);
    connect(a, b);
    ASSERT_TRUE(a.send(a.header(b, client, server, VSOCK_PAYLOAD, 4000), bytes_of(4000), 300));
    world.attend(0);
    world.transfers = 0;
    world.run();
    EXPECT_EQ(stream(b.take()), bytes_of(4000));
    EXPECT_EQ(world.transfers, 1u);
}

TEST_F(FlowExchange, f7_what_a_flow_declares_says_who_copies)
{
    const auto transfers_of = [&](uint32_t copied_bytes) {
        world.exchange.copied_bytes = copied_bytes;
        EXPECT_TRUE(a.send(a.header(b, client, server, VSOCK_PAYLOAD, 40), bytes_of(40), 10));
        world.attend(0);
        world.transfers = 0;
        world.run();
        EXPECT_EQ(stream(b.take()), bytes_of(40));
        return world.transfers;
    };

    world.path(0, 1, server);
    connect(a, b);
    const uint32_t declared = world.paths[0].ways[FLOW_THERE].most_bytes;
    EXPECT_EQ(transfers_of(declared), 1u) << "the core, over all pieces";
    EXPECT_EQ(transfers_of(declared - 1), 4u) << "an engine, each piece; short packets, too";
}

// Streams between guests that fail at random. The payload encodes its position, so that the receiver can
// check what arrives.
class Survival {
public:
    Survival(uint64_t seed, uint32_t chunk_bytes) : random_(seed), world_(guests, chunk_bytes)
    {
        for (uint32_t i = 0; i < streams_.size(); i++) {
            world_.path(ends[i].source, ends[i].destination, server + i);
            begin(i);
        }
    }

    void step()
    {
        const auto i = static_cast<uint32_t>(below(streams_.size()));

        if (streams_[i].state == State::closed) {
            open(i);
        } else if (streams_[i].state == State::open && below(2) == 0) {
            send(i);
        }
        world_.now += below(60);
        for (uint64_t j = below(4); j > 0; j--) {
            world_.next();
        }
        if (below(100) == 0) {
            fail(static_cast<uint32_t>(below(guests)));
        }
        if (below(100) == 0) {
            close(static_cast<uint32_t>(below(streams_.size())));
        }
        reopen();
        if (below(20) == 0) {
            world_.give_turns(static_cast<uint32_t>(below(guests)), static_cast<uint32_t>(below(4)),
                              1 + below(100));
        }
        if (world_.exchange.inflight.transfers && below(50) == 0) {
            fail_transfer();
        }
        read();
    }

    void finish()
    {
        world_.give_all_turns();
        for (int i = 0; i < 400; i++) {
            world_.now += 1000;
            world_.run();
            read();
        }
        for (const Stream &stream : streams_) {
            EXPECT_TRUE(stream.state != State::open || stream.sent.empty()) << "lost: " << stream.sent.size();
        }
    }

    uint64_t received() const { return received_; }
    uint64_t reopened() const { return reopened_; }

private:
    static constexpr uint32_t guests = 4;
    enum class State { closed, requested, open };
    struct Ends {
        uint32_t source, destination;
    };
    static constexpr std::array<Ends, 5> ends{{{0, 1}, {1, 0}, {2, 1}, {0, 2}, {3, 0}}};
    struct Stream {
        State state = State::closed;
        uint32_t port = 0; // of the client: a new one each time
        uint8_t next = 0;
        std::deque<uint8_t> sent;
    };

    uint64_t below(uint64_t limit) { return random_() % limit; }

    void open(uint32_t i)
    {
        SocketGuest &from = world_.guest(ends[i].source);
        const uint32_t port = next_port_++;

        if (from.send(from.header(world_.guest(ends[i].destination), port, server + i, VSOCK_REQUEST))) {
            streams_[i] = {
                .state = State::requested, .port = port, .next = static_cast<uint8_t>(random_()), .sent = {}};
            world_.attend(ends[i].source);
        }
    }

    void send(uint32_t i)
    {
        SocketGuest &from = world_.guest(ends[i].source);
        Stream &stream = streams_[i];
        std::vector<uint8_t> payload(1 + below(12'000));
        // Each transfer may be made by the CPU or the engine.
        world_.exchange.copied_bytes = below(2) == 0 ? UINT32_MAX : 0;
        std::iota(payload.begin(), payload.end(), stream.next);
        const vsock_header header = from.header(world_.guest(ends[i].destination), stream.port, server + i,
                                                VSOCK_PAYLOAD, static_cast<uint32_t>(payload.size()));

        if (from.send(header, payload, static_cast<uint32_t>(1000 + below(5000)))) {
            stream.next = static_cast<uint8_t>(stream.next + payload.size());
            stream.sent.insert(stream.sent.end(), payload.begin(), payload.end());
            world_.attend(ends[i].source);
        }
    }

    // A driver fails and starts again.
    void fail(uint32_t lost)
    {
        world_.restart(lost);
        for (uint32_t i = 0; i < streams_.size(); i++) {
            if (ends[i].source == lost || ends[i].destination == lost) {
                streams_[i].state = State::closed;
            }
        }
    }

    void begin(uint32_t i)
    {
        world_.open(i, ends[i].source, ends[i].destination, server + i, 65536, below(50), 100 + below(1000));
    }

    // A flow ends: its stream is told by a reset.
    void close(uint32_t i)
    {
        if (world_.paths[i].open != 0) {
            world_.close(i);
        }
    }

    void reopen()
    {
        for (uint32_t i = 0; i < streams_.size(); i++) {
            if (flow_exchange_is_unused(&world_.exchange, i)) {
                begin(i);
                reopened_++;
            }
        }
    }

    // The connection ends, so that the receiver does not take the part of the packet that has arrived for all
    // of it.
    void fail_transfer()
    {
        flow_exchange_fail(&world_.exchange, world_.now, &world_.effects);
        world_.obey();
    }

    void read()
    {
        for (uint32_t reader = 0; reader < guests; reader++) {
            world_.guest(reader).reap();
            for (const Received &one : world_.guest(reader).take()) {
                receive(reader, one);
            }
            world_.attend(reader);
        }
    }

    void receive(uint32_t reader, const Received &one)
    {
        const bool is_client =
            one.header.source_port >= server && one.header.source_port < server + ends.size();
        const uint32_t i = (is_client ? one.header.source_port : one.header.destination_port) - server;
        const uint32_t port = is_client ? one.header.destination_port : one.header.source_port;
        Stream &stream = streams_.at(i);

        if (one.header.operation == VSOCK_REQUEST) {
            SocketGuest &own = world_.guest(reader);
            own.send(own.header(world_.guest(ends[i].source), server + i, port, VSOCK_RESPONSE));
        } else if (port != stream.port || stream.state == State::closed) {
            return; // of an earlier connection
        } else if (one.header.operation == VSOCK_RESPONSE) {
            stream.state = State::open;
        } else if (one.header.operation == VSOCK_RESET) {
            stream.state = State::closed;
        } else {
            ASSERT_LE(one.payload.size(), stream.sent.size()) << "more than was sent";
            const auto end = stream.sent.begin() + static_cast<std::ptrdiff_t>(one.payload.size());
            ASSERT_TRUE(std::equal(one.payload.begin(), one.payload.end(), stream.sent.begin()));
            stream.sent.erase(stream.sent.begin(), end);
            received_ += one.payload.size();
        }
    }

    std::mt19937_64 random_;
    World world_;
    std::array<Stream, ends.size()> streams_;
    uint32_t next_port_ = 100'000;
    uint64_t received_ = 0;
    uint64_t reopened_ = 0;
};

TEST(FlowExchangeProperty, f2_nothing_is_lost_or_duplicated_while_others_die)
{
    for (uint64_t round = 0; round < 60; round++) {
        SCOPED_TRACE(round);
        Survival survival(round, round % 2 == 0 ? 4096 : 1000);
        for (int step = 0; step < 800; step++) {
            survival.step();
            ASSERT_FALSE(testing::Test::HasFatalFailure());
        }
        survival.finish();
        EXPECT_GT(survival.received(), 100'000u);
        EXPECT_GT(survival.reopened(), 0u);
    }
}

} // namespace
} // namespace flow_exchange_test
