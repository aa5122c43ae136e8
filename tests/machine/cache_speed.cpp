// SPDX-License-Identifier: Apache-2.0
// Measures the cache models alone on one host thread: L1 hits, LLC hits and misses a second. A program to be
// run by hand, not a test; its results describe its own speed only.
#include <chrono>
#include <cstdio>
#include <vector>

#include "machine/hierarchy.h"
#include "machine/random.h"

namespace {

using namespace bulkhead::machine;

cache make(std::uint64_t kib, std::uint32_t ways)
{
    const auto shape =
        std::get<cache_geometry>(cache_geometry::make(byte_count{kib * 1024}, ways, byte_count{64}));
    return std::get<cache>(cache::make(shape, replacement::lru, 4, 1));
}

// Reads lines of `kib` KiB, in order or at random, and prints how many a second.
void measure(const char *what, std::uint64_t kib, bool in_order)
{
    constexpr std::uint64_t accesses = 20'000'000;
    constexpr std::uint64_t pattern_length = 1U << 18U; // computed beforehand, so that it costs nothing here
    l1_pair core(make(32, 4), make(32, 4));
    cache llc = make(1024, 16);
    random_source random(1);
    const auto lines = static_cast<std::uint32_t>(kib * 1024 / 64);
    std::vector<phys_addr> pattern;
    for (std::uint64_t number = 0; number < pattern_length; ++number) {
        pattern.push_back(phys_addr{(in_order ? number % lines : random.below(lines)) * 64});
    }
    const auto begin = std::chrono::steady_clock::now();
    for (std::uint64_t number = 0; number < accesses; ++number) {
        core.access(
            l1_side::data, pattern[number % pattern_length], access_kind::read,
            [](phys_addr) { return std::optional(owner_id{2}); },
            [&](const l1_miss &miss) { serve(llc, miss); });
    }
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    std::printf("%-24s %7.1f M accesses/s, %.3f of them L1 misses\n", what,
                static_cast<double>(accesses) / seconds.count() / 1e6,
                static_cast<double>(core.side(l1_side::data).statistics().of(owner_id{2}).misses.get()) /
                    accesses);
}

} // namespace

int main()
{
    measure("L1 hits, in order", 16, true);
    measure("L1 hits, random", 16, false);
    measure("LLC hits, in order", 512, true);
    measure("LLC hits, random", 512, false);
    measure("misses, in order", 8192, true);
    measure("misses, random", 8192, false);
    return 0;
}
