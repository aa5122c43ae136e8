// SPDX-License-Identifier: Apache-2.0
//
// The Cadence UART beneath its driver's tests. The linked file selects the model: fake_cadence.cpp, a minimal
// one for tests, or machine_cadence.cpp, the simulated machine's. One at a time.
#pragma once

#include <cstdint>

namespace bulkhead_test {

constexpr uint32_t kCadenceFifoBytes = 64;

// A new one, mapped at `pa`. Called after fake_reset(). Its line is held: written characters stay in the
// FIFO.
void make_cadence(uint64_t pa);

// The line sends the characters in the FIFO.
void cadence_sends_all();
// A character arrives.
void cadence_receives(uint8_t character);
// Whether its interrupt is raised.
bool cadence_interrupts();

} // namespace bulkhead_test
