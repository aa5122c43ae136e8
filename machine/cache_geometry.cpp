// SPDX-License-Identifier: Apache-2.0
// The check of a cache's geometry; see the header. Called once per cache, before a run.
#include "machine/cache_geometry.h"

#include <bit>

namespace bulkhead::machine {

namespace {

constexpr std::uint64_t max_ways = 64;
constexpr std::uint64_t max_sets = std::uint64_t{1} << 24U;
constexpr std::uint64_t max_line_bytes = 4096;

std::string bytes(byte_count count)
{
    return std::to_string(count.value) + " B";
}

} // namespace

result<cache_geometry> cache_geometry::make(byte_count size, std::uint32_t ways, byte_count line)
{
    if (!std::has_single_bit(line.value) || line.value < 4 || line.value > max_line_bytes) {
        return refusal{"a cache line of " + bytes(line) + ": a power of two from 4 B to 4096 B is needed"};
    }
    if (ways == 0 || ways > max_ways) {
        return refusal{std::to_string(ways) + " ways: 1 to 64 are possible"};
    }
    const std::uint64_t way_set_bytes = ways * line.value;
    if (size.value == 0 || size.value % way_set_bytes != 0) {
        return refusal{"a size of " + bytes(size) + " is no multiple of " + std::to_string(ways) +
                       " ways of lines of " + bytes(line)};
    }
    const std::uint64_t sets = size.value / way_set_bytes;
    if (!std::has_single_bit(sets) || sets > max_sets) {
        return refusal{bytes(size) + " in " + std::to_string(ways) + " ways of " + bytes(line) + " make " +
                       std::to_string(sets) + " sets: a power of two up to 2^24 is needed"};
    }
    return cache_geometry{static_cast<std::uint32_t>(sets), ways,
                          static_cast<std::uint32_t>(std::countr_zero(line.value))};
}

} // namespace bulkhead::machine
