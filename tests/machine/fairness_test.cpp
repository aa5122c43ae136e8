// SPDX-License-Identifier: Apache-2.0
// Cores that want the same, at the same time, without end: a master's writes under way, or the lines that a
// shared level may ask for. Each gets its turn: who was refused is before who comes later. Without that the
// core with the lowest number is served each time, and the last one never.
#include <gtest/gtest.h>

#include "tests/machine/machine_make.h"

namespace bulkhead::machine::test {
namespace {

constexpr std::uint64_t lines = 20'000; // of each core: none of them fits in a cache
constexpr std::uint64_t line_bytes = 64;
constexpr picoseconds some_time{300'000'000};

// How many lines each core has done when `some_time` is over; the slowest has nearly as many as the fastest.
void expect_fair(const settings &wanted, access_kind kind, std::size_t cores)
{
    const auto machine = make_machine(wanted);
    std::vector<std::uint64_t> done(cores);
    for (std::uint32_t n = 0; n < cores; ++n) {
        machine->core_at({n}).start([&done, n, kind](core &own) {
            for (std::uint64_t i = 0; i < lines; ++i, ++done[n]) {
                for (std::uint64_t word = 0; word < line_bytes; word += 8) {
                    own.access(phys_addr{(n * lines + i) * line_bytes + word}, 8, kind);
                }
            }
        });
    }
    machine->timeline().run(some_time);
    const auto [least, most] = std::minmax_element(done.begin(), done.end());
    EXPECT_LT(*most, lines) << "none should be done yet";
    EXPECT_GT(machine->memory().counts().refused, 300) << "nobody waits for room";
    EXPECT_GT(*least * 10, *most * 9) << testing::PrintToString(done);
    machine->timeline().run(for_ever);
    EXPECT_EQ(done, std::vector<std::uint64_t>(cores, lines));
}

settings writers(std::size_t cores)
{
    settings all = small_machine(cores);
    all.writes_in_flight = 4;
    for (core_settings &one : all.cores) {
        one.write_streaming = {.lines = 3, .shared_lines = 6};
    }
    return all;
}

TEST(fairness, cores_that_write_past_caches_get_equal_parts)
{
    expect_fair(writers(2), access_kind::write, 2);
    expect_fair(writers(4), access_kind::write, 4);
}

TEST(fairness, cores_that_wait_for_a_level_get_equal_parts)
{
    settings all = small_machine(4);
    all.levels[0].misses = 2;
    expect_fair(all, access_kind::read, 4);
}

} // namespace
} // namespace bulkhead::machine::test
