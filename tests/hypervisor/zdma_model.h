// SPDX-License-Identifier: Apache-2.0
//
// A DMA channel and its regulator beneath their driver's tests. Which file is linked in decides what they
// are: fake_zdma.cpp, minimal ones of the tests' own, or machine_zdma.cpp, the simulated machine's. One at a
// time.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

namespace bulkhead_test {

// The bytes of a physical range; empty: there is no memory.
using ZdmaMemory = std::function<std::span<char>(uint64_t pa, uint64_t bytes)>;

// New ones, mapped at these addresses. After fake_reset(). A loader has left the channel's interrupts as they
// must not be: one is pending, all are unmasked.
void make_zdma(uint64_t channel_pa, uint64_t regulator_pa, ZdmaMemory memory);

// The transfer that was started goes on to its end, if there is one.
void zdma_runs();
// Whether one was started and has not ended.
bool zdma_is_busy();
bool zdma_interrupts();

// What the regulator holds both directions to, in transactions of 4096 clocks; 0: to nothing, or not alike.
uint32_t zdma_rate();

} // namespace bulkhead_test
