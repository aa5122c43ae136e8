// SPDX-License-Identifier: Apache-2.0
// How a memory controller is programmed: its queues, which of reads and writes has its turn, how long others
// may overtake, and what becomes of an open row. Plain values; turn_policy.h makes of them what decides.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "machine/dram/arbitration.h"
#include "machine/dram/transaction_stores.h"

namespace bulkhead::machine::dram {

enum class page_policy : std::uint8_t {
    open,  // a row stays open until another one of its bank is wanted
    closed // a row is closed after an access when no queued request wants it
};

struct policy {
    std::uint32_t read_queue = 32;
    std::uint32_t write_queue = 32;
    std::uint32_t write_high = 24; // writes are drained from here ...
    std::uint32_t write_low = 8;   // ... to here, while reads wait
    std::uint32_t cap = 16;        // row hits of a bank that may overtake an older request of it
    // Clocks. The oldest request of those that have their turn goes before all others of any bank once it is
    // as old as this.
    std::uint32_t age_limit = 1024;
    page_policy page = page_policy::open;
    // Instead of watermarks: reads and writes take turns as transaction stores that become critical.
    std::optional<store_settings> stores = std::nullopt;
    // Instead of watermarks, cap and age limit: reads and writes compete by score.
    std::optional<dram::arbitration> arbitration = std::nullopt;

    // Why the values contradict each other, or nothing.
    [[nodiscard]] std::string contradiction() const;
};

} // namespace bulkhead::machine::dram
