// SPDX-License-Identifier: Apache-2.0
//
// A PL011 in the simplest form that its driver cannot tell from the real one.
#include "test_uart.h"

#include <cassert>
#include <deque>
#include <utility>

extern "C" {
#include "arch/hosted/fake_gic.h"
}

namespace bulkhead_test {

namespace {

constexpr uint32_t kDataRegister = 0x00;
constexpr uint32_t kFlagRegister = 0x18;
constexpr uint32_t kMaskRegister = 0x38;
constexpr uint32_t kClearRegister = 0x44;
constexpr uint32_t kReceive = 0x50;
constexpr uint32_t kTransmit = 0x20;

struct Uart {
    uint32_t intid = 0;
    std::string written;
    std::deque<uint8_t> typed;
    int room = -1;
    bool transmit_interrupt = false;
    bool receive_interrupt = false; // a character that arrives in an empty FIFO raises it
    uint32_t mask = 0;
    std::function<void()> on_write;

    void update_line() const
    {
        uint32_t raw = (receive_interrupt ? kReceive : 0) | (transmit_interrupt ? kTransmit : 0);

        fake_gic_set_line(intid, (raw & mask) != 0);
    }
};

Uart uart;

bool read_register(uint64_t offset, unsigned, uint64_t *value)
{
    switch (offset) {
    case kDataRegister:
        *value = 0;
        if (!uart.typed.empty()) {
            *value = uart.typed.front();
            uart.typed.pop_front();
        }
        uart.receive_interrupt = uart.receive_interrupt && !uart.typed.empty();
        uart.update_line();
        return true;
    case kFlagRegister:
        *value = (uart.typed.empty() ? 0x10 : 0) | (uart.room == 0 ? 0x20 : 0);
        return true;
    default:
        return false;
    }
}

bool write_register(uint64_t offset, unsigned, uint64_t value)
{
    switch (offset) {
    case kDataRegister:
        assert(uart.room != 0);
        uart.room -= uart.room > 0;
        uart.written.push_back(static_cast<char>(value));
        uart.transmit_interrupt = uart.room != 0;
        if (uart.on_write) {
            uart.on_write();
        }
        break;
    case kMaskRegister:
        uart.mask = static_cast<uint32_t>(value);
        break;
    case kClearRegister:
        uart.transmit_interrupt = uart.transmit_interrupt && (value & kTransmit) == 0;
        uart.receive_interrupt = uart.receive_interrupt && (value & kReceive) == 0;
        break;
    default:
        return false;
    }
    uart.update_line();
    return true;
}

} // namespace

void make_uart(uint64_t pa, uint32_t intid)
{
    uart = {};
    uart.intid = intid;
    fake_map(pa, 0x1000, read_register, write_register);
}

std::string &uart_text()
{
    return uart.written;
}

void uart_receives(uint8_t character)
{
    uart.receive_interrupt = uart.receive_interrupt || uart.typed.empty();
    uart.typed.push_back(character);
    uart.update_line();
}

void uart_on_write(std::function<void()> act)
{
    uart.on_write = std::move(act);
}

void uart_has_room(int characters)
{
    uart.room = characters;
    uart.transmit_interrupt = characters != 0;
    uart.update_line();
}

} // namespace bulkhead_test
