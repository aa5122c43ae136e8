// SPDX-License-Identifier: Apache-2.0
// The socket driver of guests (D3, F7) never waits for a domain that takes no packets, in the calls for
// programs with several connections. The test is the device: it returns the descriptors of packets when it
// wants to.
#include <array>
#include <cstring>
#include <gtest/gtest.h>
#include <map>
#include <vector>

extern "C" {
#include "core/vsock.h"
#include "guests/socket/socket.h"
#include "socket_port.h"
}

namespace guest_socket_test {
namespace {

constexpr uint32_t entries = 32; // of a queue: guests/socket/socket_driver.h
constexpr uint64_t own = 3, hostile = 7, other = 8;
constexpr uint32_t most_controls = 4;

struct Descriptor {
    uint64_t at;
    uint32_t bytes;
    uint16_t flags, next;
};
struct Available {
    uint16_t flags, index;
    std::array<uint16_t, entries> ring;
};
struct Used {
    uint16_t flags, index;
    struct {
        uint32_t head, written;
    } ring[entries];
};

template <typename T> T *at(uint64_t address)
{
    return reinterpret_cast<T *>(address); // NOLINT: addresses of the test are those of the device
}

struct Queue {
    std::array<uint32_t, 12> places{};
    uint16_t seen = 0;

    uint64_t place(std::size_t number) const
    {
        return places[4 * number] | uint64_t{places[4 * number + 1]} << 32;
    }
    Descriptor &descriptor(uint32_t index) const { return at<Descriptor>(place(0))[index]; }
    bool has_next() const { return at<Available>(place(1))->index != seen; }
    uint32_t next() { return at<Available>(place(1))->ring[seen++ % entries]; }
    void give_back(uint32_t head, uint32_t written) const
    {
        auto *used = at<Used>(place(2));
        used->ring[used->index % entries] = {head, written};
        used->index++;
    }
};

struct Device {
    std::array<Queue, VSOCK_QUEUES> queues{};
    uint32_t selected = 0, status = 0, waits = 0;
    uint32_t offered = 1, accepted = 0;                  // features 32 and up
    std::vector<std::pair<uint32_t, vsock_header>> held; // packets that the driver has sent, by descriptor

    void take_sent()
    {
        Queue &queue = queues[VSOCK_QUEUE_TX];
        while (queue.has_next()) {
            uint32_t head = queue.next();
            held.emplace_back(head, *at<vsock_header>(queue.descriptor(head).at));
        }
    }
    std::vector<uint32_t> held_for(uint64_t cid)
    {
        take_sent();
        std::vector<uint32_t> operations;
        for (const auto &[head, header] : held)
            if (header.destination_cid == cid)
                operations.push_back(header.operation);
        return operations;
    }
    void give_back_all()
    {
        take_sent();
        for (const auto &[head, header] : held)
            queues[VSOCK_QUEUE_TX].give_back(head, 0);
        held.clear();
    }
    void deliver(uint64_t from, uint32_t from_port, uint32_t to_port, vsock_operation operation)
    {
        Queue &queue = queues[VSOCK_QUEUE_RX];
        ASSERT_TRUE(queue.has_next());
        uint32_t head = queue.next();
        vsock_header header{};
        header.source_cid = from;
        header.destination_cid = own;
        header.source_port = from_port;
        header.destination_port = to_port;
        header.type = VSOCK_TYPE_STREAM;
        header.operation = static_cast<uint16_t>(operation);
        header.buffer_bytes = 1 << 20;
        std::memcpy(at<void>(queue.descriptor(head).at), &header, VSOCK_HEADER_BYTES);
        queue.give_back(head, VSOCK_HEADER_BYTES);
    }
};

Device device;

class SocketTest : public testing::Test {
protected:
    SocketTest()
    {
        device = Device{};
        EXPECT_TRUE(socket_start(0));
    }
    ~SocketTest() override { EXPECT_EQ(device.waits, 0U) << "a call waited"; }
    SocketTest(const SocketTest &) = delete;
    SocketTest &operator=(const SocketTest &) = delete;

