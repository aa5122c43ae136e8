// SPDX-License-Identifier: Apache-2.0
//
// The driver of the Cadence UART: the behaviour that the console relies on when a full FIFO makes it wait for
// the interrupt, and when characters arrive.
#include <gtest/gtest.h>

#include "cadence_model.h"

extern "C" {
#include "arch/hosted/fake_registers.h"
#include "platform/common/uart.h"
#include <bulkhead_layout.h>
}

namespace cadence_test {
namespace {

using namespace bulkhead_test;

constexpr uint64_t base = 0xFF000000;

class Cadence : public testing::Test {
protected:
    Cadence()
    {
        manifest_platform platform{};

        fake_reset();
        make_cadence(base);
        platform.uart_pa = base;
        platform.uart_clock_hz = 100000000;
        uart_init(&platform);
    }

    static uint32_t fill()
    {
        uint32_t taken = 0;

        for (; uart_tx_ready(); taken++) {
            uart_write('x');
        }
        return taken;
    }
};

TEST_F(Cadence, TakesAFifoFull)
{
    EXPECT_EQ(fill(), kCadenceFifoBytes);
    EXPECT_TRUE(uart_tx_busy());
}

TEST_F(Cadence, AFifoThatIsEmptyAgainBeforeItsInterruptIsOnStillRaisesIt)
{
    cadence_sends_all(); // from an earlier condition: latched
    fill();
    uart_enable_tx_irq(true);
    EXPECT_FALSE(cadence_interrupts()) << "not of what was written now";
    uart_enable_tx_irq(false);
    cadence_sends_all();
    uart_enable_tx_irq(true);
    EXPECT_TRUE(cadence_interrupts()) << "else nobody asks for the rest of the output";
}

TEST_F(Cadence, InterruptsUntilAllThatWasReceivedIsRead)
{
    uart_enable_rx_irq(true);
    EXPECT_FALSE(cadence_interrupts());
    EXPECT_EQ(uart_read(), -1);
    cadence_receives('a');
    cadence_receives('b');
    EXPECT_TRUE(cadence_interrupts());
    EXPECT_EQ(uart_read(), 'a');
    EXPECT_TRUE(cadence_interrupts()) << "there is one more";
    EXPECT_EQ(uart_read(), 'b');
    EXPECT_FALSE(cadence_interrupts());
    EXPECT_EQ(uart_read(), -1);
    cadence_receives('c');
    uart_enable_rx_irq(false);
    EXPECT_FALSE(cadence_interrupts());
    EXPECT_EQ(uart_read(), 'c');
}

} // namespace
} // namespace cadence_test
