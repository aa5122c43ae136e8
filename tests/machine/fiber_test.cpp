// SPDX-License-Identifier: Apache-2.0
// Fibers: locals and callee-saved state survive switches, and a fiber that ends continues where its body
// says.
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "machine/fiber.h"

namespace bulkhead::machine::test::fiber_test {

namespace {

TEST(fiber, locals_survive_many_switches)
{
    fiber home;
    std::vector<int> sums(3);
    std::vector<std::unique_ptr<fiber>> all;
    for (std::size_t i = 0; i < sums.size(); ++i) {
        all.push_back(std::make_unique<fiber>([&, i]() -> fiber & {
            int sum = 0;
            double product = 1;
            for (int round = 1; round <= 100; ++round) {
                sum += round * static_cast<int>(i + 1);
                product *= 1.01;
                all[i]->switch_to(i + 1 < all.size() ? *all[i + 1] : home);
            }
            sums[i] = product > 2.70 && product < 2.71 ? sum : -1;
            return home;
        }));
    }
    while (!all[0]->ended()) {
        home.switch_to(*all[0]);
    }
    home.switch_to(*all[1]);
    home.switch_to(*all[2]);
    EXPECT_EQ(sums, (std::vector<int>{5050, 10100, 15150}));
    EXPECT_TRUE(all[1]->ended() && all[2]->ended());
}

TEST(fiber, a_stack_takes_deep_calls)
{
    fiber home;
    std::size_t depth = 0;
    fiber deep(
        [&]() -> fiber & {
            const auto dig = [&](const auto &self, std::size_t left) -> std::size_t {
                volatile char room[1024];
                room[0] = static_cast<char>(left);
                return left == 0 ? 0 : self(self, left - 1) + 1 + static_cast<std::size_t>(room[0] * 0);
            };
            depth = dig(dig, 400);
            return home;
        },
        byte_count{4 * 1024 * 1024});
    home.switch_to(deep);
    EXPECT_EQ(depth, 400U);
}

} // namespace

} // namespace bulkhead::machine::test::fiber_test
