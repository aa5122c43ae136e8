// SPDX-License-Identifier: Apache-2.0
// Many sets of the same number of flows, tested one after the other without Python in between.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/flow.h"
#include "core/flow_test.h"

namespace bulkhead::flows {

// Flows of all sets, one set after the other.
struct batch {
    std::size_t flows_per_set;
    std::span<const std::uint64_t> packet_bytes;
    std::span<const std::uint64_t> period_ns;
    std::span<const std::uint64_t> deadline_ns;
    std::span<const std::uint64_t> sender;
};

struct batch_results {
    std::vector<std::uint8_t> schedulable;
    std::vector<std::uint8_t> refused; // by the transformation: a deadline below the fixed parts, ...
    std::vector<std::uint8_t> undecided;
    std::vector<std::uint64_t> points;      // points of the tests
    std::vector<std::uint64_t> analysis_ns; // transformation and test, of processor time
};

// Throws std::invalid_argument if spans differ in length, or for arguments that are invalid for every set
// (too many flows, chunk, costs, bandwidth).
batch_results test_batch(const batch &sets, const flow_costs &costs, std::uint32_t senders,
                         std::uint64_t chunk_bytes, std::uint64_t bytes_per_s);

} // namespace bulkhead::flows
