// SPDX-License-Identifier: Apache-2.0
//
// A DMA channel and its regulator beneath their driver's tests. The linked file selects the model:
// fake_zdma.cpp, minimal ones for tests, or machine_zdma.cpp, the simulated machine's. One at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

namespace bulkhead_test {

// The bytes of a physical range; empty: there is no memory.
using ZdmaMemory = std::function<std::span<char>(uint64_t pa, uint64_t bytes)>;

// New ones, mapped at these addresses. Called after fake_reset(). The channel's interrupts are in the state
// that a loader must not leave: one is pending, all are unmasked.
void make_zdma(uint64_t channel_pa, uint64_t regulator_pa, ZdmaMemory memory);

// Completes the transfer that was started, if there is one.
void zdma_runs();
// Whether one was started and has not ended.
bool zdma_is_busy();
bool zdma_interrupts();

// The regulator's limits, in transactions per 4096 clocks; 0: no limit, or one that allows bursts.
uint32_t zdma_read_rate();
uint32_t zdma_write_rate();

} // namespace bulkhead_test