    static socket *accepted(uint64_t from, uint32_t port)
    {
        device.deliver(from, 1000, port, VSOCK_REQUEST);
        socket_poll();
        return socket_accept_asked(port);
    }
    static void ask_for_credit(uint32_t times, uint32_t port)
    {
        for (uint32_t i = 0; i < times; i++) {
            device.deliver(hostile, 1000, port, VSOCK_CREDIT_REQUEST);
            socket_poll();
        }
    }
    static bool offers(socket *to)
    {
        static uint8_t payload[64];
        uint64_t number;
        return socket_offer(to, payload, sizeof(payload), &number);
    }
};

TEST_F(SocketTest, ADomainThatTakesNoPacketsHoldsAFewDescriptors)
{
    socket *bad = accepted(hostile, 1);
    socket *good = accepted(other, 2);
    ASSERT_TRUE(bad != nullptr && good != nullptr);
    ask_for_credit(100, 1);
    EXPECT_EQ(device.held_for(hostile).size(), most_controls);
    EXPECT_TRUE(offers(good));
    EXPECT_EQ(device.held_for(other), (std::vector<uint32_t>{VSOCK_RESPONSE, VSOCK_PAYLOAD}));
    device.give_back_all();
    EXPECT_TRUE(socket_poll());
    EXPECT_EQ(device.held_for(hostile), std::vector<uint32_t>{VSOCK_CREDIT_UPDATE}) << "one stands for all";
}

TEST_F(SocketTest, ResetsForUnknownConnectionsAreAFew)
{
    socket *good = accepted(other, 2);
    for (uint32_t i = 0; i < 100; i++) {
        device.deliver(hostile, i, 77, VSOCK_CREDIT_REQUEST);
        socket_poll();
    }
    EXPECT_EQ(device.held_for(hostile), std::vector<uint32_t>(most_controls, VSOCK_RESET));
    EXPECT_TRUE(offers(good));
}

TEST_F(SocketTest, NothingIsSentBeforeTheOtherEndIsToldThatItIsAccepted)
{
    (void)accepted(hostile, 1);
    ask_for_credit(10, 1);
    socket *second = accepted(hostile, 2);
    ASSERT_NE(second, nullptr);
    EXPECT_FALSE(offers(second));
    device.give_back_all();
    socket_poll();
    EXPECT_TRUE(offers(second));
    EXPECT_EQ(device.held_for(hostile),
              (std::vector<uint32_t>{VSOCK_CREDIT_UPDATE, VSOCK_RESPONSE, VSOCK_PAYLOAD}));
}

TEST_F(SocketTest, AConnectionThatIsForgottenIsFreeWhenTheOtherEndIsTold)
{
    socket *bad = accepted(hostile, 1);
    ask_for_credit(10, 1);
    device.deliver(hostile, 1000, 1, VSOCK_SHUTDOWN);
    socket_poll();
    ASSERT_TRUE(socket_has_ended(bad));
    socket_forget(bad);
    EXPECT_EQ(device.held_for(hostile).size(), most_controls);
    device.deliver(hostile, 1000, 1, VSOCK_RESPONSE); // does not bring it back
    socket_poll();
    device.give_back_all();
    socket_poll();
    EXPECT_EQ(device.held_for(hostile), std::vector<uint32_t>{VSOCK_RESET});
    device.give_back_all();
    for (uint32_t round = 0; round < 20; round++) {
        socket *next = accepted(hostile, 1);
        ASSERT_NE(next, nullptr) << "connections are not used up";
        device.deliver(hostile, 1000, 1, VSOCK_SHUTDOWN);
        socket_poll();
        socket_forget(next);
        device.give_back_all();
        socket_poll();
    }
}

TEST_F(SocketTest, ARequestThatFollowsAForgottenConnectionOfTheSamePortsIsNotReset)
{
    socket *bad = accepted(hostile, 1);
    ask_for_credit(10, 1);
    device.deliver(hostile, 1000, 1, VSOCK_SHUTDOWN);
    socket_poll();
    socket_forget(bad);
    socket *next = accepted(hostile, 1);
    ASSERT_NE(next, nullptr);
    device.give_back_all();
    socket_poll();
    EXPECT_EQ(device.held_for(hostile), std::vector<uint32_t>{VSOCK_RESPONSE});
}

// The device offers VIRTIO_F_ACCESS_PLATFORM and reaches nothing but a pool (F8).
class PooledSocketTest : public SocketTest {
protected:
    static constexpr std::size_t pool_bytes = 192 << 10;
    alignas(4096) static inline std::array<uint8_t, pool_bytes> pool;

