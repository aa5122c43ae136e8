// SPDX-License-Identifier: Apache-2.0
//
// The board's PL011 beneath the tests. The linked file selects the model: fake_uart.cpp, a minimal one for
// tests, or machine_uart.cpp, the simulated machine's. One at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace bulkhead_test {

// A new one, mapped at `pa`, its interrupt at the fake interrupt controller's `intid`. Called after
// fake_reset().
void make_uart(uint64_t pa, uint32_t intid);

// Its output. May be cleared.
std::string &uart_text();
// A character arrives.
void uart_receives(uint8_t character);
// Characters that the transmit FIFO accepts before it is full; negative: no limit.
void uart_has_room(int characters);
// Called after each character that the driver has written, until the next make_uart().
void uart_on_write(std::function<void()> act);

} // namespace bulkhead_test
