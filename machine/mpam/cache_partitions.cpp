// SPDX-License-Identifier: Apache-2.0
// Chooses the ways that a partition may fill; see the header.
#include "machine/mpam/cache_partitions.h"

#include <array>
#include <bit>
#include <utility>

#include "core/mpam_registers.h"

namespace bulkhead::machine::mpam {

cache_partitions::cache_partitions(const resource_settings &of, const cache_geometry &shape,
                                   const partition_map &map, const std::vector<partition_controls> &controls)
    : of_(of), shape_(shape), map_(map), controls_(controls),
      lines_(std::size_t{map.partids()} * map.groups()), used_(map.internal_count())
{
}

void cache_partitions::count(mpam_label label, std::int64_t lines)
{
    const auto change = static_cast<std::uint64_t>(lines);
    lines_[place_of(label)] += change;
    used_[map_.internal_of(map_.known(label).partition)] += change;
}

void cache_partitions::replaced(std::optional<mpam_label> gone, mpam_label added)
{
    if (gone) {
        count(*gone, -1);
    }
    count(added, 1);
}

void cache_partitions::remap(std::uint16_t partid, std::uint16_t internal)
{
    std::uint64_t own = 0;
    for (std::uint32_t group = 0; group < map_.groups(); ++group) {
        own += lines_[std::size_t{partid} * map_.groups() + group];
    }
    used_[map_.internal_of(partid)] -= own;
    used_[internal] += own;
}

// Portions are equal parts of all sets or of all ways; more portions than ways are parts of a way.
std::uint64_t cache_partitions::portion_ways(const partition_controls &own, std::size_t set) const
{
    const std::uint32_t ways = shape_.ways();
    const std::uint64_t all = ~std::uint64_t{0} >> (64 - ways);
    if (has_all(own.cache_portions, of_.portions)) {
        return all; // as most partitions
    }
    const auto has = [&own](std::uint64_t portion) {
        return (own.cache_portions[portion / 32] >> portion % 32 & 1U) != 0;
    };
    if (of_.portions_are == portion_kind::sets) {
        return has(std::uint64_t{set} * of_.portions / shape_.sets()) ? all : 0;
    }
    const std::uint32_t in_a_way = std::max(1U, of_.portions / ways);
    const std::uint64_t part = std::uint64_t{set} * in_a_way / shape_.sets();
    std::uint64_t open = 0;
    for (std::uint32_t way = 0; way < ways; ++way) {
        const std::uint64_t portion =
            of_.portions <= ways ? std::uint64_t{way} * of_.portions / ways : way * in_a_way + part;
        open |= has(portion) ? std::uint64_t{1} << way : 0;
    }
    return open;
}

bool cache_partitions::at_maximum(std::uint16_t internal) const
{
    return of_.capacity && of_.capacity->maximum &&
           used_[internal] >= maximum_of(controls_[internal].capacity_max, of_.capacity->bits, lines());
}

std::uint32_t cache_partitions::most_ways(const partition_controls &own) const
{
    return of_.associativity ? static_cast<std::uint32_t>(
                                   maximum_of(own.associativity, of_.associativity->bits, shape_.ways()))
                             : shape_.ways();
}

cache_partitions::allocation_priority cache_partitions::priority_of(std::uint16_t partition) const
{
    const std::uint16_t internal = map_.internal_of(partition);
    const partition_controls &own = controls_[internal];
    if (!map_.enabled(partition)) {
        return disabled;
    }
    if (!of_.capacity) {
        return between;
    }
    if (of_.capacity->maximum &&
        used_[internal] > maximum_of(own.capacity_max, of_.capacity->bits, lines())) {
        return above_maximum;
    }
    return of_.capacity->minimum &&
                   used_[internal] < minimum_of(own.capacity_min, of_.capacity->bits, lines())
               ? below_minimum
               : between;
}

std::uint64_t cache_partitions::open_ways(mpam_label wanted, std::size_t set,
                                          std::span<const mpam_label> held, std::uint64_t empty)
{
    const std::uint16_t partition = map_.checked(wanted).partition;
    if (!map_.enabled(partition)) {
        return 0; // as if it had no portion and no capacity
    }
    const std::uint16_t internal = map_.internal_of(partition);
    const partition_controls &own = controls_[internal];
    std::uint64_t open = of_.portions != 0 ? portion_ways(own, set) : ~std::uint64_t{0} >> (64 - held.size());

    std::uint64_t own_ways = 0;
    std::uint64_t of_disabled = 0;
    std::uint64_t of_higher = 0;
    const allocation_priority priority = priority_of(partition);
    // Whether a partition is higher, of the first `count` of those that hold a way.
    std::array<std::pair<std::uint16_t, bool>, 4> known;
    std::size_t count = 0;
    const auto is_higher = [&](std::uint16_t other) {
        for (std::size_t i = 0; i < count; ++i) {
            if (known[i].first == other) {
                return known[i].second;
            }
        }
        const bool higher = priority_of(other) > priority;
        if (count < known.size()) {
            known[count++] = {other, higher};
        }
        return higher;
    };
    for (std::size_t way = 0; way < held.size(); ++way) {
        const std::uint64_t bit = std::uint64_t{1} << way;
        if ((empty & bit) != 0) {
            continue;
        }
        const std::uint16_t other = map_.known(held[way]).partition;
        own_ways |= map_.internal_of(other) == internal ? bit : 0;
        of_disabled |= map_.enabled(other) ? 0 : bit;
        of_higher |= other != partition && is_higher(other) ? bit : 0;
    }
    if (at_maximum(internal)) {
        const bool soft = of_.capacity->soft && (own.capacity_max & MPAMCFG_CMAX_SOFTLIM) != 0;
        open &= soft ? empty | of_disabled | own_ways : own_ways;
    }
    if (static_cast<std::uint32_t>(std::popcount(own_ways)) >= most_ways(own)) {
        open &= own_ways;
    }
    open &= ~of_higher;
    const bool prefers_disabled = (open & empty) == 0 && (open & of_disabled) != 0;
    return prefers_disabled ? open & of_disabled : open;
}

} // namespace bulkhead::machine::mpam
