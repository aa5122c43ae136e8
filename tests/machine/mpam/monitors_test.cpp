// SPDX-License-Identifier: Apache-2.0
// M4, M8: MPAM's monitors. Their values are compared with the machine's own counts, which are independent of
// them. Numbers are those of the compliance suite (docs/design/mpam.md).
#include <gtest/gtest.h>

#include "tests/machine/mpam/mpam_make.h"
#include "tests/machine/patterns.h"

namespace bulkhead::machine::test::monitors_test {
namespace {

constexpr std::uint64_t line_bytes = 64;
constexpr picoseconds late{1'000'000'000'000};

class M4Monitors : public testing::Test {
protected:
    explicit M4Monitors(const settings &wanted = machine_with_mpam(2))
        : machine_(make_machine(wanted)), page_(page_of(*machine_))
    {
    }
    // Reads or writes lines one after the other; then `now` is after them.
    void run(std::size_t core, mpam_label label, std::uint64_t first, std::uint64_t count,
             access_kind kind = access_kind::read)
    {
        machine::core &own = machine_->core_at({static_cast<std::uint32_t>(core)});
        own.set_label(label);
        own.start([=](machine::core &runs) {
            for (std::uint64_t line = first; line < first + count; ++line) {
                runs.access(phys_addr{line * line_bytes}, 8, kind);
            }
        });
        machine_->timeline().run(for_ever);
        page_.now = late;
    }
    // Counts of the machine itself, line by line.
    [[nodiscard]] std::uint64_t lines_with(mpam_label label, std::uint64_t below) const
    {
        const cache &level = machine_->memory().level(0).storage();
        std::uint64_t count = 0;
        for (std::uint64_t line = 0; line < below; ++line) {
            const phys_addr at{line * line_bytes};
            count += level.contains(at) && level.label_of(at) == label ? 1 : 0;
        }
        return count;
    }

