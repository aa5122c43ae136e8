// SPDX-License-Identifier: Apache-2.0
// What Arm's MPAM writes on each memory request: whose share of caches and bandwidth it uses (PARTID), and
// which of the share's monitors count it (PMG). Everything on a request's way knows this header.
#pragma once

#include <cstdint>

namespace bulkhead::machine {

// Two halves of one word: each line and each request has one, which is copied as a whole.
struct mpam_label {
    std::uint32_t partition : 16 = 0;
    std::uint32_t monitor_group : 16 = 0;
    constexpr bool operator==(const mpam_label &) const = default;
};

} // namespace bulkhead::machine
