// SPDX-License-Identifier: Apache-2.0
// S7, instruction side: a program's blocks are fetched from its own memory, those of a loop once; the
// program's results and instructions stay the same.
#include <gtest/gtest.h>

#include "tests/machine/program/run.h"

namespace bulkhead::machine::test::fetch_run_test {
namespace {

constexpr std::uint64_t rounds = 4096; // `again` reads 4096 words each

settings machine_with_l1i(std::uint64_t bytes)
{
    settings made = small_machine(1);
    made.cores[0].l1i = {.size_bytes = bytes, .ways = 2, .line_bytes = 64, .policy = replacement::random};
    return made;
}

run_result run_on(const settings &hardware, std::uint64_t n)
{
    run_result made =
        run_alone(read_image(KERNELS_IMAGE), "again", n * rounds, memory_at(0x200000), hardware);
    EXPECT_EQ(made.trouble.value_or(""), "");
    return made;
}

std::uint64_t refills(const run_result &of)
{
    return of.counts.of(core_event::l1i_refill);
}

TEST(program_fetches, a_loop_that_stays_in_l1i_costs_what_it_costs_without)
{
    const run_result once = run_on(machine_with_l1i(32768), 1);
    const run_result often = run_on(machine_with_l1i(32768), 20);
    EXPECT_GT(refills(once), 3U);
    EXPECT_LT(refills(once), 100U);
    EXPECT_EQ(refills(often), refills(once));
    const run_result without = run_on(small_machine(1), 20);
    EXPECT_EQ(refills(without), 0U);
    EXPECT_EQ(often.counts.instructions, without.counts.instructions);
    EXPECT_EQ(often.result, without.result);
    const double cycles = 1e12 / 1.2e9;
    EXPECT_NEAR(static_cast<double>(often.counts.cycles - without.counts.cycles),
                static_cast<double>(often.counts.of(stall_cause::fetch)) / cycles, 2000);
}

// Its frames are owner 3's; the shared level gets as many more requests for them as L1I fetches lines.
TEST(program_fetches, text_lies_in_the_memory_of_its_program)
{
    const ram bytes = make_ram();
    std::array<std::uint64_t, 2> asked{};
    std::uint64_t lines = 0;
    for (const bool fetches : {false, true}) {
        const auto whole = make_machine(fetches ? machine_with_l1i(32768) : small_machine(1));
        whole->ram().set_owner(phys_addr{0x200000}, byte_count{program_bytes}, owner_id{3});
        const image file = read_image(KERNELS_IMAGE);
        const auto program = expect_made(bare_program::make(file, bytes, whole->core_at({0}),
                                                            {memory_at(0x200000), call("again", rounds)}));
        program->start();
        whole->timeline().run(for_ever);
        asked.at(fetches) = whole->memory().level(0).storage().statistics().of(owner_id{3}).accesses.get();
        lines = whole->core_at({0}).count_of(core_event::l1i_refill);
    }
    EXPECT_GT(lines, 0U);
    EXPECT_EQ(asked[1] - asked[0], lines);
}

} // namespace
} // namespace bulkhead::machine::test::fetch_run_test
