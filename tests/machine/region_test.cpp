// SPDX-License-Identifier: Apache-2.0
// On-chip memory that the board maps as Normal memory: caches hold its lines like those of DRAM (UG1085: the
// OCM is behind the interconnect, cacheable), it has a latency of its own, and DRAM gets none of its
// accesses.
#include <gtest/gtest.h>

#include "tests/machine/machine_make.h"

namespace bulkhead::machine::test::region_test {
namespace {

constexpr phys_addr chip{0xFFFC'0000};
constexpr std::uint64_t size = 256 * 1024;
constexpr std::uint64_t latency_ps = 20'000;

settings with_region(bool cached)
{
    settings all = small_machine(1);
    all.dram.bytes = 1U << 30U; // the on-chip address is outside of DRAM
    all.regions = {{"ocm", chip.value, size, latency_ps, cached}};
    return all;
}

// Times of single accesses, one after the other.
std::vector<std::uint64_t> times(simulated_machine &on, const std::vector<phys_addr> &where, bool past)
{
    std::vector<std::uint64_t> found;
    on.core_at({0}).start([&](core &own) {
        for (const phys_addr at : where) {
            const std::uint64_t before = own.order().value;
            if (past) {
                own.past_caches(at, 8, access_kind::read);
            } else {
                own.access(at, 8, access_kind::read);
            }
            found.push_back(own.order().value - before);
        }
    });
    on.timeline().run(for_ever);
    return found;
}

TEST(region, that_is_cached_is_asked_once_and_then_hit)
{
    const auto machine = make_machine(with_region(true));
    const auto found = times(*machine, {chip, chip, phys_addr{chip.value + 8}}, false);
    // L2's lookup, the paths in both directions, and the memory's own time.
    EXPECT_EQ(found[0], 12'000 + 10'000 + latency_ps + 10'000);
    EXPECT_LE(found[1] + found[2], 2U);
    EXPECT_EQ(machine->memory().counts().line_reads, 0U);
    EXPECT_EQ(machine->memory().counts().region_lines, 1U);
    EXPECT_TRUE(machine->memory().level(0).storage().contains(chip));
}

TEST(region, that_software_maps_past_the_caches_is_asked_each_time)
{
    const auto machine = make_machine(with_region(true));
    const auto found = times(*machine, {chip, chip}, true);
    EXPECT_EQ(found[0], 10'000 + latency_ps + 10'000);
    EXPECT_EQ(found[1], found[0]);
    EXPECT_EQ(machine->memory().counts().region_lines, 2U);
    EXPECT_FALSE(machine->core_at({0}).l1d().contains(chip));
}

TEST(region, that_is_not_cached_is_asked_each_time)
{
    const auto machine = make_machine(with_region(false));
    const auto found = times(*machine, {chip, chip}, false);
    EXPECT_EQ(found[0], latency_ps);
    EXPECT_EQ(found[1], latency_ps);
}

TEST(region, takes_its_dirty_lines_back_without_dram)
{
    settings wanted = with_region(true);
    wanted.levels[0].cache.size_bytes = 64 * 1024;
    const auto machine = make_machine(wanted);
    machine->core_at({0}).start([](core &own) {
        for (std::uint64_t at = 0; at < size; at += 64) {
            own.access(phys_addr{chip.value + at}, 8, access_kind::write);
        }
    });
    machine->timeline().run(for_ever);
    const memory_counts &counts = machine->memory().counts();
    EXPECT_GT(counts.region_lines, size / 64 + 1000);
    EXPECT_EQ(counts.line_reads + counts.line_writes, 0U);
}

TEST(region, of_parts_of_a_page_cannot_be_cached)
{
    settings wanted = with_region(true);
    wanted.regions[0].size_bytes = 1000;
    EXPECT_NE(reason_of(simulated_machine::make(wanted)).find("regions[0]"), std::string::npos);
}

// As on a Zynq-7000: L1 holds its lines, no shared level does.
TEST(region, beside_the_levels_costs_its_latency_and_leaves_no_line_there)
{
    settings all = with_region(true);
    all.regions[0].beside_levels = true;
    const auto machine = make_machine(all);
    const auto found = times(*machine, {chip, chip, phys_addr{0x1000}}, false);
    EXPECT_EQ(found[0], latency_ps);
    EXPECT_LE(found[1], 1'000U) << "in L1";
    EXPECT_GT(found[2], 12'000U + 20'000U) << "what is elsewhere goes its way";
    EXPECT_FALSE(machine->memory().level(0).storage().contains(chip));
    EXPECT_TRUE(machine->memory().level(0).storage().contains(phys_addr{0x1000}));
}

TEST(region, beside_the_levels_takes_dirty_lines_past_them)
{
    settings all = with_region(true);
    all.regions[0].beside_levels = true;
    const auto machine = make_machine(all);
    machine->core_at({0}).start([&](core &own) {
        own.access(chip, 8, access_kind::write);
        own.flush(chip, byte_count{64});
    });
    machine->timeline().run(for_ever);
    EXPECT_EQ(machine->memory().counts().region_lines, 2U) << "read and written";
    EXPECT_EQ(machine->memory().counts().line_writes, 0U);
    EXPECT_FALSE(machine->memory().level(0).storage().contains(chip));
}

TEST(region, beside_the_levels_must_be_cached)
{
    settings all = with_region(false);
    all.regions[0].beside_levels = true;
    EXPECT_NE(reason_of(simulated_machine::make(all)).find("beside_levels"), std::string::npos);
}

} // namespace
} // namespace bulkhead::machine::test::region_test