    PooledSocketTest()
    {
        device = Device{};
        device.offered = 3;
        socket_use_pool(pool.data(), pool.size());
        EXPECT_TRUE(socket_start(0));
    }
    ~PooledSocketTest() override { socket_use_pool(nullptr, 0); }
    PooledSocketTest(const PooledSocketTest &) = delete;
    PooledSocketTest &operator=(const PooledSocketTest &) = delete;

    static bool is_inside(uint64_t address, std::size_t bytes)
    {
        const uint64_t start = reinterpret_cast<uintptr_t>(pool.data());
        return address >= start && address + bytes <= start + pool.size();
    }
};

TEST_F(PooledSocketTest, F8_QueuesAndReceiveBuffersAreInThePool)
{
    EXPECT_EQ(device.accepted, 3U);
    for (const Queue &queue : device.queues) {
        EXPECT_TRUE(is_inside(queue.place(0), entries * sizeof(Descriptor)));
        EXPECT_TRUE(is_inside(queue.place(1), sizeof(Available)));
        EXPECT_TRUE(is_inside(queue.place(2), sizeof(Used)));
    }
    Queue &receives = device.queues[VSOCK_QUEUE_RX];
    for (uint32_t i = 0; i < entries; i++)
        EXPECT_TRUE(is_inside(receives.descriptor(i).at, receives.descriptor(i).bytes));
    EXPECT_TRUE(is_inside(device.queues[VSOCK_QUEUE_EVENT].descriptor(0).at, sizeof(uint32_t)));
}

TEST_F(PooledSocketTest, F8_PayloadIsCopiedToThePoolAndItsRoomIsUsedAgain)
{
    socket *to = accepted(other, 2);
    ASSERT_NE(to, nullptr);
    std::vector<uint8_t> payload(20000);
    uint64_t number = 0, sent = 0;
    for (uint32_t round = 0; round < 30; round++) {
        for (std::size_t i = 0; i < payload.size(); i++)
            payload[i] = static_cast<uint8_t>(i * 31 + round);
        if (!socket_offer(to, payload.data(), payload.size(), &number)) {
            EXPECT_GT(sent, 1U) << "two fit at least";
            device.give_back_all();
            socket_poll();
            device.deliver(other, 1000, 2, VSOCK_CREDIT_UPDATE);
            socket_poll();
            sent = 0;
            continue;
        }
        sent++;
        device.take_sent();
        const uint32_t head = device.held.back().first;
        const Descriptor &one = device.queues[VSOCK_QUEUE_TX].descriptor(head + 1);
        ASSERT_EQ(one.bytes, payload.size());
        ASSERT_TRUE(is_inside(one.at, one.bytes));
        ASSERT_EQ(std::memcmp(at<void>(one.at), payload.data(), payload.size()), 0);
        for (const auto &[before, header] : device.held) {
            const Descriptor &other_one = device.queues[VSOCK_QUEUE_TX].descriptor(before + 1);
            EXPECT_TRUE(before == head || header.bytes == 0 || other_one.at + other_one.bytes <= one.at ||
                        one.at + one.bytes <= other_one.at)
                << "two packets share bytes";
        }
    }
}

TEST_F(PooledSocketTest, F8_AnotherPoolOrNoneIsRefused)
{
    socket_use_pool(pool.data(), 64 << 10);
    EXPECT_FALSE(socket_start(0)) << "no room for the queues";
    socket_use_pool(nullptr, 0);
    EXPECT_FALSE(socket_start(0));
}

} // namespace
} // namespace guest_socket_test

extern "C" uint32_t socket_port_read(uint64_t at)
{
    using guest_socket_test::device;
    switch (at) {
    case 0x008:
        return VSOCK_DEVICE_ID;
    case 0x070:
        return device.status;
    case 0x010:
        return device.offered;
    case 0x100:
        return guest_socket_test::own;
    default:
        return 0;
    }
}

extern "C" void socket_port_write(uint64_t at, uint32_t value)
{
    using guest_socket_test::device;
    if (at == 0x030)
        device.selected = value;
    else if (at == 0x070)
        device.status = value;
    else if (at == 0x020)
        device.accepted = value;
    else if (at >= 0x080 && at < 0x0B0)
        device.queues[device.selected].places[(at - 0x080) / 4] = value;
}

extern "C" void socket_port_wait(uint64_t deadline)
{
    (void)deadline;
    guest_socket_test::device.waits++;
    guest_socket_test::device.give_back_all(); // so that a call that waits ends
}
