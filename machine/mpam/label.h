// SPDX-License-Identifier: Apache-2.0
// The MPAM label of a memory request: the partition whose settings apply (PARTID) and the monitoring group
// (PMG). Every model on a request's way from core to DRAM includes this header.
#pragma once

#include <cstdint>

namespace bulkhead::machine {

// Two halves of one word, copied as a whole: each line and each request has a label.
struct mpam_label {
    std::uint32_t partition : 16 = 0;
    std::uint32_t monitor_group : 16 = 0;
    constexpr bool operator==(const mpam_label &) const = default;
};

} // namespace bulkhead::machine
