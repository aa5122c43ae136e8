// SPDX-License-Identifier: Apache-2.0
// The settings of a memory controller: its queues, when reads and writes have their turn, how far requests
// may be overtaken, and when an open row is closed. Plain values; turn_policy.h makes the deciding object
// from them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "machine/dram/arbitration.h"
#include "machine/dram/transaction_stores.h"

namespace bulkhead::machine::dram {

enum class page_policy : std::uint8_t {
    open,  // a row stays open until another row of its bank is needed
    closed // a row is closed after an access if no queued request needs it
};

struct policy {
    std::uint32_t read_queue = 32;
    std::uint32_t write_queue = 32;
    std::uint32_t write_high = 24; // at this fill level of the write queue, writes are drained ...
    std::uint32_t write_low = 8;   // ... down to this level, while reads wait
    std::uint32_t cap = 16;        // row hits of a bank that may overtake an older request of that bank
    // In clocks. Once the oldest request of the direction that has the turn is this old, it is served before
    // all others of any bank.
    std::uint32_t age_limit = 1024;
    page_policy page = page_policy::open;
    // Replaces the watermarks: reads and writes take turns as transaction stores that become critical.
    std::optional<store_settings> stores = std::nullopt;
    // Replaces watermarks, cap and age limit: reads and writes compete by score.
    std::optional<dram::arbitration> arbitration = std::nullopt;

    // Why the values contradict each other; empty if they do not.
    [[nodiscard]] std::string contradiction() const;
};

} // namespace bulkhead::machine::dram
