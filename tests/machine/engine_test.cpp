// SPDX-License-Identifier: Apache-2.0
// The order of cores, events and memory.
#include <gtest/gtest.h>

#include "tests/machine/machine_make.h"

namespace bulkhead::machine::test {

namespace {

void walk(core &own, std::uint64_t start, std::uint64_t bytes, int rounds, access_kind kind)
{
    for (int round = 0; round < rounds; ++round) {
        for (std::uint64_t at = 0; at < bytes; at += 8) {
            own.instructions(1);
            own.access(phys_addr{start + at}, 8, kind);
        }
    }
}

TEST(engine, time_of_instructions_is_their_number_times_their_cost)
{
    const auto machine = make_machine(small_machine(1));
    picoseconds end{};
    machine->core_at({0}).start([&](core &own) {
        own.instructions(1'200'000);
        end = own.clock();
    });
    EXPECT_EQ(machine->timeline().run(for_ever), engine::ending::idle);
    EXPECT_NEAR(static_cast<double>(end.value), 1e9, 2e3); // a millisecond at 1.2 GHz
    EXPECT_EQ(machine->core_at({0}).counts().instructions, 1'200'000U);
}

TEST(engine, equal_runs_have_equal_digests)
{
    const auto run = [](std::uint64_t lookahead_ps) {
        settings wanted = small_machine();
        wanted.lookahead_ps = lookahead_ps;
        const auto machine = make_machine(wanted);
        for (std::uint32_t i = 0; i < 4; ++i) {
            machine->core_at({i}).start([i](core &own) {
                walk(own, std::uint64_t{i} << 24U, 256 * 1024, 3,
                     i % 2 == 0 ? access_kind::read : access_kind::write);
            });
        }
        EXPECT_EQ(machine->timeline().run(for_ever), engine::ending::idle);
        return machine->digest();
    };
    const std::uint64_t digest = run(0);
    EXPECT_EQ(digest, run(0));
    EXPECT_EQ(digest, run(50'000));
    EXPECT_EQ(digest, run(1'000'000));
    EXPECT_EQ(digest, run(1'000'000'000));
}

} // namespace

} // namespace bulkhead::machine::test
