// SPDX-License-Identifier: Apache-2.0
// Where MPAM takes hold of a cache: which ways of a set a partition may take, and who holds how much. A cache
// that is partitioned asks for each line that it takes in (machine/cache.h); machine/mpam/cache_partitions.h
// answers by its registers.
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

    // The ways (bit w: way w) that a line of `wanted` may take in a set, in place of what is there; none: it
    // is not allocated. `held`: the label of each way's line; `empty`: ways without one.
    [[nodiscard]] virtual std::uint64_t open_ways(mpam_label wanted, std::size_t set,
                                                  std::span<const mpam_label> held, std::uint64_t empty) = 0;
    // A line came in, and another one had to go for it, or none.
    virtual void replaced(std::optional<mpam_label> gone, mpam_label added) = 0;
    // A line left.
    virtual void left(mpam_label gone) = 0;
};

} // namespace bulkhead::machine
