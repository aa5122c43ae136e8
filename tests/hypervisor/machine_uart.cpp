// SPDX-License-Identifier: Apache-2.0
//
// The simulated machine's PL011 beneath the tests.
#include "test_uart.h"

#include <memory>
#include <optional>
#include <utility>

#include "machine/devices/pl011.h"

extern "C" {
#include "arch/hosted/fake_gic.h"
}

namespace bulkhead_test {

namespace {

std::unique_ptr<bulkhead::machine::devices::pl011> uart;
std::string written;
std::function<void()> wrote;

bool read_register(uint64_t offset, unsigned, uint64_t *value)
{
    *value = uart->read(offset);
    return true;
}

bool write_register(uint64_t offset, unsigned, uint64_t value)
{
    uart->write(offset, value);
    return true;
}

} // namespace

void make_uart(uint64_t pa, uint32_t intid)
{
    written.clear();
    wrote = nullptr;
    uart = std::make_unique<bulkhead::machine::devices::pl011>(
        [](uint8_t byte) {
            written.push_back(static_cast<char>(byte));
            if (wrote) {
                wrote();
            }
        },
        [intid](bool high) { fake_gic_set_line(intid, high); });
    fake_map(pa, 0x1000, read_register, write_register);
}

std::string &uart_text()
{
    return written;
}

void uart_receives(uint8_t character)
{
    uart->receive(character);
}

void uart_on_write(std::function<void()> act)
{
    wrote = std::move(act);
}

void uart_has_room(int characters)
{
    uart->set_room(characters < 0 ? std::nullopt : std::optional(static_cast<uint32_t>(characters)));
}

} // namespace bulkhead_test
