// SPDX-License-Identifier: Apache-2.0
// What Arm's MPAM writes on each memory request: whose share of caches and bandwidth it uses (PARTID), and
// which of the share's monitors count it (PMG). Everything on a request's way knows this header.
#pragma once

#include <cstdint>

namespace bulkhead::machine {

struct mpam_label {
    std::uint16_t partition = 0;
    std::uint8_t monitor_group = 0;
    constexpr bool operator==(const mpam_label &) const = default;
};

} // namespace bulkhead::machine
