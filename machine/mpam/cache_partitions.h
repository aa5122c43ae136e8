// SPDX-License-Identifier: Apache-2.0
// How MPAM divides a cache: the ways that a partition may fill, by its portions (CPBM), its maximum and
// minimum capacity (CMAX, CMIN) and its associativity (CASSOC), in the order of IHI 0099, RDPZKC and table
// 5-1; and the number of lines of each partition and monitoring group. Hits do not depend on any of this.
#pragma once

#include <span>
#include <vector>

#include "machine/cache_geometry.h"
#include "machine/mpam/allocation.h"
#include "machine/mpam/controls.h"
#include "machine/mpam/partition_map.h"

namespace bulkhead::machine::mpam {

class cache_partitions final : public partitioned_allocation {
public:
    // `map` and `controls` (by internal PARTID) belong to the component and must outlive this object.
    cache_partitions(const resource_settings &of, const cache_geometry &shape, const partition_map &map,
                     const std::vector<partition_controls> &controls);

    [[nodiscard]] std::uint64_t open_ways(mpam_label wanted, std::size_t set,
                                          std::span<const mpam_label> held, std::uint64_t empty) override;
    void replaced(std::optional<mpam_label> gone, mpam_label added) override;
    void left(mpam_label gone) override { count(gone, -1); }

    // `partid` gets internal PARTID `internal`: moves its lines in the counts. Called before the map changes.
    void remap(std::uint16_t partid, std::uint16_t internal);

    // Lines in the cache: of one label, of an internal PARTID.
    [[nodiscard]] std::uint64_t lines_of(mpam_label label) const { return lines_[place_of(label)]; }
    [[nodiscard]] std::uint64_t lines_of_internal(std::uint16_t internal) const { return used_[internal]; }
    [[nodiscard]] std::uint64_t line_bytes() const { return shape_.line().value; }

private:
    // Allocation priority (table 5-1): a partition never replaces a line of one with a higher priority.
    enum allocation_priority : std::uint8_t { disabled = 1, above_maximum, between, below_minimum };

    [[nodiscard]] std::uint64_t lines() const { return std::uint64_t{shape_.sets()} * shape_.ways(); }
    [[nodiscard]] std::size_t place_of(mpam_label label) const
    {
        const mpam_label used = map_.known(label);
        return std::size_t{used.partition} * map_.groups() + used.monitor_group;
    }
    void count(mpam_label label, std::int64_t lines);
    [[nodiscard]] std::uint64_t portion_ways(const partition_controls &own, std::size_t set) const;
    [[nodiscard]] bool at_maximum(std::uint16_t internal) const;
    [[nodiscard]] std::uint32_t most_ways(const partition_controls &own) const;
    [[nodiscard]] allocation_priority priority_of(std::uint16_t partition) const;

    resource_settings of_;
    cache_geometry shape_;
    const partition_map &map_;
    const std::vector<partition_controls> &controls_;
    std::vector<std::uint64_t> lines_; // by PARTID and group
    std::vector<std::uint64_t> used_;  // by internal PARTID
};

} // namespace bulkhead::machine::mpam
