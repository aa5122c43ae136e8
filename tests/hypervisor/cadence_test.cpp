// SPDX-License-Identifier: Apache-2.0
//
// The driver of the Cadence UART on a model of its transmit FIFO: what the console relies on when a full FIFO
// makes it wait for the interrupt.
#include <gtest/gtest.h>

extern "C" {
#include "arch/hosted/fake_registers.h"
#include "platform/common/uart.h"
#include <bulkhead_layout.h>
}

namespace {

constexpr uint64_t base = 0xFF000000;
constexpr uint32_t tx_empty = 1u << 3;
constexpr uint32_t fifo_bytes = 64;

struct Fifo {
    uint32_t filled;
    uint32_t status; // interrupt status: latched, cleared by ones
    uint32_t mask;
} fifo;

bool read(uint64_t offset, unsigned, uint64_t *value)
{
    switch (offset) {
    case 0x14:
        *value = fifo.status;
        return true;
    case 0x2C:
        *value = 1u << 1 | (fifo.filled == 0 ? 1u << 3 : 0) | (fifo.filled == fifo_bytes ? 1u << 4 : 0);
        return true;
    default:
        return false;
    }
}

bool write(uint64_t offset, unsigned, uint64_t value)
{
    switch (offset) {
    case 0x08:
        fifo.mask |= static_cast<uint32_t>(value);
        return true;
    case 0x0C:
        fifo.mask &= ~static_cast<uint32_t>(value);
        return true;
    case 0x14:
        fifo.status &= ~static_cast<uint32_t>(value);
        return true;
    case 0x30:
        fifo.filled++;
        return true;
    default:
        return false;
    }
}

void send_all()
{
    fifo.filled = 0;
    fifo.status |= tx_empty;
}

class Cadence : public testing::Test {
protected:
    Cadence()
    {
        manifest_platform platform{};

        fifo = {};
        fake_reset();
        fake_map(base, 0x1000, read, write);
        platform.uart_pa = base;
        platform.uart_clock_hz = 100000000;
        uart_init(&platform);
    }
};

} // namespace

TEST_F(Cadence, TakesAFifoFull)
{
    uint32_t taken = 0;

    for (; uart_tx_ready(); taken++) {
        uart_write('x');
    }
    EXPECT_EQ(taken, fifo_bytes);
    EXPECT_TRUE(uart_tx_busy());
}

TEST_F(Cadence, AFifoThatIsEmptyAgainBeforeItsInterruptIsOnStillRaisesIt)
{
    send_all(); // of earlier: latched
    while (uart_tx_ready()) {
        uart_write('x');
    }
    EXPECT_EQ(fifo.status & tx_empty, 0u) << "not of what was written now";
    send_all();
    uart_enable_tx_irq(true);
    EXPECT_EQ(fifo.status & fifo.mask & tx_empty, tx_empty) << "else nobody asks for the rest of the output";
}
