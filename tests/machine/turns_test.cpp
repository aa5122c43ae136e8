// SPDX-License-Identifier: Apache-2.0
// The order of cores: whatever is added, changed and taken, the first one is that of a plain list.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "machine/random.h"
#include "machine/turns.h"

namespace bulkhead::machine::test::turns_test {

namespace {

struct turn {
    std::uint64_t due;
    std::uint32_t core;
    auto operator<=>(const turn &) const = default;
};

TEST(turns, answer_as_a_list_of_cores_by_time_and_number)
{
    turns own;
    std::vector<turn> list;
    random_source random(3);
    for (int step = 0; step < 20'000; ++step) {
        const core_id core{random.below(turns::most)};
        const std::uint64_t due = random.below(50);
        const auto here = std::find_if(list.begin(), list.end(),
                                       [core](const turn &one) { return one.core == core.value; });
        const std::uint32_t what = random.below(4);
        if (what == 0 && here == list.end()) {
            own.add(core, picoseconds{due});
            list.push_back({due, core.value});
        } else if (what == 1) {
            const bool goes = random.below(3) == 0;
            own.set(core, goes ? turns::never : picoseconds{due});
            std::erase_if(list, [core](const turn &one) { return one.core == core.value; });
            if (!goes) {
                list.push_back({due, core.value});
            }
        } else if (what == 2 && !list.empty()) {
            const auto first = std::min_element(list.begin(), list.end());
            ASSERT_EQ(own.take_first(), first->core);
            list.erase(first);
        }
        ASSERT_EQ(own.empty(), list.empty());
        ASSERT_EQ(own.first_due().value,
                  list.empty() ? turns::never.value : std::min_element(list.begin(), list.end())->due);
    }
}

} // namespace

} // namespace bulkhead::machine::test::turns_test
