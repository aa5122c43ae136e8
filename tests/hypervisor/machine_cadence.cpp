// SPDX-License-Identifier: Apache-2.0
//
// The simulated machine's Cadence UART beneath its driver's tests.
#include "cadence_model.h"

#include <memory>

#include "machine/devices/cadence_uart.h"

extern "C" {
#include "arch/hosted/fake_registers.h"
}

namespace bulkhead_test {

namespace {

std::unique_ptr<bulkhead::machine::devices::cadence_uart> uart;
bool line;

bool read(uint64_t offset, unsigned, uint64_t *value)
{
    *value = uart->read(offset);
    return true;
}

bool write(uint64_t offset, unsigned, uint64_t value)
{
    uart->write(offset, value);
    return true;
}

} // namespace

void make_cadence(uint64_t pa)
{
    line = false;
    uart = std::make_unique<bulkhead::machine::devices::cadence_uart>([](uint8_t) {},
                                                                      [](bool high) { line = high; });
    fake_map(pa, 0x1000, read, write);
    uart->set_room(kCadenceFifoBytes);
}

void cadence_sends_all()
{
    uart->set_room(kCadenceFifoBytes);
}

void cadence_receives(uint8_t character)
{
    uart->receive(character);
}

bool cadence_interrupts()
{
    return line;
}

} // namespace bulkhead_test
