// SPDX-License-Identifier: Apache-2.0
// Interface between a cache and MPAM: which ways of a set a partition may fill, and reports of fills and
// evictions. A partitioned cache (machine/cache.h) asks at each fill; machine/mpam/cache_partitions.h
// implements the interface.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "machine/mpam/label.h"

namespace bulkhead::machine {

class partitioned_allocation {
public:
    partitioned_allocation() = default;
    partitioned_allocation(const partitioned_allocation &) = delete;
    partitioned_allocation &operator=(const partitioned_allocation &) = delete;
    virtual ~partitioned_allocation() = default;

    // The ways (bit w: way w) that a line of `wanted` may fill in a set; 0: the line is not allocated.
    // `held`: the label of each way's line; `empty`: ways without a line.
    [[nodiscard]] virtual std::uint64_t open_ways(mpam_label wanted, std::size_t set,
                                                  std::span<const mpam_label> held, std::uint64_t empty) = 0;
    // A line of `added` was filled, and replaced a line of `gone`, if any.
    virtual void replaced(std::optional<mpam_label> gone, mpam_label added) = 0;
    // A line of `gone` left the cache.
    virtual void left(mpam_label gone) = 0;
};

} // namespace bulkhead::machine
