// SPDX-License-Identifier: Apache-2.0
// Flows with a way back, sockets of packets, and connections by hundreds (F11).
#include "core/flow_paths.h"
#include "exchange_world.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <random>
#include <set>

namespace flow_both_ways_test {
namespace {

using namespace bulkhead_test;

constexpr uint32_t server = 5000;
constexpr uint32_t client = 1024;

struct BothWays : testing::Test {
    World world{2};
    SocketGuest &a = world.guest(0);
    SocketGuest &b = world.guest(1);

    void send(SocketGuest &from, vsock_header header, const std::vector<uint8_t> &payload = {})
    {
        header.bytes = static_cast<uint32_t>(payload.size());
        ASSERT_TRUE(from.send(header, payload));
        world.attend(from.device.index);
    }
    vsock_header there(vsock_operation operation, uint16_t type = VSOCK_TYPE_STREAM, uint32_t port = client)
    {
        vsock_header header = a.header(b, port, server, operation);
        header.type = type;
        return header;
    }
    vsock_header back(vsock_operation operation, uint16_t type = VSOCK_TYPE_STREAM, uint32_t port = client)
    {
        vsock_header header = b.header(a, server, port, operation);
        header.type = type;
        return header;
    }
    void connect(uint16_t type = VSOCK_TYPE_STREAM, uint32_t port = client)
    {
        send(a, there(VSOCK_REQUEST, type, port));
        world.run();
        ASSERT_EQ(operations(b.take()), Operations{VSOCK_REQUEST});
        send(b, back(VSOCK_RESPONSE, type, port));
        world.run();
        ASSERT_EQ(operations(a.take()), Operations{VSOCK_RESPONSE});
        a.reap();
        b.reap();
    }
};

TEST_F(BothWays, f11_an_answer_comes_back_along_the_connection)
{
    world.path(0, 1, server);
    world.way_back(0, 8192);
    connect();
    send(a, there(VSOCK_PAYLOAD), bytes_of(100));
    world.run();
    ASSERT_EQ(b.take().at(0).payload, bytes_of(100));
    send(b, back(VSOCK_PAYLOAD), bytes_of(3000));
    world.run();
    ASSERT_EQ(a.take().at(0).payload, bytes_of(3000));
    EXPECT_EQ(world.paths[0].statistics.bytes, 100u);
    EXPECT_EQ(world.paths[0].statistics.packets, 1u);
    EXPECT_EQ(world.paths[1].statistics.bytes, 3000u) << "a direction has its own figures";
    EXPECT_EQ(world.paths[1].statistics.packets, 1u);
}

TEST_F(BothWays, f11_no_payload_comes_back_where_there_is_no_way)
{
    world.path(0, 1, server);
    connect();
    send(b, back(VSOCK_PAYLOAD), bytes_of(1));
    world.run();
    EXPECT_EQ(operations(a.take()), Operations{VSOCK_RESET});
    EXPECT_EQ(operations(b.take()), Operations{VSOCK_RESET});
}

TEST_F(BothWays, f11_each_direction_has_its_own_largest_packet)
{
    world.path(0, 1, server, 10'000);
    world.way_back(0, 100);
    connect();
    send(a, there(VSOCK_PAYLOAD), bytes_of(101));
    send(b, back(VSOCK_PAYLOAD), bytes_of(100));
    world.run();
    EXPECT_EQ(operations(a.take()), Operations{VSOCK_PAYLOAD});
    send(b, back(VSOCK_PAYLOAD), bytes_of(101));
    world.run();
    EXPECT_EQ(operations(a.take()), Operations{VSOCK_RESET});
    EXPECT_EQ(world.paths[1].statistics.refused, 1u);
}

// Payload in one direction at its period, in the other at its own, control packets of both at the shorter
// period; each direction is due by its own deadline.
TEST_F(BothWays, f11_each_direction_has_its_own_pace)
{
    world.path(0, 1, server, 65536, 1000, 5000);
    world.way_back(0, 65536, 300, 700);
    const packet_pace &there_pace = world.paths[0].lines[FLOW_THERE].pace;
    const packet_pace &back_pace = world.paths[0].lines[FLOW_BACK].pace;
    EXPECT_EQ(there_pace.period_ticks[1], 1000u);
    EXPECT_EQ(back_pace.period_ticks[1], 300u);
    EXPECT_EQ(there_pace.period_ticks[0], 300u);
    EXPECT_EQ(back_pace.period_ticks[0], 300u);
    EXPECT_EQ(there_pace.deadline_ticks, 5000u);
    EXPECT_EQ(back_pace.deadline_ticks, 700u);
}

TEST_F(BothWays, f11_turns_are_those_of_both_directions)
{
    world.path(0, 1, server, 65536, 1000, 5000);
    flow tasks[2 * FLOW_TASKS];
    const flow data = {
        .packet_bytes = 1, .period_ns = 1000, .deadline_ns = 1, .transfers = 1, .sender = 0, .ends_ns = 0};
    const flow answer = {
        .packet_bytes = 1, .period_ns = 300, .deadline_ns = 2, .transfers = 1, .sender = 1, .ends_ns = 0};
    uint32_t count = flow_with_control(&data, 1, answer.period_ns, tasks);
    ASSERT_EQ(count, 2u);
    count += flow_with_control(&answer, 0, data.period_ns, &tasks[count]);
    ASSERT_EQ(count, 4u);
    EXPECT_EQ(tasks[1].period_ns, 300u) << "credit for what comes back is told as often as that comes";
    EXPECT_EQ(tasks[3].sender, 1u);
    world.way_back(0, 65536, 300, 700);
    flow_exchange_share_turns(&world.exchange);
    for (uint32_t i = 0; i < 2; i++) {
        const flow_share share = flow_turn_share(tasks, count, i);
        EXPECT_EQ(world.guest(i).device.turns.share.packets, share.packets);
        EXPECT_EQ(world.guest(i).device.turns.share.period_ns, share.period_ns);
    }
}

// Closing one direction ends the connections of both.
TEST_F(BothWays, f11_a_way_back_ends_with_its_flow)
{
    for (const uint32_t ended : {0u, 1u}) {
        World own{2};
        own.path(0, 1, server);
        own.way_back(0);
        ASSERT_TRUE(own.guest(0).send(own.guest(0).header(own.guest(1), client, server, VSOCK_REQUEST)));
        own.attend(0);
        own.run();
        EXPECT_EQ(operations(own.guest(1).take()), Operations{VSOCK_REQUEST});
        own.close(ended);
        own.close(1 - ended);
        own.run();
        EXPECT_EQ(operations(own.guest(0).take()), Operations{VSOCK_RESET});
        EXPECT_EQ(operations(own.guest(1).take()), Operations{VSOCK_RESET});
        EXPECT_TRUE(flow_exchange_is_unused(&own.exchange, 0));
        EXPECT_TRUE(flow_exchange_is_unused(&own.exchange, 1));
    }
}

TEST_F(BothWays, f11_a_message_ends_with_its_last_part)
{
    world.path(0, 1, server);
    connect(VSOCK_TYPE_SEQPACKET);
    vsock_header header = there(VSOCK_PAYLOAD, VSOCK_TYPE_SEQPACKET);
    header.flags = VSOCK_FLAG_EOM | VSOCK_FLAG_EOR;
    send(a, header, bytes_of(10'000));
    world.run();
    const std::vector<Received> got = b.take();
    ASSERT_GE(got.size(), 3u) << "split over buffers of 4096";
    for (size_t i = 0; i < got.size(); i++) {
        EXPECT_EQ(got[i].header.type, VSOCK_TYPE_SEQPACKET);
        EXPECT_EQ(got[i].header.flags, i + 1 == got.size() ? VSOCK_FLAG_EOM | VSOCK_FLAG_EOR : 0);
    }
}

TEST_F(BothWays, f11_a_connection_stays_of_its_type_and_so_does_its_reset)
{
    world.path(0, 1, server);
    connect(VSOCK_TYPE_SEQPACKET);
    send(a, there(VSOCK_PAYLOAD, VSOCK_TYPE_STREAM), bytes_of(10));
    world.run();
    for (SocketGuest *one : {&a, &b}) {
        const std::vector<Received> got = one->take();
        ASSERT_EQ(operations(got), Operations{VSOCK_RESET});
        EXPECT_EQ(got[0].header.type, VSOCK_TYPE_SEQPACKET) << "a driver drops one of another type";
    }
}

TEST_F(BothWays, f11_a_driver_that_has_not_accepted_packets_gets_none_through)
{
    world.path(0, 1, server);
    a.mmio.device.accepted &= ~VSOCK_F_SEQPACKET;
    send(a, there(VSOCK_REQUEST, VSOCK_TYPE_SEQPACKET));
    world.run();
    EXPECT_EQ(operations(a.take()), Operations{VSOCK_RESET});
    EXPECT_TRUE(b.take().empty());
}

TEST_F(BothWays, f11_there_are_as_many_connections_as_were_asked_for)
{
    world.connections = FLOW_CONNECTIONS_MOST;
    world.path(0, 1, server);
    for (uint32_t i = 0; i < FLOW_CONNECTIONS_MOST; i++) {
        connect(VSOCK_TYPE_STREAM, 7 * i % FLOW_CONNECTIONS_MOST);
    }
    send(a, there(VSOCK_REQUEST, VSOCK_TYPE_STREAM, 999));
    world.run();
    EXPECT_EQ(operations(a.take()), Operations{VSOCK_RESET});
    world.lose(1);
    for (uint32_t i = 0; i < FLOW_CONNECTIONS_MOST; i += 16) { // as many as it has buffers
        world.run();
        EXPECT_EQ(operations(a.take()), Operations(16, VSOCK_RESET));
        world.attend(0); // its buffers are available again
    }
}

// The connections of a flow as a list that is searched linearly.
struct Listed {
    uint32_t state = 0; // 0: none
    uint32_t owed = 0;
    uint16_t type = 0;
    flow_connection of{};
};

class Connections : public testing::Test {
protected:
    flow_connections all{};
    std::map<uint32_t, Listed> listed; // by the client's port

    static vsock_header header(vsock_operation operation, bool reverse, uint32_t port, uint16_t type)
    {
        return {.source_cid = reverse ? 4u : 3u,
                .destination_cid = reverse ? 3u : 4u,
                .source_port = reverse ? server : port,
                .destination_port = reverse ? port : server,
                .bytes = 0,
                .type = type,
                .operation = static_cast<uint16_t>(operation),
                .flags = 0,
                .buffer_bytes = 0,
                .taken_bytes = 0};
    }

    void forget_free()
    {
        std::erase_if(listed, [](const auto &one) { return one.second.state == 0 && one.second.owed == 0; });
    }

    void judge() const
    {
        std::set<uint8_t> seen(all.by_port, all.by_port + FLOW_CONNECTIONS_MOST);
        uint32_t owed = 0;

        ASSERT_EQ(seen.size(), FLOW_CONNECTIONS_MOST) << "each entry once";
        ASSERT_EQ(all.count, listed.size());
        auto one = listed.begin();
        for (uint32_t i = 0; i < all.count; i++, one++) {
            const uint32_t entry = all.by_port[i];
            ASSERT_EQ(all.entries[entry].client_port, one->first);
            for (uint32_t state = 0; state < FLOW_CONNECTION_STATES; state++) {
                ASSERT_EQ(all.in_state[state].words[entry / 64] >> entry % 64 & 1,
                          one->second.state == state + 1 ? 1u : 0u);
            }
            for (uint32_t end = 0; end < FLOW_ENDS; end++) {
                ASSERT_EQ(all.owed_to[end].words[entry / 64] >> entry % 64 & 1, one->second.owed >> end & 1);
            }
            owed |= one->second.owed;
        }
        ASSERT_EQ(all.owed, owed);
    }
};

TEST_F(Connections, f11_are_those_of_a_list)
{
    constexpr uint32_t requested = FLOW_CONNECTION_REQUESTED + 1;
    constexpr uint32_t open = FLOW_CONNECTION_OPEN + 1;
    constexpr uint32_t ending = FLOW_CONNECTION_ENDING + 1;
    constexpr uint32_t both = FLOW_END_SOURCE | FLOW_END_DESTINATION;
    std::minstd_rand random(5);
    std::map<flow_decision, int> decided;

    flow_connections_init(&all, 3, 4, server, 100);
    for (int step = 0; step < 60'000; step++) {
        const auto port = static_cast<uint32_t>(random() % 150);
        const bool reverse = random() % 2 == 0;
        const auto type = static_cast<uint16_t>(1 + random() % 2);
        Listed *one = listed.contains(port) ? &listed[port] : nullptr;
        const bool alive = one != nullptr && (one->state == requested || one->state == open);

        if (step % 4000 == 3999) {
            const auto lost = static_cast<uint32_t>(random() % 3);
            for (auto &[of_port, other] : listed) {
                other.owed = (other.owed | (other.state != 0 ? both : 0)) & ~lost;
                other.state = 0;
            }
            (void)flow_connections_lose(&all, lost);
        } else if (random() % 3 == 0) { // the broker's own actions
            vsock_header reset{};
            const auto end = static_cast<uint32_t>(1 + random() % 2);
            if (flow_connections_owed(&all, end, &reset)) {
                const uint32_t of_port = end == FLOW_END_SOURCE ? reset.destination_port : reset.source_port;
                ASSERT_TRUE((listed.at(of_port).owed & end) != 0);
                ASSERT_EQ(reset.type, listed.at(of_port).type);
                flow_connections_paid(&all, end, &reset);
                listed[of_port].owed &= ~end;
            }
            if (one != nullptr && one->state == ending) {
                flow_connections_delivered(&all, &one->of);
                one->state = 0;
            }
        } else {
            const auto operation = static_cast<vsock_operation>(VSOCK_REQUEST + random() % 7);
            const uint16_t as = alive && random() % 8 != 0 ? one->type : type;
            const vsock_header sent = header(operation, reverse, port, as);
            flow_connection of{};
            const flow_decision decision = flow_connections_take(&all, &sent, reverse, 0, &of);
            decided[decision]++;
            if (operation == VSOCK_REQUEST && !reverse) {
                const bool room = one == nullptr && listed.size() < 100;
                ASSERT_EQ(decision, room ? FLOW_FORWARD : FLOW_ANSWER_RESET);
                if (room) {
                    listed[port] = {.state = requested, .owed = 0, .type = as, .of = of};
                }
            } else if (!alive) {
                ASSERT_EQ(decision, operation == VSOCK_RESET ? FLOW_DROP : FLOW_ANSWER_RESET);
            } else if (operation == VSOCK_RESET) {
                ASSERT_EQ(decision, FLOW_FORWARD);
                one->state = ending;
            } else {
                const bool is_open = one->state == open;
                const bool may = as == one->type && (operation == VSOCK_SHUTDOWN ||
                                                     (operation == VSOCK_RESPONSE && reverse && !is_open) ||
                                                     (operation >= VSOCK_PAYLOAD && is_open));
                ASSERT_EQ(decision, may ? FLOW_FORWARD : FLOW_ABORT);
                if (!may) {
                    one->state = 0;
                    one->owed = both;
                } else if (operation == VSOCK_RESPONSE) {
                    one->state = open;
                }
            }
            if (decision == FLOW_FORWARD && listed.contains(port)) {
                ASSERT_TRUE(flow_connections_has(&all, &of, operation == VSOCK_RESET));
                ASSERT_EQ(of.entry, listed[port].of.entry);
            }
        }
        forget_free();
        ASSERT_NO_FATAL_FAILURE(judge());
    }
    for (const flow_decision one : {FLOW_FORWARD, FLOW_ANSWER_RESET, FLOW_ABORT, FLOW_DROP}) {
        EXPECT_GT(decided[one], 100);
    }
}

// A packet of a connection that has ended does not belong to the next one with the same port.
TEST_F(Connections, f11_a_late_packet_is_not_of_the_next_connection)
{
    flow_connection first{};
    flow_connection second{};
    const vsock_header request = header(VSOCK_REQUEST, false, client, VSOCK_TYPE_STREAM);
    vsock_header reset{};

    flow_connections_init(&all, 3, 4, server, 2);
    ASSERT_EQ(flow_connections_take(&all, &request, false, 0, &first), FLOW_FORWARD);
    flow_connections_abort(&all, &first, VSOCK_SHUTDOWN, false);
    for (const uint32_t end : {FLOW_END_SOURCE, FLOW_END_DESTINATION}) {
        ASSERT_EQ(flow_connections_take(&all, &request, false, 0, &second), FLOW_ANSWER_RESET);
        ASSERT_TRUE(flow_connections_owed(&all, end, &reset));
        flow_connections_paid(&all, end, &reset);
    }
    ASSERT_EQ(flow_connections_take(&all, &request, false, 0, &second), FLOW_FORWARD);
    EXPECT_FALSE(flow_connections_has(&all, &first, false));
    EXPECT_TRUE(flow_connections_has(&all, &second, false));
}

} // namespace
} // namespace flow_both_ways_test
