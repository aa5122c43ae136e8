// SPDX-License-Identifier: Apache-2.0
// Multicast flows (F7): one sender, several receivers; the sender's credit, receivers that come and go.
#include "core/flow_paths.h"
#include "exchange_world.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <random>

namespace flow_multicast_test {
namespace {

using namespace bulkhead_test;

constexpr uint32_t server = 5000;
constexpr uint32_t client = 1024;
constexpr uint32_t space = 4096; // receive buffer of a receiver's socket

std::vector<uint8_t> stream(const std::vector<Received> &all)
{
    std::vector<uint8_t> joined;
    for (const Received &one : all) {
        EXPECT_EQ(one.header.operation, VSOCK_PAYLOAD);
        joined.insert(joined.end(), one.payload.begin(), one.payload.end());
    }
    return joined;
}

struct Multicast : testing::Test {
    World world{4};
    SocketGuest &a = world.guest(0);
    SocketGuest &b = world.guest(1);
    SocketGuest &c = world.guest(2);
    SocketGuest &d = world.guest(3);

    void send(SocketGuest &from, const vsock_header &header, const std::vector<uint8_t> &payload = {})
    {
        ASSERT_TRUE(from.send(header, payload));
        world.attend(from.device.index);
    }
    // From the sender to its group.
    vsock_header down(vsock_operation operation, uint32_t bytes = 0, uint32_t port = client)
    {
        vsock_header header = a.header(a, port, server, operation, bytes);
        header.destination_cid = FLOW_FIRST_GROUP_CID;
        return header;
    }
    // From a receiver to the sender, with its credit.
    vsock_header up(const SocketGuest &from, vsock_operation operation, uint32_t taken = 0,
                    uint32_t buffer = space, uint32_t port = client)
    {
        vsock_header header = from.header(a, server, port, operation);
        header.buffer_bytes = buffer;
        header.taken_bytes = taken;
        return header;
    }
    void pay(size_t bytes, uint8_t first = 1)
    {
        send(a, down(VSOCK_PAYLOAD, static_cast<uint32_t>(bytes)), bytes_of(bytes, first));
        world.run();
        a.reap();
    }
    void accept(SocketGuest &from, uint32_t buffer = space)
    {
        ASSERT_EQ(operations(from.take()), Operations{VSOCK_REQUEST});
        send(from, up(from, VSOCK_RESPONSE, 0, buffer));
        world.run();
        from.reap();
    }
    // All receivers accept; returns what the sender hears.
    std::vector<Received> connect(const std::vector<SocketGuest *> &receivers, uint32_t buffer = space)
    {
        send(a, down(VSOCK_REQUEST));
        world.run();
        for (SocketGuest *one : receivers) {
            accept(*one, buffer);
        }
        a.reap();
        return a.take();
    }
    // As if the receiver of a leg had got all from the first byte on, and had taken so much.
    void has_taken(uint32_t number, uint32_t buffer, uint32_t taken)
    {
        flow_leg &leg = world.paths[number].leg;
        leg = {};
        leg.begun = true;
        leg.buffer_bytes = buffer;
        leg.taken_bytes = taken;
    }
    static uint32_t limit(const Received &one) { return one.header.taken_bytes + one.header.buffer_bytes; }
};

TEST_F(Multicast, f7_each_receiver_gets_each_packet_once)
{
    const uint32_t first = world.multicast(0, {1, 2, 3}, server);
    const std::vector<Received> heard = connect({&b, &c, &d});
    ASSERT_EQ(operations(heard), Operations{VSOCK_RESPONSE}) << "one receiver, as the sender sees it";
    EXPECT_EQ(heard[0].header.source_cid, FLOW_FIRST_GROUP_CID);
    EXPECT_EQ(heard[0].header.destination_cid, a.cid);

    const std::vector<uint8_t> payload = bytes_of(10'000);
    ASSERT_TRUE(a.send(down(VSOCK_PAYLOAD, 10'000), payload));
    world.attend(0);
    world.transfers = 0;
    for (uint32_t left = 3; left != 0; left--) {
        EXPECT_EQ(a.reap(), 0u) << "the sender keeps its buffer until the last receiver has it";
        for (const uint64_t before = world.paths[first].statistics.packets +
                                     world.paths[first + 1].statistics.packets +
                                     world.paths[first + 2].statistics.packets;
             before == world.paths[first].statistics.packets + world.paths[first + 1].statistics.packets +
                           world.paths[first + 2].statistics.packets;) {
            ASSERT_EQ(world.next(), FLOW_NEXT_TRANSFER);
            world.next();
        }
    }
    world.run();
    EXPECT_EQ(a.reap(), 1u);
    for (SocketGuest *one : {&b, &c, &d}) {
        const std::vector<Received> got = one->take();
        EXPECT_EQ(stream(got), payload);
        EXPECT_EQ(got.at(0).header.source_cid, a.cid);
        EXPECT_EQ(got.at(0).header.destination_cid, one->cid);
    }
    for (uint32_t leg = first; leg < first + 3; leg++) {
        EXPECT_EQ(world.paths[leg].statistics.packets, 1u) << "each leg has its own figures";
        EXPECT_EQ(world.paths[leg].statistics.bytes, 10'000u);
    }
}

TEST_F(Multicast, f7_a_receiver_of_a_group_is_addressed_by_the_group_alone)
{
    world.multicast(0, {1, 2}, server);
    send(a, a.header(b, client, server, VSOCK_REQUEST));
    vsock_header other_port = down(VSOCK_REQUEST);
    other_port.destination_port++;
    send(a, other_port);
    vsock_header other_group = down(VSOCK_REQUEST);
    other_group.destination_cid++;
    send(a, other_group);
    vsock_header packets = down(VSOCK_REQUEST);
    packets.type = VSOCK_TYPE_SEQPACKET;
    send(a, packets);
    vsock_header foreign = d.header(a, client, server, VSOCK_REQUEST);
    foreign.destination_cid = FLOW_FIRST_GROUP_CID;
    send(d, foreign);
    world.run();
    EXPECT_EQ(operations(a.take()), (Operations{VSOCK_RESET, VSOCK_RESET, VSOCK_RESET, VSOCK_RESET}));
    EXPECT_EQ(operations(d.take()), Operations{VSOCK_RESET});
    EXPECT_TRUE(b.take().empty());
    EXPECT_TRUE(c.take().empty());
}

TEST_F(Multicast, f7_the_sender_has_the_least_credit_of_the_receivers)
{
    world.multicast(0, {1, 2, 3}, server);
    send(a, down(VSOCK_REQUEST));
    world.run();
    accept(b, 4000);
    accept(c, 1000);
    accept(d, 9000);
    std::vector<Received> heard = a.take();
    ASSERT_EQ(operations(heard), Operations{VSOCK_RESPONSE});
    EXPECT_EQ(limit(heard[0]), 1000u);
    pay(1000);
    send(b, up(b, VSOCK_CREDIT_UPDATE, 1000, 4000));
    send(d, up(d, VSOCK_CREDIT_UPDATE, 500, 9000));
    world.run();
    EXPECT_TRUE(a.take().empty()) << "nothing new for the sender while one receiver has not read";
    EXPECT_EQ(world.paths[0].statistics.unread, 1u + 0u);
    EXPECT_EQ(world.paths[1].statistics.unread, 1u + 1000u) << "the report shows who holds up the sender";
    EXPECT_EQ(world.paths[2].statistics.unread, 1u + 500u);
    send(c, up(c, VSOCK_CREDIT_UPDATE, 700, 1000));
    world.run();
    heard = a.take();
    ASSERT_EQ(operations(heard), Operations{VSOCK_CREDIT_UPDATE});
    EXPECT_EQ(limit(heard[0]), 1700u);
    EXPECT_EQ(heard[0].header.source_cid, FLOW_FIRST_GROUP_CID);
    send(a, down(VSOCK_CREDIT_REQUEST));
    world.run();
    (void)b.take();
    send(b, up(b, VSOCK_CREDIT_UPDATE, 1000, 4000));
    world.run();
    heard = a.take();
    ASSERT_EQ(operations(heard), Operations{VSOCK_CREDIT_UPDATE}) << "it was asked for";
    EXPECT_EQ(limit(heard[0]), 1700u);
}

TEST_F(Multicast, f7_counts_of_bytes_wrap)
{
    world.multicast(0, {1, 2}, server, 65536);
    connect({&b, &c}, 0x4000'0000);
    world.exchange.groups[0].sent = 0xFFFF'F000u; // as if so much had been sent and taken
    world.exchange.groups[0].limit = 0xFFFF'F000u + 8000u;
    for (uint32_t leg = 0; leg < 2; leg++) {
        has_taken(leg, 8192, 0xFFFF'F000u);
    }
    pay(8000);
    EXPECT_EQ(stream(b.take()), bytes_of(8000));
    EXPECT_EQ(stream(c.take()), bytes_of(8000));
    send(b, up(b, VSOCK_CREDIT_UPDATE, 0xFFFF'F000u + 8000u, 8192));
    world.run();
    std::vector<Received> heard = a.take();
    ASSERT_EQ(operations(heard), Operations{VSOCK_CREDIT_UPDATE});
    EXPECT_EQ(limit(heard[0]), 0xFFFF'F000u + 8192u) << "c has not read";
    send(c, up(c, VSOCK_CREDIT_UPDATE, 0xFFFF'F000u + 8000u, 8192));
    world.run();
    heard = a.take();
    ASSERT_EQ(operations(heard), Operations{VSOCK_CREDIT_UPDATE});
    EXPECT_EQ(limit(heard[0]), 0xFFFF'F000u + 8000u + 8192u);
    EXPECT_LT(limit(heard[0]), 0xFFFF'F000u) << "it has wrapped";
}

TEST_F(Multicast, f7_a_receiver_that_does_not_answer_delays_the_sender_by_one_deadline)
{
    world.multicast(0, {1, 2}, server, 65536, 0, 1000);
    send(a, down(VSOCK_REQUEST));
    world.run();
    accept(b);
    EXPECT_TRUE(a.take().empty()) << "c still has time";
    EXPECT_LE(world.until, world.now + 1001) << "the broker wakes then";
    world.now += 1001;
    world.run();
    ASSERT_EQ(operations(a.take()), Operations{VSOCK_RESPONSE});
    EXPECT_EQ(world.paths[0].lines[FLOW_BACK].pace.last_release, world.now) << "it is not overdue";
    pay(100);
    EXPECT_EQ(stream(b.take()), bytes_of(100));
    ASSERT_EQ(operations(c.take()), Operations{VSOCK_REQUEST});
    send(c, up(c, VSOCK_RESPONSE));
    world.run();
    EXPECT_TRUE(a.take().empty()) << "a later receiver has as much credit";
    pay(200, 7);
    EXPECT_EQ(stream(b.take()), bytes_of(200, 7));
    EXPECT_EQ(stream(c.take()), bytes_of(200, 7)) << "it gets what comes from now on";
}

TEST_F(Multicast, f7_a_request_ends_when_no_receiver_accepts)
{
    world.multicast(0, {1, 2}, server);
    send(a, down(VSOCK_REQUEST));
    world.run();
    for (SocketGuest *one : {&b, &c}) {
        EXPECT_TRUE(a.take().empty());
        ASSERT_EQ(operations(one->take()), Operations{VSOCK_REQUEST});
        send(*one, up(*one, VSOCK_RESET));
        world.run();
    }
    EXPECT_EQ(operations(a.take()), Operations{VSOCK_RESET});
    world.lose(1);
    world.lose(2);
    send(a, down(VSOCK_REQUEST, 0, client + 1));
    EXPECT_EQ(operations(a.take()), Operations{VSOCK_RESET}) << "none is up";
}

TEST_F(Multicast, f7_one_receiver_resets_and_is_invited_again)
{
    world.multicast(0, {1, 2}, server);
    ASSERT_EQ(operations(connect({&b, &c})), Operations{VSOCK_RESPONSE});
    pay(1000);
    EXPECT_EQ(stream(b.take()), bytes_of(1000));
    EXPECT_EQ(stream(c.take()), bytes_of(1000));
    send(b, up(b, VSOCK_CREDIT_UPDATE, 1000));
    send(c, up(c, VSOCK_RESET));
    world.run();
    std::vector<Received> heard = a.take();
    ASSERT_FALSE(heard.empty());
    EXPECT_EQ(heard.back().header.operation, VSOCK_CREDIT_UPDATE);
    EXPECT_EQ(limit(heard.back()), 1000 + space) << "that of b alone";
    EXPECT_EQ(world.paths[1].statistics.unread, 0u) << "c has no connection";
    for (const Received &one : heard) {
        EXPECT_EQ(one.header.operation, VSOCK_CREDIT_UPDATE) << "its connection goes on";
    }
    pay(500, 9);
    EXPECT_EQ(stream(b.take()), bytes_of(500, 9));
    accept(c);
    EXPECT_TRUE(a.take().empty());
    pay(300, 4);
    EXPECT_EQ(stream(b.take()), bytes_of(300, 4));
    EXPECT_EQ(stream(c.take()), bytes_of(300, 4));
    send(b, up(b, VSOCK_CREDIT_UPDATE, 1800));
    send(c, up(c, VSOCK_CREDIT_UPDATE, 100));
    world.run();
    heard = a.take();
    ASSERT_FALSE(heard.empty());
    EXPECT_EQ(limit(heard.back()), 1500 + 100 + space) << "c began after 1500 bytes";
}

TEST_F(Multicast, f7_a_receiver_with_little_room_begins_where_the_credit_given_ends)
{
    world.multicast(0, {1, 2}, server);
    send(a, down(VSOCK_REQUEST));
    world.run();
    accept(b, 3000);
    ASSERT_EQ(operations(c.take()), Operations{VSOCK_REQUEST});
    world.now += 1001;
    world.run();
    ASSERT_EQ(limit(a.take().at(0)), 3000u);
    send(c, up(c, VSOCK_RESPONSE, 0, 1000));
    world.run();
    EXPECT_TRUE(a.take().empty()) << "credit is never taken back";
    pay(1999);
    pay(1);
    EXPECT_TRUE(c.take().empty()) << "it has no room for what the sender may send";
    pay(1000, 5);
    EXPECT_EQ(stream(c.take()), bytes_of(1000, 5));
    send(b, up(b, VSOCK_CREDIT_UPDATE, 3000, 3000));
    world.run();
    EXPECT_TRUE(a.take().empty());
    send(c, up(c, VSOCK_CREDIT_UPDATE, 400, 1000));
    world.run();
    EXPECT_EQ(limit(a.take().at(0)), 3400u);
}

TEST_F(Multicast, f7_the_last_receiver_that_leaves_ends_the_connection)
{
    world.multicast(0, {1, 2}, server);
    connect({&b, &c});
    vsock_header no_more = up(b, VSOCK_SHUTDOWN);
    no_more.flags = 2; // it only sends no more
    send(b, no_more);
    world.run();
    pay(10);
    EXPECT_EQ(stream(b.take()), bytes_of(10)) << "it still receives";
    EXPECT_EQ(stream(c.take()), bytes_of(10));
    no_more.flags = 3;
    send(b, no_more);
    world.run();
    EXPECT_EQ(operations(b.take()), Operations{VSOCK_RESET}) << "the answer to a shutdown";
    for (const Received &one : a.take()) {
        EXPECT_EQ(one.header.operation, VSOCK_CREDIT_UPDATE);
    }
    world.lose(2);
    world.run();
    const std::vector<Received> heard = a.take();
    ASSERT_EQ(operations(heard), Operations{VSOCK_RESET});
    EXPECT_EQ(heard[0].header.source_cid, FLOW_FIRST_GROUP_CID);
    EXPECT_EQ(heard[0].header.destination_port, client);
    EXPECT_EQ(operations(connect({&b})), Operations{VSOCK_RESPONSE}) << "and it can connect again";
}

TEST_F(Multicast, f7_a_receiver_restarts)
{
    world.multicast(0, {1, 2}, server);
    connect({&b, &c});
    pay(3000);
    (void)b.take();
    send(b, up(b, VSOCK_CREDIT_UPDATE, 3000));
    world.run();
    (void)a.take(); // c has not read, and the sender has little credit
    world.restart(2);
    world.run();
    const std::vector<Received> heard = a.take();
    ASSERT_EQ(operations(heard), Operations{VSOCK_CREDIT_UPDATE}) << "what c did not read no longer counts";
    EXPECT_EQ(limit(heard[0]), 3000 + space);
    pay(10);
    EXPECT_EQ(stream(b.take()), bytes_of(10));
    accept(c);
    pay(20);
    EXPECT_EQ(stream(b.take()), bytes_of(20));
    EXPECT_EQ(stream(c.take()), bytes_of(20));
}

// A receiver whose driver gives no buffers is given up after the patience; the others go on.
TEST_F(Multicast, f7_a_receiver_without_buffers_is_given_up)
{
    world.multicast(0, {1, 2}, server);
    connect({&b, &c}, 1 << 20);
    uint32_t sent = 0;
    for (; sent < 40; sent++) {
        ASSERT_TRUE(a.send(down(VSOCK_PAYLOAD, 100), bytes_of(100)));
        world.attend(0);
        world.run();
        EXPECT_EQ(stream(b.take()), bytes_of(100)) << sent;
        if (a.reap() == 0 && world.paths[1].lines[FLOW_THERE].count > 3) {
            break;
        }
    }
    EXPECT_LT(sent, 40u) << "c has 16 buffers, so that the sender's are held in the end";
    (void)a.take();
    world.now += 1000 + world.exchange.patience_ticks + 1;
    world.run();
    EXPECT_GT(a.reap(), 0u);
    EXPECT_EQ(world.paths[0].statistics.lost, 0u);
    EXPECT_GT(world.paths[1].statistics.lost, 0u);
    EXPECT_EQ(flow_connections_state(&world.paths[0].connections, client), FLOW_CONNECTION_OPEN);
    EXPECT_NE(flow_connections_state(&world.paths[1].connections, client), FLOW_CONNECTION_OPEN);
    pay(50);
    EXPECT_EQ(stream(b.take()), bytes_of(50));
    (void)c.take();
    world.attend(2);
    world.run();
    EXPECT_EQ(operations(c.take()), Operations{VSOCK_RESET}) << "once it has buffers";
    EXPECT_EQ(world.paths[1].statistics.refused, 0u) << "it was not invited before that";
    pay(50);
    accept(c, 1 << 20);
}

TEST_F(Multicast, f7_what_the_sender_may_not_send_ends_its_connection_everywhere)
{
    world.multicast(0, {1, 2, 3}, server, 1000);
    send(a, down(VSOCK_REQUEST));
    world.run();
    accept(b);
    accept(c);
    world.now += 1001;
    world.run(); // d has not answered
    ASSERT_EQ(operations(a.take()), Operations{VSOCK_RESPONSE});
    (void)d.take();
    pay(1001);
    EXPECT_EQ(operations(b.take()), Operations{VSOCK_RESET});
    EXPECT_EQ(operations(c.take()), Operations{VSOCK_RESET});
    EXPECT_EQ(operations(d.take()), Operations{VSOCK_RESET});
    EXPECT_EQ(operations(a.take()), Operations{VSOCK_RESET}) << "once";
    EXPECT_EQ(operations(connect({&b, &c, &d})), Operations{VSOCK_RESPONSE});
    send(a, down(VSOCK_RESPONSE));
    world.run();
    EXPECT_EQ(operations(a.take()), Operations{VSOCK_RESET});
}

TEST_F(Multicast, f7_payload_from_a_receiver_ends_its_part_alone)
{
    world.multicast(0, {1, 2}, server);
    connect({&b, &c});
    vsock_header header = up(c, VSOCK_PAYLOAD);
    header.bytes = 5;
    send(c, header, bytes_of(5));
    world.run();
    EXPECT_EQ(operations(c.take()), Operations{VSOCK_RESET});
    for (const Received &one : a.take()) {
        EXPECT_EQ(one.header.operation, VSOCK_CREDIT_UPDATE);
    }
    pay(10);
    EXPECT_EQ(stream(b.take()), bytes_of(10));
    EXPECT_EQ(world.paths[1].statistics.refused, 1u);
}

TEST_F(Multicast, f7_the_sender_closes_or_is_lost)
{
    world.multicast(0, {1, 2}, server);
    connect({&b, &c});
    send(a, down(VSOCK_SHUTDOWN));
    world.run();
    for (SocketGuest *one : {&b, &c}) {
        EXPECT_EQ(operations(one->take()), Operations{VSOCK_SHUTDOWN});
        send(*one, up(*one, VSOCK_RESET));
        world.run();
    }
    const std::vector<Received> heard = a.take();
    ASSERT_FALSE(heard.empty());
    EXPECT_EQ(heard.back().header.operation, VSOCK_RESET);
    a.reap();
    connect({&b, &c});
    send(a, down(VSOCK_RESET));
    world.run();
    EXPECT_EQ(operations(b.take()), Operations{VSOCK_RESET});
    EXPECT_EQ(operations(c.take()), Operations{VSOCK_RESET});
    EXPECT_TRUE(a.take().empty());
    connect({&b, &c});
    world.restart(0);
    world.run();
    EXPECT_EQ(operations(b.take()), Operations{VSOCK_RESET});
    EXPECT_EQ(operations(c.take()), Operations{VSOCK_RESET});
    EXPECT_TRUE(a.take().empty());
    EXPECT_EQ(operations(connect({&b, &c})), Operations{VSOCK_RESPONSE});
}

// What the sender is told of a connection that it has ended itself would end its next one.
TEST_F(Multicast, f7_no_news_of_an_earlier_connection)
{
    world.multicast(0, {1, 2}, server);
    connect({&b, &c});
    send(b, up(b, VSOCK_RESET));
    send(c, up(c, VSOCK_RESET)); // neither is delivered yet
    send(a, down(VSOCK_RESET));
    send(a, down(VSOCK_REQUEST));
    world.run();
    EXPECT_EQ(operations(a.take()), Operations{VSOCK_RESET}) << "the request comes too early";
    a.reap();
    EXPECT_EQ(operations(connect({&b, &c})), Operations{VSOCK_RESPONSE});
}

TEST_F(Multicast, f7_a_packet_takes_a_turn_for_each_receiver)
{
    world.multicast(0, {1, 2, 3}, server);
    connect({&b, &c, &d});
    world.give_turns(0, 4, 1000);
    world.now++;
    world.attend(0);
    for (int i = 0; i < 3; i++) {
        ASSERT_TRUE(a.send(down(VSOCK_PAYLOAD, 1), bytes_of(1)));
    }
    world.attend(0);
    world.run();
    EXPECT_EQ(b.take().size(), 1u);
    EXPECT_GT(world.until, world.now) << "the broker does not spin";
    EXPECT_LE(world.until, world.now + 2000);
    world.now += 2000;
    world.run();
    EXPECT_EQ(b.take().size(), 1u) << "one turn was left, and two are earned";
    world.now += 2999;
    world.run();
    EXPECT_TRUE(b.take().empty());
    world.now += 1;
    world.run();
    EXPECT_EQ(b.take().size(), 1u);
}

TEST_F(Multicast, f7_a_leg_that_is_closed_leaves_the_group)
{
    const uint32_t first = world.multicast(0, {1, 2}, server);
    connect({&b, &c});
    world.close(first);
    world.run();
    EXPECT_EQ(operations(b.take()), Operations{VSOCK_RESET});
    EXPECT_TRUE(flow_exchange_is_unused(&world.exchange, first));
    pay(10);
    EXPECT_EQ(stream(c.take()), bytes_of(10));
    EXPECT_TRUE(b.take().empty());
    world.close(first + 1);
    world.run();
    const std::vector<Received> heard = a.take();
    ASSERT_FALSE(heard.empty());
    EXPECT_EQ(heard.back().header.operation, VSOCK_RESET);
}

TEST_F(Multicast, f7_another_broker_begins_anew)
{
    world.multicast(0, {1, 2}, server);
    connect({&b, &c});
    ASSERT_TRUE(a.send(down(VSOCK_PAYLOAD, 10), bytes_of(10)));
    world.attend(0);
    world.restart_broker();
    world.run();
    EXPECT_EQ(a.reap(), 1u) << "a chain with two copies returns once";
    EXPECT_EQ(operations(connect({&b, &c})), Operations{VSOCK_RESPONSE});
    pay(10);
    EXPECT_EQ(stream(b.take()), bytes_of(10));
    EXPECT_EQ(stream(c.take()), bytes_of(10));
}

TEST_F(Multicast, f7_a_receiver_gets_all_packets_after_its_first_however_many)
{
    world.multicast(0, {1, 2}, server);
    connect({&b, &c});
    for (const uint32_t sent : {0x7FFF'FF00u, 0x8000'0000u, 0xC000'0000u, 0xFFFF'FFFFu}) {
        world.exchange.groups[0].sent = sent; // as if so much had been sent and taken
        world.exchange.groups[0].limit = sent + space;
        for (uint32_t leg = 0; leg < 2; leg++) {
            has_taken(leg, space, sent);
        }
        pay(300);
        EXPECT_EQ(stream(b.take()), bytes_of(300)) << sent;
        EXPECT_EQ(stream(c.take()), bytes_of(300)) << sent;
    }
}

TEST_F(Multicast, f7_a_request_ends_when_one_receiver_refuses_and_the_other_never_answers)
{
    world.multicast(0, {1, 2}, server);
    send(a, down(VSOCK_REQUEST));
    world.run();
    ASSERT_EQ(operations(b.take()), Operations{VSOCK_REQUEST});
    send(b, up(b, VSOCK_RESET));
    world.run();
    const uint64_t asked = world.now;
    world.now += 1000 + world.exchange.patience_ticks;
    world.run();
    EXPECT_TRUE(a.take().empty()) << "c still has time";
    EXPECT_EQ(world.until, asked + 1000 + world.exchange.patience_ticks + 1) << "the broker wakes then";
    world.now++;
    world.run();
    const std::vector<Received> heard = a.take();
    ASSERT_EQ(operations(heard), Operations{VSOCK_RESET});
    EXPECT_EQ(heard[0].header.source_cid, FLOW_FIRST_GROUP_CID);
    EXPECT_EQ(operations(c.take()), (Operations{VSOCK_REQUEST, VSOCK_RESET}));
    EXPECT_EQ(world.until, PACKET_NEVER);
    EXPECT_EQ(operations(connect({&b, &c})), Operations{VSOCK_RESPONSE});
}

TEST_F(Multicast, f7_a_request_ends_when_a_receiver_leaves_after_the_time_to_answer)
{
    world.multicast(0, {1, 2}, server);
    send(a, down(VSOCK_REQUEST));
    world.run();
    world.lose(1);
    world.now += 1000 + world.exchange.patience_ticks + 1;
    world.run();
    EXPECT_EQ(operations(a.take()), Operations{VSOCK_RESET});
}

TEST_F(Multicast, f7_the_last_accepted_receiver_ends_the_connection_of_the_invited_too)
{
    world.multicast(0, {1, 2}, server);
    send(a, down(VSOCK_REQUEST));
    world.run();
    accept(b);
    world.now += 1001;
    world.run();
    ASSERT_EQ(operations(a.take()), Operations{VSOCK_RESPONSE});
    send(b, up(b, VSOCK_RESET));
    world.run();
    EXPECT_EQ(operations(a.take()), Operations{VSOCK_RESET}) << "c has not answered";
    EXPECT_EQ(operations(c.take()), (Operations{VSOCK_REQUEST, VSOCK_RESET}));
    EXPECT_EQ(operations(connect({&b, &c})), Operations{VSOCK_RESPONSE});
}

TEST_F(Multicast, f7_a_new_request_replaces_one_that_was_not_answered)
{
    world.multicast(0, {1, 2}, server);
    send(a, down(VSOCK_REQUEST));
    world.run();
    send(a, down(VSOCK_REQUEST, 0, client + 1));
    world.run();
    EXPECT_EQ(operations(a.take()), Operations{VSOCK_RESET}) << "the receivers still have the first one";
    EXPECT_EQ(operations(b.take()), (Operations{VSOCK_REQUEST, VSOCK_RESET}));
    EXPECT_EQ(operations(c.take()), (Operations{VSOCK_REQUEST, VSOCK_RESET}));
    EXPECT_EQ(operations(connect({&b, &c})), Operations{VSOCK_RESPONSE});
    send(a, down(VSOCK_REQUEST, 0, client + 1));
    world.run();
    EXPECT_EQ(operations(a.take()), Operations{VSOCK_RESET}) << "the connection is open";
    pay(10);
    EXPECT_EQ(stream(b.take()), bytes_of(10));
}

TEST_F(Multicast, f7_new_receive_buffers_do_not_delay_the_answer)
{
    world.multicast(0, {1, 2}, server);
    send(a, down(VSOCK_REQUEST));
    world.run();
    accept(b);
    for (int i = 0; i < 3; i++) {
        EXPECT_TRUE(a.take().empty());
        world.now += 334;
        world.attend(0);
        world.run();
    }
    EXPECT_EQ(operations(a.take()), Operations{VSOCK_RESPONSE});
}

// The reset of b waits for its place in the pace while the sender begins a connection without b.
struct LateNews : Multicast {
    static constexpr uint64_t period = 10'000;

    void SetUp() override
    {
        world.multicast(0, {1, 2, 3}, server, 1000, period);
        connect({&b, &c, &d});
        for (int i = 0; i < 4; i++) {
            send(b, up(b, i % 2 == 0 ? VSOCK_CREDIT_UPDATE : VSOCK_CREDIT_REQUEST));
        }
        send(b, up(b, VSOCK_RESET));
        send(a, down(VSOCK_RESET));
        pass(period);
        EXPECT_EQ(operations(c.take()), Operations{VSOCK_RESET});
        EXPECT_EQ(operations(d.take()), Operations{VSOCK_RESET});
        (void)a.take();
        send(a, down(VSOCK_REQUEST, 0, client + 1));
        pass(period);
        EXPECT_EQ(operations(c.take()), Operations{VSOCK_REQUEST});
        EXPECT_EQ(operations(d.take()), Operations{VSOCK_REQUEST});
        ASSERT_NE(world.paths[0].lines[FLOW_BACK].count, 0u) << "the reset of b still waits";
    }
    void pass(uint64_t ticks)
    {
        world.now += ticks;
        world.run();
    }
    void answer(SocketGuest &from)
    {
        send(from, up(from, VSOCK_RESPONSE, 0, space, client + 1));
        world.run();
    }
};

TEST_F(LateNews, f7_news_of_an_earlier_connection_do_not_reach_an_open_one)
{
    answer(c);
    answer(d);
    ASSERT_EQ(operations(a.take()), Operations{VSOCK_RESPONSE});
    send(a, down(VSOCK_CREDIT_REQUEST, 0, client + 1));
    for (int i = 0; i < 4; i++) {
        pass(period);
    }
    ASSERT_EQ(world.paths[0].lines[FLOW_BACK].count, 0u);
    EXPECT_TRUE(a.take().empty());
    EXPECT_TRUE(world.exchange.groups[0].asked) << "c and d have not answered";
    EXPECT_EQ(world.exchange.groups[0].limit, space);
}

TEST_F(LateNews, f7_news_of_an_earlier_connection_do_not_shorten_the_time_to_answer)
{
    const uint64_t overdue = 4 * period + 2000;
    pass(overdue);
    ASSERT_EQ(world.paths[0].lines[FLOW_BACK].count, 0u);
    answer(c);
    EXPECT_TRUE(a.take().empty()) << "d still has time";
    answer(d);
    EXPECT_EQ(operations(a.take()), Operations{VSOCK_RESPONSE});
}

TEST_F(Multicast, f7_credit_is_not_taken_back_by_a_smaller_buffer)
{
    world.multicast(0, {1, 2}, server);
    connect({&b, &c});
    send(b, up(b, VSOCK_CREDIT_UPDATE, 0, 1000));
    world.run();
    for (const Received &one : a.take()) {
        EXPECT_EQ(limit(one), space);
    }
    EXPECT_EQ(world.exchange.groups[0].limit, space);
    send(c, up(c, VSOCK_RESET));
    world.run();
    pay(10);
    EXPECT_EQ(stream(b.take()), bytes_of(10));
    accept(c, 1000);
    pay(2000);
    EXPECT_TRUE(c.take().empty()) << "it has no room for what the sender may send";
}

TEST_F(Multicast, f7_a_huge_buffer_counts_as_one_gibibyte)
{
    world.multicast(0, {1, 2}, server);
    send(a, down(VSOCK_REQUEST));
    world.run();
    accept(b, 0xFFFF'FFFFu);
    world.now += 1001;
    world.run();
    EXPECT_EQ(limit(a.take().at(0)), 1u << 30);
    accept(c, 0xFFFF'FFFFu);
    pay(10);
    EXPECT_EQ(stream(b.take()), bytes_of(10));
    EXPECT_EQ(stream(c.take()), bytes_of(10));
    send(c, up(c, VSOCK_CREDIT_UPDATE, 0x8000'0010u, 0)); // it cannot have taken so much
    world.run();
    EXPECT_TRUE(a.take().empty());
    EXPECT_EQ(world.exchange.groups[0].limit, 1u << 30);
}

// A packet that waits for more turns than a smaller group lets its sender save up.
TEST_F(Multicast, f7_a_packet_needs_no_turns_for_legs_that_are_closed)
{
    const uint32_t first = world.multicast(0, {1, 2, 3}, server);
    connect({&b, &c, &d});
    world.give_turns(0, 2, 1000);
    ASSERT_TRUE(a.send(down(VSOCK_PAYLOAD, 10), bytes_of(10)));
    world.attend(0);
    world.run();
    EXPECT_TRUE(d.take().empty()) << "it has two turns and needs three";
    world.close(first);
    world.close(first + 1);
    world.give_turns(0, 2, 1000);
    world.now += 2000;
    world.run();
    EXPECT_EQ(stream(d.take()), bytes_of(10));
}

TEST_F(Multicast, f7_an_invitation_is_for_a_stream_whatever_the_packet_says)
{
    world.multicast(0, {1, 2}, server);
    connect({&b, &c});
    send(b, up(b, VSOCK_RESET));
    world.run();
    vsock_header packet = down(VSOCK_PAYLOAD, 10);
    packet.type = VSOCK_TYPE_SEQPACKET;
    send(a, packet, bytes_of(10));
    world.run();
    for (const Received &one : b.take()) {
        EXPECT_EQ(one.header.type, VSOCK_TYPE_STREAM);
    }
    EXPECT_EQ(operations(c.take()), Operations{VSOCK_RESET});
}

// Two groups, with receivers that fail, refuse, leave and read at random, beside a stream between two guests.
// What each receiver gets in one connection is a part of what was sent, without a gap, and the sender never
// has more credit than each receiver that is connected has room.
struct Reader {
    bool connected = false;
    uint32_t got = 0;            // bytes in this connection
    uint32_t taken = 0;          // of these, read
    std::optional<uint8_t> next; // value of the next byte
};

struct Random : Multicast {
    static constexpr uint32_t room = 2048;
    std::map<uint32_t, Reader> readers;
    bool connecting = false;
    bool open = false;
    uint32_t sent = 0;
    uint32_t allowed = 0;
    uint8_t value = 0;
    uint64_t accepted = 0;
    uint64_t received = 0;

    void hear()
    {
        a.reap();
        for (const Received &one : a.take()) {
            if (one.header.destination_port != port) {
                if (one.header.operation != VSOCK_RESET) {
                    (void)a.send(down(VSOCK_RESET, 0, one.header.destination_port));
                }
            } else if (one.header.operation == VSOCK_RESET) {
                open = connecting = false;
            } else {
                ASSERT_TRUE(open ? one.header.operation == VSOCK_CREDIT_UPDATE
                                 : connecting && one.header.operation == VSOCK_RESPONSE);
                open = true;
                connecting = false;
                EXPECT_LE(one.header.taken_bytes, sent);
                allowed = limit(one);
            }
        }
    }
    void read(uint32_t index, std::mt19937_64 &random)
    {
        SocketGuest &guest = world.guest(index);
        Reader &reader = readers[index];

        guest.reap();
        for (const Received &one : guest.take()) {
            switch (one.header.operation) {
            case VSOCK_REQUEST:
                if (random() % 4 == 0) {
                    (void)guest.send(up(guest, VSOCK_RESET, 0, room, one.header.source_port));
                } else {
                    reader = {};
                    reader.connected = guest.send(up(guest, VSOCK_RESPONSE, 0, room, one.header.source_port));
                    accepted++;
                }
                break;
            case VSOCK_PAYLOAD:
                if (!reader.connected) {
                    break; // it was in a buffer when the guest sent its reset
                }
                for (const uint8_t byte : one.payload) {
                    ASSERT_EQ(byte, reader.next.value_or(byte)) << "a gap in the stream of guest " << index;
                    reader.next = static_cast<uint8_t>(byte + 1);
                }
                reader.got += one.header.bytes;
                received += one.header.bytes;
                ASSERT_LE(reader.got - reader.taken, room) << "more than guest " << index << " has room for";
                break;
            case VSOCK_RESET:
                reader = {};
                break;
            default:
                break;
            }
        }
        world.attend(index);
    }
    void act(uint32_t index, std::mt19937_64 &random)
    {
        SocketGuest &guest = world.guest(index);
        Reader &reader = readers[index];

        switch (random() % 40) {
        case 0:
            world.restart(index);
            reader = {};
            break;
        case 1:
            if (reader.connected && guest.send(up(guest, VSOCK_RESET, 0, room, port))) {
                reader = {};
            }
            break;
        default:
            if (reader.connected && reader.got != reader.taken) {
                reader.taken = reader.got;
                (void)guest.send(up(guest, VSOCK_CREDIT_UPDATE, reader.taken, room, port));
            }
        }
        world.attend(index);
    }
    void produce(std::mt19937_64 &random)
    {
        if (connecting) {
            return;
        }
        if (!open) {
            port++;
            sent = 0;
            allowed = 0;
            connecting = a.send(down(VSOCK_REQUEST, 0, port));
        } else if (random() % 100 == 0) {
            open = !a.send(down(VSOCK_RESET, 0, port));
        } else if (const auto may = static_cast<int32_t>(allowed - sent); may > 0) {
            const auto bytes = static_cast<uint32_t>(1 + random() % std::min<uint64_t>(may, 700));
            if (a.send(down(VSOCK_PAYLOAD, bytes, port), bytes_of(bytes, value))) {
                sent += bytes;
                value = static_cast<uint8_t>(value + bytes);
            }
        }
        world.attend(0);
    }
    uint32_t port = client;
};

struct RandomSeed : Random, testing::WithParamInterface<uint64_t> {};

TEST_P(RandomSeed, f7_streams_have_no_gap_and_no_receiver_is_flooded)
{
    world.multicast(0, {1, 2, 3}, server, 700, 0, 50);
    std::mt19937_64 random(GetParam());
    uint64_t idle = 0;
    uint64_t longest = 0;
    for (int i = 0; i < 20'000; i++) {
        const uint64_t before = received;
        world.now += random() % 30;
        if (random() % 3 == 0) {
            produce(random);
        }
        for (uint64_t steps = random() % 6; steps != 0 && world.next() != FLOW_NEXT_NOTHING; steps--) {
        }
        hear();
        const auto index = static_cast<uint32_t>(1 + random() % 3);
        read(index, random);
        ASSERT_FALSE(HasFatalFailure()) << "step " << i;
        if (random() % 2 == 0) {
            act(index, random);
        }
        idle = received == before ? idle + 1 : 0;
        longest = std::max(longest, idle);
        for (uint32_t index_of = 0; index_of < 4; index_of++) {
            ASSERT_EQ(world.guest(index_of).device.malformed, 0u);
        }
    }
    EXPECT_GT(accepted, 100u);
    EXPECT_GT(received, 300'000u);
    EXPECT_LT(longest, 2'000u) << "the stream never stops for good";
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomSeed, testing::Range<uint64_t>(1, 7));

// The sender and one receiver of a group send whatever they like; a stream of another guest to the other
// receiver arrives as it was sent.
TEST_F(Multicast, f7_hostile_ends_disturb_no_other_flow)
{
    world.multicast(0, {1, 2}, server, 1000);
    world.path(3, 1, server + 1);
    std::mt19937_64 random(3);
    const std::vector<uint64_t> addresses = {0, 2, a.cid, b.cid, c.cid, d.cid, FLOW_FIRST_GROUP_CID, ~0ull};
    uint64_t carried = 0;
    bool open = false;

    for (int i = 0; i < 20'000; i++) {
        for (SocketGuest *hostile : {&a, &c}) {
            vsock_header header = hostile->header(b, client + random() % 2, server + random() % 2,
                                                  static_cast<vsock_operation>(random() % 8),
                                                  static_cast<uint32_t>(random() % 2 * (random() % 1100)));
            header.destination_cid =
                hostile == &a && random() % 4 != 0 ? FLOW_FIRST_GROUP_CID : addresses[random() % 8];
            if (hostile == &c && random() % 4 != 0) {
                header.destination_cid = a.cid;
                header.source_port = server;
                header.destination_port = client;
            }
            header.type = static_cast<uint16_t>(random() % 20 == 0 ? random() : VSOCK_TYPE_STREAM);
            header.buffer_bytes = static_cast<uint32_t>(random());
            header.taken_bytes = static_cast<uint32_t>(random());
            header.bytes = header.operation == VSOCK_PAYLOAD ? header.bytes : 0;
            (void)hostile->send(header, bytes_of(header.bytes));
            if (random() % 500 == 0) {
                world.restart(hostile->device.index);
            }
            world.attend(hostile->device.index);
            hostile->reap();
            (void)hostile->take(random() % 8 != 0);
        }
        if (random() % 3 == 0) {
            (void)d.send(d.header(b, client, server + 1, open ? VSOCK_PAYLOAD : VSOCK_REQUEST, open ? 10 : 0),
                         bytes_of(open ? 10 : 0));
            world.attend(3);
        }
        world.now += random() % 100'000;
        world.run();
        d.reap();
        for (const Received &one : d.take()) {
            ASSERT_NE(one.header.operation, VSOCK_RESET) << "step " << i;
            open = open || one.header.operation == VSOCK_RESPONSE;
        }
        b.reap();
        for (const Received &one : b.take()) {
            const SocketGuest &from = one.header.source_cid == d.cid ? d : a;
            ASSERT_EQ(one.header.source_cid, from.cid);
            carried += one.header.source_cid == d.cid && one.header.operation == VSOCK_PAYLOAD;
            if (one.header.operation == VSOCK_REQUEST) {
                (void)b.send(
                    b.header(from, one.header.destination_port, one.header.source_port, VSOCK_RESPONSE));
            }
        }
        world.attend(1);
        ASSERT_EQ(b.device.malformed, 0u);
    }
    EXPECT_GT(carried, 1000u);
    EXPECT_EQ(world.paths[2].statistics.lost, 0u);
}

} // namespace
} // namespace flow_multicast_test
