// SPDX-License-Identifier: Apache-2.0
// Release delays (T3): the event from which they are counted.
#include "core/release_delay.h"
#include <gtest/gtest.h>

namespace release_delay_test {
namespace {

release_delay fresh()
{
    release_delay release;
    release_init(&release);
    return release;
}

TEST(ReleaseDelay, T3_CountsFromTheEventAndNotFromWhenItWasNoticed)
{
    release_delay release = fresh();
    release_ready(&release, 1000);
    release_ready(&release, 1500); // notified again
    release_entered(&release, 2000);
    EXPECT_EQ(release.max_ticks, 1000u);
    EXPECT_EQ(release.count, 1u);
}

TEST(ReleaseDelay, T3_TheTimeOfThoseThatGoBeforeItIsNoDelay)
{
    release_delay release = fresh();
    release_ready(&release, 1000);
    release_outranked(&release, 50000);
    release_entered(&release, 50010);
    EXPECT_EQ(release.max_ticks, 10u);
}

TEST(ReleaseDelay, T3_WhatRunsOnIsNotReleased)
{
    release_delay release = fresh();
    release_entered(&release, 100);
    EXPECT_EQ(release.count, 0u);
    release_ready(&release, 100);
    release_cancel(&release);
    release_entered(&release, 200);
    EXPECT_EQ(release.count, 0u);
    EXPECT_EQ(release.max_ticks, 0u);
}

TEST(ReleaseDelay, T3_TheLongestAndTheSumStay)
{
    release_delay release = fresh();
    for (uint64_t delay : {5, 90, 7}) {
        release_ready(&release, 1000);
        release_entered(&release, 1000 + delay);
    }
    EXPECT_EQ(release.max_ticks, 90u);
    EXPECT_EQ(release.sum_ticks, 102u);
    EXPECT_EQ(release.count, 3u);
}

} // namespace
} // namespace release_delay_test
