// SPDX-License-Identifier: Apache-2.0
//
// The driver of the i.MX UART on a model of its registers (IMX8MPRM, UART): the line speed that it sets or
// keeps, and the interrupts that the console waits for. Conditions are levels: they hold as long as their
// cause does.
#include <gtest/gtest.h>

#include <cstdint>
#include <deque>
#include <map>
#include <string>

extern "C" {
#include "arch/hosted/fake_registers.h"
#include "platform/common/uart.h"
#include <bulkhead_layout.h>
}

namespace imx_uart_test {
namespace {

constexpr uint64_t base = 0x30890000;
constexpr uint32_t clock_hz = 24000000;
constexpr uint32_t fifo_bytes = 32;

enum uart_register : uint64_t {
    urxd = 0x00,
    utxd = 0x40,
    ucr1 = 0x80,
    ucr2 = 0x84,
    ufcr = 0x90,
    usr1 = 0x94,
    usr2 = 0x98,
    ubir = 0xA4,
    ubmr = 0xA8,
    uts = 0xB4,
};

struct Model {
    std::map<uint64_t, uint32_t> values; // of the registers that only store
    std::deque<uint8_t> received;
    std::string sent;
    uint32_t filled = 0;
    int in_reset = 0; // reads of UCR2 until the reset that was asked for has ended
    uint64_t last_write = 0;
    bool speed_in_order = false; // UBMR was written right after UBIR
} model;

uint32_t status1()
{
    const uint32_t room = model.filled < (model.values[ufcr] >> 10) ? 1u << 13 : 0;
    const uint32_t ready = model.received.size() >= (model.values[ufcr] & 0x3F) ? 1u << 9 : 0;

    return room | ready;
}

bool read(uint64_t offset, unsigned, uint64_t *value)
{
    switch (offset) {
    case urxd:
        *value = model.received.empty() ? 0 : 0x8000u | model.received.front();
        if (!model.received.empty()) {
            model.received.pop_front();
        }
        return true;
    case ucr2:
        *value = model.values[ucr2] | (model.in_reset == 0 ? 1u : 0u);
        model.in_reset -= model.in_reset == 0 ? 0 : 1;
        return true;
    case usr1:
        *value = status1();
        return true;
    case usr2:
        *value = (model.filled == 0 ? 1u << 3 : 0) | (model.received.empty() ? 0 : 1u);
        return true;
    case uts:
        *value = model.filled == fifo_bytes ? 1u << 4 : 0;
        return true;
    default:
        *value = model.values[offset];
        return true;
    }
}

bool write(uint64_t offset, unsigned, uint64_t value)
{
    if (offset == ubmr) {
        model.speed_in_order = model.last_write == ubir;
    }
    model.last_write = offset;
    if (offset == utxd) {
        EXPECT_LT(model.filled, fifo_bytes) << "the driver did not look for room";
        EXPECT_EQ(model.values[ucr1] & 1, 1u);
        EXPECT_EQ(model.values[ucr2] & 4, 4u);
        model.sent.push_back(static_cast<char>(value));
        model.filled++;
        return true;
    }
    if (model.in_reset != 0) {
        return true; // lost
    }
    model.values[offset] = static_cast<uint32_t>(value);
    if (offset == ucr2 && (value & 1) == 0) {
        model.in_reset = 3;
    }
    return true;
}

bool interrupts()
{
    return (status1() & model.values[ucr1] & (1u << 13 | 1u << 9)) != 0;
}

class ImxUart : public testing::Test {
protected:
    ImxUart()
    {
        fake_reset();
        model = {};
        fake_map(base, 0x1000, read, write);
    }

    static void start()
    {
        manifest_platform platform{};

        platform.uart_pa = base;
        platform.uart_clock_hz = clock_hz;
        uart_init(&platform);
    }

    static void fill()
    {
        while (uart_tx_ready()) {
            uart_write('x');
        }
    }
};

TEST_F(ImxUart, SetsTheLineSpeedAfterReset)
{
    start();
    // The divider of the reference clock is 1; the sampling clock is the reference * (UBIR + 1) / (UBMR + 1).
    EXPECT_EQ(model.values[ufcr] >> 7 & 7, 5u);
    EXPECT_TRUE(model.speed_in_order);
    const double speed = 1.0 * clock_hz * (model.values[ubir] + 1) / (model.values[ubmr] + 1) / 16;
    EXPECT_NEAR(speed, 115200, 115200 * 0.01);
    EXPECT_EQ(model.values[ucr2] & 0x27, 0x27u) << "eight bits, receiver and transmitter on, not in reset";
    EXPECT_EQ(model.values[ucr2] & 0x140, 0u) << "no parity, one stop bit";
    EXPECT_FALSE(interrupts());
}

TEST_F(ImxUart, KeepsTheLineSpeedOfALoader)
{
    model.values[ucr1] = 1u | 1u << 9 | 1u << 3; // with an interrupt and DMA
    model.values[ucr2] = 0x4027;
    model.values[ufcr] = 4u << 7 | 1u << 6 | 10u << 10 | 20u;
    model.values[ubir] = 0xF;
    model.values[ubmr] = 0x68;
    start();
    EXPECT_EQ(model.values[ubir], 0xFu);
    EXPECT_EQ(model.values[ubmr], 0x68u);
    EXPECT_EQ(model.values[ufcr] & 0x3C0, 4u << 7 | 1u << 6) << "divider of the clock, and DTE";
    EXPECT_EQ(model.values[ucr1], 1u) << "no interrupt, no DMA";
}

TEST_F(ImxUart, TakesAFifoFullAndAsksForMoreWhenItIsNearlyEmpty)
{
    start();
    fill();
    EXPECT_EQ(model.sent.size(), fifo_bytes);
    EXPECT_TRUE(uart_tx_busy());
    uart_enable_tx_irq(true);
    EXPECT_FALSE(interrupts());
    model.filled = 1;
    EXPECT_TRUE(interrupts()) << "else nobody asks for the rest of the output";
    uart_enable_tx_irq(false);
    EXPECT_FALSE(interrupts());
    model.filled = 0;
    EXPECT_FALSE(uart_tx_busy());
}

TEST_F(ImxUart, InterruptsUntilAllThatWasReceivedIsRead)
{
    start();
    uart_enable_rx_irq(true);
    EXPECT_FALSE(interrupts());
    EXPECT_EQ(uart_read(), -1);
    model.received = {'a', 0xFF};
    EXPECT_TRUE(interrupts());
    EXPECT_EQ(uart_read(), 'a');
    uart_clear_irq();
    EXPECT_TRUE(interrupts()) << "there is one more";
    EXPECT_EQ(uart_read(), 0xFF);
    EXPECT_FALSE(interrupts());
    EXPECT_EQ(uart_read(), -1);
    model.received = {'c'};
    uart_enable_rx_irq(false);
    EXPECT_FALSE(interrupts());
}

TEST_F(ImxUart, EachInterruptIsSwitchedAlone)
{
    start();
    uart_enable_rx_irq(true);
    uart_enable_tx_irq(true);
    uart_enable_tx_irq(false);
    model.received = {'a'};
    EXPECT_TRUE(interrupts());
}

} // namespace
} // namespace imx_uart_test
