// SPDX-License-Identifier: Apache-2.0
// Owners and marks of frames: whatever ranges change, each frame is what was set last for it, with blocks
// whose frames are alike and blocks whose frames are not, and a last block that is not whole.
#include <gtest/gtest.h>

#include "machine/frames.h"
#include "machine/random.h"

namespace bulkhead::machine::test::frames_test {

namespace {

constexpr std::uint64_t page = std::uint64_t{1} << frames::bits;
constexpr std::uint64_t base = 0x4000'0000;
constexpr std::uint64_t count = 5 * 512 + 100;

TEST(S7Frames, EachIsWhatWasSetLastForIt)
{
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        random_source random(seed);
        frames tested(phys_addr{base}, byte_count{count * page});
        std::vector<frames::frame> plain(count);
        for (std::uint32_t step = 0; step < 60; ++step) {
            const bool whole_blocks = random.below(3) == 0;
            std::uint64_t first = random.below(count);
            std::uint64_t number = random.below(4) == 0 ? 1 : random.below(1500);
            first = whole_blocks ? first / 512 * 512 : first;
            number = whole_blocks ? 512 * (1 + random.below(3)) : number;
            const bool owners = random.below(3) != 0;
            const owner_id owner{static_cast<std::uint8_t>(random.below(2))};
            const bool shared = random.below(2) == 1;
            const phys_addr start{base + first * page};
            if (owners) {
                tested.set_owner(start, byte_count{number * page}, owner);
            } else {
                tested.set_shared(start, byte_count{number * page}, shared);
            }
            for (std::uint64_t i = first; i < std::min(count, first + number); ++i) {
                plain[i].owner = owners ? owner : plain[i].owner;
                plain[i].shared = owners ? plain[i].shared : shared;
            }
            for (std::uint64_t i = 0; i < count; ++i) {
                ASSERT_EQ(*tested.find(phys_addr{base + i * page + 8}), plain[i])
                    << "seed " << seed << ", step " << step << ", frame " << i;
            }
        }
        EXPECT_EQ(tested.find(phys_addr{base + count * page}), nullptr);
        EXPECT_EQ(tested.find(phys_addr{base - 1}), nullptr);
    }
}

} // namespace

} // namespace bulkhead::machine::test::frames_test