    std::unique_ptr<simulated_machine> machine_;
    page page_;
};

settings slow_to_be_ready()
{
    settings all = machine_with_mpam(2);
    all.mpam->components[0].not_ready_ps = 1'000'000;
    return all;
}

class M4SlowMonitors : public M4Monitors {
protected:
    M4SlowMonitors() : M4Monitors(slow_to_be_ready()) {}
};

// --- Storage ---

TEST_F(M4Monitors, T151StorageIsToldApartByGroup)
{
    run(0, {.partition = 2, .monitor_group = 1}, 0, 500);
    run(1, {.partition = 2, .monitor_group = 3}, 1000, 300);
    page_.watch_storage(0, {.partition = 2, .monitor_group = 1});
    EXPECT_EQ(page_.read(MSMON_CSU), 500 * line_bytes);
    page_.watch_storage(1, {.partition = 2, .monitor_group = 3});
    EXPECT_EQ(page_.read(MSMON_CSU), 300 * line_bytes);
    EXPECT_EQ(lines_with({.partition = 2, .monitor_group = 3}, 2000), 300U);
    page_.select_monitor(cache_instance, 2);
    page_.write(MSMON_CFG_CSU_FLT, 2);
    page_.write(MSMON_CFG_CSU_CTL, MSMON_CTL_EN | MSMON_CTL_MATCH_PARTID);
    EXPECT_EQ(page_.read(MSMON_CSU), 800 * line_bytes) << "all of the partition";
    page_.write(MSMON_CFG_CSU_CTL, MSMON_CTL_EN);
    EXPECT_EQ(page_.read(MSMON_CSU), 800 * line_bytes) << "all that the cache has";
}

TEST_F(M4Monitors, T152GroupsOfAPartitionShareItsMaximum)
{
    const auto storage = [this](std::uint32_t monitor) {
        page_.select_monitor(cache_instance, monitor);
        return page_.read(MSMON_CSU);
    };
    page_.set(cache_instance, 2, MPAMCFG_CMAX, 31U << 8U); // an eighth, 128 KiB
    page_.watch_storage(0, {.partition = 2, .monitor_group = 1});
    page_.watch_storage(1, {.partition = 2, .monitor_group = 3});
    run(0, {.partition = 2, .monitor_group = 1}, 0, 1000);
    EXPECT_EQ(storage(0), 1000 * line_bytes);
    EXPECT_EQ(storage(1), 0U);
    run(1, {.partition = 2, .monitor_group = 3}, 40'000, 40'000);
    EXPECT_EQ(storage(0) + storage(1), 128U * 1024);
    EXPECT_EQ(storage(1), lines_with({.partition = 2, .monitor_group = 3}, 80'000) * line_bytes);
}

TEST_F(M4Monitors, T153StorageFollowsPortionsAndEvictions)
{
    page_.set(cache_instance, 4, MPAMCFG_CPBM(0), 0x0003); // 2 of 16 ways of 1 MiB
    page_.watch_storage(0, {.partition = 4});
    run(0, {.partition = 4}, 0, 10'000);
    EXPECT_EQ(page_.read(MSMON_CSU), 128U * 1024);
    EXPECT_EQ(lines_with({.partition = 4}, 10'000) * line_bytes, 128U * 1024);
    page_.set(cache_instance, 5, MPAMCFG_CPBM(0), 0x0001);
    run(1, {.partition = 5}, 20'000, 10'000); // takes the first way
    EXPECT_EQ(page_.read(MSMON_CSU), 64U * 1024);
}

TEST_F(M4Monitors, T154StorageFollowsTheMaximum)
{
    page_.set(cache_instance, 4, MPAMCFG_CMAX, 31U << 8U); // an eighth
    page_.watch_storage(0, {.partition = 4});
    run(0, {.partition = 4}, 0, 40'000);
    EXPECT_EQ(page_.read(MSMON_CSU), 128U * 1024);
}

TEST_F(M4Monitors, T155ADisabledStorageMonitorKeepsItsValue)
{
    page_.watch_storage(0, {.partition = 1});
    run(0, {.partition = 1}, 0, 10);
    page_.write(MSMON_CFG_CSU_CTL, 0);
    run(0, {.partition = 1}, 100, 10);
    EXPECT_EQ(page_.read(MSMON_CSU), 10 * line_bytes);
    page_.write(MSMON_CSU, 1234);
    EXPECT_EQ(page_.read(MSMON_CSU), 10 * line_bytes) << "read-only, as CSU_RO says";
}

TEST_F(M4SlowMonitors, AMonitorIsNotReadyAfterAChange)
{
    run(0, {.partition = 1}, 0, 10);
    page_.watch_storage(0, {.partition = 1});
    EXPECT_EQ(page_.read(MSMON_CSU), MSMON_NRDY);
    page_.now = page_.now + picoseconds{999'999};
    EXPECT_NE(page_.read(MSMON_CSU) & MSMON_NRDY, 0U);
    page_.now = page_.now + picoseconds{1};
    EXPECT_EQ(page_.read(MSMON_CSU), 10 * line_bytes);
    page_.write(MSMON_CFG_CSU_CTL, page_.read(MSMON_CFG_CSU_CTL));
    EXPECT_EQ(page_.read(MSMON_CSU) & MSMON_NRDY, 0U) << "nothing changed";
}

TEST_F(M4SlowMonitors, ABandwidthMonitorCountsFromWhenItIsReady)
{
    page_.watch_bandwidth(0, {.partition = 1});
    EXPECT_EQ(page_.read(MSMON_MBWU) & MSMON_NRDY, MSMON_NRDY);
    machine::core &own = machine_->core_at({0});
    own.set_label({.partition = 1});
    own.start([](machine::core &runs) {
        runs.access(phys_addr{0}, 8, access_kind::read); // too early
        runs.spend(picoseconds{2'000'000});
        runs.access(phys_addr{4096}, 8, access_kind::read);
    });
    machine_->timeline().run(for_ever);
    page_.now = late;
    EXPECT_EQ(page_.read(MSMON_MBWU), line_bytes);
}

// --- Bandwidth ---

TEST_F(M4Monitors, BandwidthIsWhatTheMachineItselfCounts)
{
    page_.watch_bandwidth(0, {.partition = 1});
    page_.watch_bandwidth(1, {.partition = 2});
    page_.watch_bandwidth(2, {.partition = 1});
    page_.write(MSMON_CFG_MBWU_FLT, 1U << MSMON_FLT_MBWU_RWBW_SHIFT | 1); // its writes
    page_.watch_bandwidth(3, {.partition = 1});
    page_.write(MSMON_CFG_MBWU_FLT, 2U << MSMON_FLT_MBWU_RWBW_SHIFT | 1); // its reads
    for (std::uint32_t i = 0; i < 2; ++i) {
        machine_->core_at({i}).set_label({.partition = static_cast<std::uint16_t>(i + 1)});
        machine_->core_at({i}).start(make_pattern({.pattern = access_pattern::random,
                                                   .start = phys_addr{i * (64ULL << 20U)},
                                                   .working_set = byte_count{4U << 20U},
                                                   .accesses = 60'000,
                                                   .writes_percent = 30,
                                                   .seed = i + 1}));
    }
    machine_->timeline().run(for_ever);
    page_.now = late;
    std::array<std::uint64_t, 4> seen{};
    for (std::uint32_t i = 0; i < 4; ++i) {
        page_.select_monitor(memory_instance, i);
        seen[i] = page_.read(MSMON_MBWU);
        EXPECT_EQ(page_.read64(MSMON_MBWU_L), seen[i]);
    }
    const memory_counts &counts = machine_->memory().counts();
    EXPECT_EQ(seen[0] + seen[1], (counts.line_reads + counts.line_writes) * line_bytes);
    EXPECT_EQ(seen[2] + seen[3], seen[0]);
    EXPECT_GT(seen[2], 1000 * line_bytes);
    EXPECT_EQ(seen[3], machine_->core_at({0}).count_of(core_event::l2d_refill) * line_bytes);
}

TEST_F(M4Monitors, ItIsSeenWhenItMovesAndNotBefore)
{
    page_.watch_bandwidth(0, {.partition = 1});
    page_.set(memory_instance, 1, MPAMCFG_MBW_MAX, MPAMCFG_MBW_MAX_HARDLIM); // 1 / 256
    machine::core &own = machine_->core_at({0});
    own.set_label({.partition = 1});
    std::vector<std::uint64_t> seen;
    const std::uint64_t most = machine_->mpam()->at(0).instance(memory_instance).of.bandwidth->window_ps;
    own.start([&](machine::core &runs) {
        for (std::uint64_t line = 0; line < 60'000; ++line) {
            runs.access(phys_addr{line * line_bytes}, 8, access_kind::read);
            if (runs.clock().value / most > seen.size()) {
                page_.now = runs.order();
                seen.push_back(page_.read(MSMON_MBWU));
            }
        }
    });
    machine_->timeline().run(picoseconds{20 * most});
    ASSERT_GT(seen.size(), 10U);
    const std::uint64_t in_a_window = seen[5] - seen[4];
    for (std::size_t i = 1; i < seen.size(); ++i) {
        EXPECT_LE(seen[i] - seen[i - 1], in_a_window) << "what waits for the next window is not counted yet";
    }
    // 64 bytes in four clocks of 937.5 ps, 20 us, 1 / 256 of them.
    EXPECT_EQ(in_a_window, (20'000'000'000ULL * 64 / (4 * 937'500) / 256) / 64 * 64);
}

TEST_F(M4Monitors, T304ADisabledBandwidthMonitorTakesAValueAndCountsNothing)
{
    page_.watch_bandwidth(0, {.partition = 1});
    run(0, {.partition = 1}, 0, 10);
    page_.write(MSMON_CFG_MBWU_CTL, page_.read(MSMON_CFG_MBWU_CTL) & ~MSMON_CTL_EN);
    run(0, {.partition = 1}, 100, 10);
    EXPECT_EQ(page_.read(MSMON_MBWU), 10 * line_bytes);
    page_.write(MSMON_MBWU, 4711);
    EXPECT_EQ(page_.read(MSMON_MBWU), 4711U);
}

TEST_F(M4Monitors, T305AFrozenMonitorStopsWhereItOverflowed)
{
    page_.watch_bandwidth(0, {.partition = 1}, MSMON_CTL_OFLOW_FRZ);
    page_.write(MSMON_MBWU, MSMON_VALUE - 63);
    run(0, {.partition = 1}, 0, 10);
    EXPECT_EQ(page_.read(MSMON_MBWU), 0U) << "the first line made it overflow";
    EXPECT_NE(page_.read(MSMON_CFG_MBWU_CTL) & MSMON_CTL_OFLOW_STATUS, 0U);
    EXPECT_EQ(page_.read64(MSMON_MBWU_L), line_bytes) << "the long counter is frozen, too";
    page_.write(MSMON_MBWU, 0);
    run(0, {.partition = 1}, 100, 10);
    EXPECT_EQ(page_.read(MSMON_MBWU), 10 * line_bytes);
    EXPECT_EQ(page_.read64(MSMON_MBWU_L), line_bytes) << "each is written for itself";
}

TEST_F(M4Monitors, T306AMonitorThatOverflowedCountsOn)
{
    page_.watch_bandwidth(0, {.partition = 1});
    page_.write(MSMON_MBWU, MSMON_VALUE - 63);
    run(0, {.partition = 1}, 0, 3);
    EXPECT_EQ(page_.read(MSMON_MBWU), 2 * line_bytes);
    EXPECT_EQ(page_.read(MSMON_OFLOW_SR), MSMON_OFLOW_SR_MBWU | 1U << memory_instance);
    EXPECT_EQ(page_.read(MSMON_MBWU_OFSR), 1U);
    page_.write(MSMON_CFG_MBWU_CTL, page_.read(MSMON_CFG_MBWU_CTL) & ~MSMON_CTL_OFLOW_STATUS);
    EXPECT_EQ(page_.read(MSMON_OFLOW_SR), 0U);
    page_.write(MSMON_MBWU, MSMON_VALUE);
    run(0, {.partition = 1}, 100, 1);
    EXPECT_NE(page_.read(MSMON_CFG_MBWU_CTL) & MSMON_CTL_OFLOW_STATUS, 0U);
    page_.write(MSMON_MBWU, 5);
    EXPECT_EQ(page_.read(MSMON_CFG_MBWU_CTL) & MSMON_CTL_OFLOW_STATUS, 0U) << "a new value has not";
}

TEST_F(M4Monitors, T214AnOverflowInterrupts)
{
    std::vector<bool> seen;
    machine_->mpam()->at(0).connect({}, [&seen](bool high) { seen.push_back(high); });
    page_.watch_bandwidth(0, {.partition = 1});
    page_.write(MSMON_MBWU, MSMON_VALUE);
    run(0, {.partition = 1}, 0, 1);
    EXPECT_TRUE(seen.empty()) << "not asked for";
    page_.watch_bandwidth(0, {.partition = 1}, MSMON_CTL_OFLOW_INTR);
    page_.write(MSMON_MBWU, MSMON_VALUE);
    run(0, {.partition = 1}, 100, 1);
    EXPECT_EQ(seen, std::vector<bool>{true});
    page_.write(MSMON_CFG_MBWU_CTL, page_.read(MSMON_CFG_MBWU_CTL) & ~MSMON_CTL_OFLOW_STATUS);
    EXPECT_EQ(seen, (std::vector<bool>{true, false}));
}

TEST_F(M4Monitors, T218TheLongCounterHasAnOverflowOfItsOwn)
{
    std::vector<bool> seen;
    machine_->mpam()->at(0).connect({}, [&seen](bool high) { seen.push_back(high); });
    page_.watch_bandwidth(0, {.partition = 1}, MSMON_CTL_OFLOW_INTR_L);
    page_.write64(MSMON_MBWU_L, MSMON_L_VALUE_44 - 63);
    EXPECT_EQ(page_.read64(MSMON_MBWU_L), MSMON_L_VALUE_44 - 63);
    run(0, {.partition = 1}, 0, 2);
    const std::uint32_t control = page_.read(MSMON_CFG_MBWU_CTL);
    EXPECT_EQ(control & (MSMON_CTL_OFLOW_STATUS | MSMON_CTL_OFLOW_STATUS_L), MSMON_CTL_OFLOW_STATUS_L);
    EXPECT_EQ(page_.read64(MSMON_MBWU_L), line_bytes);
    EXPECT_EQ(seen, std::vector<bool>{true});
}

TEST_F(M4Monitors, AScaledCounterHasBytesShifted)
{
    page_.watch_bandwidth(0, {.partition = 1}, MSMON_CTL_SCLEN);
    EXPECT_EQ(page_.read(MPAMF_MBWUMON_IDR) >> MPAMF_MBWUMON_IDR_SCALE & 0x1FU, 0U) << "of the cache";
    page_.select(memory_instance, 0);
    EXPECT_EQ(page_.read(MPAMF_MBWUMON_IDR) >> MPAMF_MBWUMON_IDR_SCALE & 0x1FU, 4U);
    run(0, {.partition = 1}, 0, 10);
    EXPECT_EQ(page_.read(MSMON_MBWU), 10 * line_bytes >> 4U);
    EXPECT_EQ(page_.read64(MSMON_MBWU_L), 10 * line_bytes) << "which is never scaled";
}

TEST_F(M4Monitors, ACaptureTakesAllMonitorsThatListen)
{
    constexpr std::uint32_t listens = MSMON_CTL_CAPT_EVNT_NOW << MSMON_CTL_CAPT_EVNT_SHIFT;
    page_.watch_storage(0, {.partition = 1}, listens);
    page_.watch_storage(1, {.partition = 1});
    page_.watch_bandwidth(0, {.partition = 1}, listens | MSMON_CTL_CAPT_RESET);
    page_.watch_bandwidth(1, {.partition = 1}, listens);
    run(0, {.partition = 1}, 0, 10);
    page_.write(MSMON_CAPT_EVNT, MSMON_CAPT_EVNT_NOW);
    run(0, {.partition = 1}, 100, 5);
    page_.select_monitor(cache_instance, 0);
    EXPECT_EQ(page_.read(MSMON_CSU_CAPTURE), 10 * line_bytes);
    EXPECT_EQ(page_.read(MSMON_CSU), 15 * line_bytes);
    page_.select_monitor(cache_instance, 1);
    EXPECT_EQ(page_.read(MSMON_CSU_CAPTURE), 0U) << "it does not listen";
    page_.select_monitor(memory_instance, 0);
    EXPECT_EQ(page_.read(MSMON_MBWU_CAPTURE), 10 * line_bytes);
    EXPECT_EQ(page_.read64(MSMON_MBWU_L_CAPTURE), 10 * line_bytes);
    EXPECT_EQ(page_.read(MSMON_MBWU), 5 * line_bytes) << "from zero again";
    page_.select_monitor(memory_instance, 1);
    EXPECT_EQ(page_.read(MSMON_MBWU_CAPTURE), 10 * line_bytes);
    EXPECT_EQ(page_.read(MSMON_MBWU), 15 * line_bytes);
}

} // namespace
} // namespace bulkhead::machine::test::monitors_test
