// SPDX-License-Identifier: Apache-2.0
// The number of transfers of a packet, compared with brokers that copy packets into buffers of any length.
#include "core/flow_transfers.h"
#include <algorithm>
#include <gtest/gtest.h>
#include <random>

namespace flow_transfers_test {
namespace {

// The rest of a piece of memory from `at` on.
uint64_t run_left(uint64_t at, uint64_t run_bytes)
{
    return run_bytes == 0 ? UINT64_MAX : run_bytes - at % run_bytes;
}

uint64_t any_room(std::mt19937_64 &random, uint64_t chunk)
{
    switch (random() % 4) {
    case 0:
        return FLOW_LEAST_ROOM;
    case 1:
        return std::max<uint64_t>(FLOW_LEAST_ROOM, chunk * (1 + random() % 3) + random() % 3);
    case 2:
        return FLOW_LEAST_ROOM + random() % 10;
    default:
        return FLOW_LEAST_ROOM + random() % 20'000;
    }
}

uint64_t transfers_seen(std::mt19937_64 &random, uint64_t bytes, uint64_t chunk, uint64_t run)
{
    uint64_t source = random();
    uint64_t count = 0;
    while (bytes != 0) {
        uint64_t target = random();
        uint64_t usable = flow_usable_bytes(any_room(random, chunk), chunk);
        while (usable != 0 && bytes != 0) {
            const uint64_t moved =
                std::min({usable, bytes, chunk, run_left(source, run), run_left(target, run)});
            source += moved;
            target += moved;
            usable -= moved;
            bytes -= moved;
            count++;
        }
    }
    return count;
}

TEST(flow_transfers, f9_no_buffers_make_more_of_them_and_some_make_as_many)
{
    std::mt19937_64 random(31);
    int reached = 0;
    int contiguous = 0;
    for (int i = 0; i < 20'000; i++) {
        const uint64_t chunk = random() % 2 != 0 ? 64ull << random() % 11 : 64 + random() % 20'000;
        const uint64_t run = random() % 2 != 0 ? 0 : 4096ull << random() % 5;
        const uint64_t bytes = 1 + random() % (random() % 2 != 0 ? 65'536 : 6000);
        const uint64_t most = flow_most_transfers(bytes, chunk, run);
        const uint64_t seen = transfers_seen(random, bytes, chunk, run);
        ASSERT_LE(seen, most) << bytes << " " << chunk << " " << run;
        reached += run == 0 && seen == most ? 1 : 0;
        contiguous += run == 0 ? 1 : 0;
    }
    EXPECT_GT(reached, contiguous / 4);
}

TEST(flow_transfers, f9_counts_what_can_be_counted_by_hand)
{
    EXPECT_EQ(flow_most_transfers(3732, 4096, 0), 1u);
    EXPECT_EQ(flow_most_transfers(3733, 4096, 0), 2u); // a buffer of 3776 B has a header, too
    EXPECT_EQ(flow_most_transfers(12'288, 4096, 0), 4u);
    EXPECT_EQ(flow_most_transfers(12'288, 1024, 0), 12u);
    EXPECT_EQ(flow_most_transfers(1, 4096, 4096), 1u);
    EXPECT_EQ(flow_most_transfers(3732, 4096, 4096), 3u); // a page ends at the sender, one at the receiver
}

TEST(flow_transfers, f9_a_short_rest_of_a_buffer_is_not_used)
{
    EXPECT_EQ(flow_usable_bytes(FLOW_LEAST_ROOM - 1, 4096), 0u);
    EXPECT_EQ(flow_usable_bytes(FLOW_LEAST_ROOM, 4096), FLOW_LEAST_ROOM);
    EXPECT_EQ(flow_usable_bytes(4097, 4096), 4096u);
    EXPECT_EQ(flow_usable_bytes(4096 + FLOW_LEAST_ROOM, 4096), 4096u + FLOW_LEAST_ROOM);
    EXPECT_EQ(flow_usable_bytes(FLOW_LEAST_ROOM, 1024), 3072u); // whole chunks
    EXPECT_EQ(flow_usable_bytes(65'536, 1024), 65'536u);
}

} // namespace
} // namespace flow_transfers_test
