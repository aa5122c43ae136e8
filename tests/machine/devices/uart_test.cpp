// SPDX-License-Identifier: Apache-2.0
// Both UARTs as their drivers see them (S2): output is sent, input waits and interrupts until it is read, and
// the conditions that the Cadence one latches.
#include <gtest/gtest.h>

#include <string>

#include "machine/devices/cadence_uart.h"
#include "machine/devices/pl011.h"

namespace bulkhead::machine::devices::uart_test {
namespace {

template <class Device> class line {
public:
    Device device{[this](std::uint8_t byte) { sent.push_back(static_cast<char>(byte)); },
                  [this](bool high) { interrupt = high; }};
    std::string sent;
    bool interrupt = false;

    void receive(std::string_view text)
    {
        for (const char one : text) {
            device.receive(static_cast<std::uint8_t>(one));
        }
    }
};

class pl011_device : public testing::Test, public line<pl011> {};

constexpr std::uint64_t pl011_data = 0x00;
constexpr std::uint64_t pl011_flags = 0x18;
constexpr std::uint64_t pl011_mask = 0x38;
constexpr std::uint64_t pl011_receive_empty = 1u << 4;

TEST_F(pl011_device, WhatIsWrittenHasBeenSent)
{
    device.write(pl011_data, 'a');
    EXPECT_EQ(sent, "a");
}

TEST_F(pl011_device, ReceivedBytesInterruptUntilTheLastIsRead)
{
    device.write(pl011_mask, 1u << 4 | 1u << 6);
    receive("xy");
    EXPECT_TRUE(interrupt);
    EXPECT_EQ(device.read(pl011_data), 'x');
    EXPECT_TRUE(interrupt);
    EXPECT_EQ(device.read(pl011_data), 'y');
    EXPECT_FALSE(interrupt);
    EXPECT_EQ(device.read(pl011_flags) & pl011_receive_empty, pl011_receive_empty);
}

class cadence_device : public testing::Test, public line<cadence_uart> {
protected:
    static constexpr std::uint64_t control = 0x00;
    static constexpr std::uint64_t enable = 0x08;
    static constexpr std::uint64_t disable = 0x0C;
    static constexpr std::uint64_t mask = 0x10;
    static constexpr std::uint64_t raised = 0x14;
    static constexpr std::uint64_t timeout = 0x1C;
    static constexpr std::uint64_t trigger = 0x20;
    static constexpr std::uint64_t status = 0x2C;
    static constexpr std::uint64_t fifo = 0x30;
    static constexpr std::uint32_t both_on = 0x14;
    static constexpr std::uint32_t receive_triggered = 1u << 0;
    static constexpr std::uint32_t receive_empty = 1u << 1;
    static constexpr std::uint32_t receive_full = 1u << 2;
    static constexpr std::uint32_t transmit_empty = 1u << 3;
    static constexpr std::uint32_t transmit_full = 1u << 4;
    static constexpr std::uint32_t timed_out = 1u << 8;

    void start()
    {
        device.write(control, both_on);
        device.write(trigger, 1);
        device.write(raised, 0x1FFF);
    }
};

TEST_F(cadence_device, AfterResetBothDirectionsAreOff)
{
    device.write(fifo, 'a');
    receive("x");
    EXPECT_EQ(sent, "");
    EXPECT_EQ(device.read(status), receive_empty | transmit_empty);
}

TEST_F(cadence_device, WhatIsWrittenHasBeenSent)
{
    start();
    device.write(fifo, 'a');
    device.write(fifo, 'b');
    EXPECT_EQ(sent, "ab");
    EXPECT_EQ(device.read(status) & (transmit_empty | transmit_full), transmit_empty);
}

TEST_F(cadence_device, ResetsOfTheFifosClearThemselves)
{
    start();
    receive("x");
    device.write(control, both_on | 3);
    EXPECT_EQ(device.read(control), both_on);
    EXPECT_EQ(device.read(status) & receive_empty, receive_empty);
}

TEST_F(cadence_device, InterruptsAreSwitchedOneByOne)
{
    start();
    device.write(enable, 0x9);
    device.write(disable, 0x8);
    EXPECT_EQ(device.read(mask), 0x1u);
    EXPECT_FALSE(interrupt);
}

TEST_F(cadence_device, TheReceiveConditionStaysLatchedAndComesAgainWhileThereIsMore)
{
    start();
    device.write(enable, receive_triggered);
    receive("xy");
    EXPECT_TRUE(interrupt);
    EXPECT_EQ(device.read(fifo), 'x');
    device.write(raised, receive_triggered);
    EXPECT_TRUE(interrupt);
    EXPECT_EQ(device.read(fifo), 'y');
    EXPECT_TRUE(interrupt); // latched
    device.write(raised, receive_triggered);
    EXPECT_FALSE(interrupt);
    EXPECT_EQ(device.read(fifo), 0u);
}

TEST_F(cadence_device, TheTriggerCountsBytesAndTheTimeoutDoesNot)
{
    start();
    device.write(trigger, 3);
    device.write(enable, receive_triggered);
    receive("xy");
    EXPECT_FALSE(interrupt);
    receive("z");
    EXPECT_TRUE(interrupt);
    EXPECT_EQ(device.read(raised) & timed_out, 0u);
    device.write(timeout, 10);
    receive("!");
    EXPECT_EQ(device.read(raised) & timed_out, timed_out);
}

TEST_F(cadence_device, MoreThanTheFifoHoldsWaitsInTheLine)
{
    start();
    receive(std::string(cadence_uart::fifo_bytes, 'x') + "y");
    EXPECT_EQ(device.read(status) & receive_full, receive_full);
    for (std::size_t i = 0; i < cadence_uart::fifo_bytes; ++i) {
        EXPECT_EQ(device.read(fifo), 'x');
    }
    EXPECT_EQ(device.read(fifo), 'y');
}

TEST_F(cadence_device, AFullFifoTellsWhenItIsEmptyAgain)
{
    start();
    device.set_room(1);
    device.write(fifo, 'a');
    device.write(raised, transmit_empty);
    device.write(enable, transmit_empty);
    EXPECT_FALSE(interrupt);
    EXPECT_EQ(device.read(status) & (transmit_empty | transmit_full), transmit_full);
    device.write(fifo, 'b'); // lost
    device.set_room(std::nullopt);
    EXPECT_TRUE(interrupt);
    device.write(fifo, 'c');
    EXPECT_EQ(sent, "ac");
}

} // namespace
} // namespace bulkhead::machine::devices::uart_test
