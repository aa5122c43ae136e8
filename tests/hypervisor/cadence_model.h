// SPDX-License-Identifier: Apache-2.0
//
// The Cadence UART beneath its driver's tests. Which file is linked in decides what it is: fake_cadence.cpp,
// a minimal one of the tests' own, or machine_cadence.cpp, the simulated machine's. One at a time.
#pragma once

#include <cstdint>

namespace bulkhead_test {

constexpr uint32_t kCadenceFifoBytes = 64;

// A new one, mapped at `pa`. After fake_reset(). Its line is held: what is written stays in the FIFO.
void make_cadence(uint64_t pa);

// The line takes what is in the FIFO.
void cadence_sends_all();
// A character arrives.
void cadence_receives(uint8_t character);
// Whether it interrupts.
bool cadence_interrupts();

} // namespace bulkhead_test
