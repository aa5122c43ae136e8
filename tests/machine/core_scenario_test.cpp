// SPDX-License-Identifier: Apache-2.0
// Machine S2: small stories of one core's load/store unit, numbered, in given / when / then form. The machine
// is the tests' small one: loads block unless a story says otherwise, L1 has 64 sets of four ways.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "tests/machine/machine_make.h"

namespace bulkhead::machine::test::core_scenario_test {

namespace {

constexpr std::uint64_t line_bytes = 64;
constexpr std::uint64_t l1_way = 8 * 1024; // lines so far apart share a set of L1

phys_addr line(std::uint64_t number)
{
    return phys_addr{number * line_bytes};
}

class S2CoreScenario : public testing::Test {
protected:
    // Runs a story on core 0 and leaves the machine to look at.
    void run(const settings &wanted, const std::function<void(core &)> &story)
    {
        machine_ = make_machine(wanted);
        machine_->core_at({0}).start(story);
        ASSERT_EQ(machine_->timeline().run(for_ever), engine::ending::idle);
    }
    [[nodiscard]] core_counts counts() const { return machine_->core_at({0}).counts(); }
    [[nodiscard]] const memory_counts &memory() const { return machine_->memory().counts(); }
    static settings with_loads(std::uint32_t loads, std::uint32_t window = 0)
    {
        settings wanted = small_machine(1);
        wanted.cores[0].loads = loads;
        wanted.cores[0].window_instructions = window;
        return wanted;
    }

    std::unique_ptr<simulated_machine> machine_;
};

picoseconds time_of(core &own, const std::function<void()> &what)
{
    const picoseconds before = own.clock();
    what();
    return own.clock() - before;
}

// 1. Given a line that L1 has, when it is read and written, then nothing leaves the core.
TEST_F(S2CoreScenario, S01HitsStayInside)
{
    run(small_machine(1), [](core &own) {
        own.access(line(7), 8, access_kind::read);
        for (std::uint64_t byte = 0; byte < line_bytes; byte += 8) {
            own.access(phys_addr{line(7).value + byte}, 8, access_kind::write);
        }
    });
    EXPECT_EQ(memory().fetches, 1U);
    EXPECT_EQ(counts().of(core_event::l1d_refill), 1U);
    EXPECT_EQ(counts().of(core_event::memory_access), 9U);
}

// 2. Given three MSHRs for loads, when two lines are missed, then nothing waits, nor does another access to
//    one of them; when a third is missed, then the core waits for the first.
TEST_F(S2CoreScenario, S02LoadsWaitWhenAllMshrsAreTaken)
{
    picoseconds two{};
    picoseconds third{};
    picoseconds same{};
    run(with_loads(3), [&](core &own) {
        two = time_of(own, [&] {
            own.access(line(0), 8, access_kind::read);
            own.access(line(100), 8, access_kind::read);
        });
        same = time_of(own, [&] { own.access(phys_addr{line(100).value + 8}, 8, access_kind::read); });
        third = time_of(own, [&] { own.access(line(200), 8, access_kind::read); });
    });
    EXPECT_EQ(two.value, 0U);
    EXPECT_EQ(same.value, 0U);
    EXPECT_GT(third.value, 50'000U);
    EXPECT_EQ(counts().of(stall_cause::memory), third.value);
}

// 3. Given a load in flight, when its line is read by a load that the next address needs, then that one
//    waits for the data.
TEST_F(S2CoreScenario, S03ADependentLoadWaitsForALineInFlight)
{
    picoseconds waited{};
    run(with_loads(4), [&](core &own) {
        own.access(line(0), 8, access_kind::read);
        waited = time_of(own, [&] { own.dependent_read(phys_addr{8}, 8); });
    });
    EXPECT_GT(waited.value, 50'000U);
    EXPECT_EQ(memory().fetches, 1U);
}

// 4. Given a window of ten instructions, when eleven execute behind a missed load, then the core waits for
//    it; when ten do, it does not.
TEST_F(S2CoreScenario, S04TheWindowEndsBehindTheOldestLoad)
{
    for (const std::uint64_t behind : {10, 11}) {
        picoseconds took{};
        run(with_loads(4, 10), [&](core &own) {
            own.access(line(0), 8, access_kind::read);
            took = time_of(own, [&] {
                for (std::uint64_t i = 0; i < behind; ++i) {
                    own.instructions(1);
                }
            });
        });
        if (behind == 10) {
            EXPECT_LT(took.value, 10'000U);
        } else {
            EXPECT_GT(took.value, 50'000U);
        }
    }
}

// 5. Given four lines of a set in L1, one of them written, when a fifth comes in its place, then the dirty
//    one is written back to the shared level and not to DRAM.
TEST_F(S2CoreScenario, S05ADirtyVictimGoesToTheSharedLevel)
{
    run(small_machine(1), [](core &own) {
        own.access(phys_addr{0}, 8, access_kind::write);
        own.spend(picoseconds{1'000'000}); // its line is here
        for (std::uint64_t way = 1; way < 5; ++way) {
            own.access(phys_addr{way * l1_way}, 8, access_kind::read);
        }
    });
    EXPECT_EQ(counts().of(core_event::l1d_write_back), 1U);
    EXPECT_EQ(machine_->memory().counts_of_level(0).received, 1U);
    EXPECT_EQ(memory().line_writes, 0U);
}

// 6. Given a store buffer of two lines, when a third line is stored to while both are in flight, then the
//    core waits in the store buffer.
TEST_F(S2CoreScenario, S06StoresWaitForTheBuffer)
{
    settings wanted = small_machine(1);
    wanted.cores[0].stores = 2;
    picoseconds two{};
    picoseconds third{};
    run(wanted, [&](core &own) {
        two = time_of(own, [&] {
            own.access(line(0), 8, access_kind::write);
            own.access(line(100), 8, access_kind::write);
        });
        third = time_of(own, [&] { own.access(line(200), 8, access_kind::write); });
    });
    EXPECT_EQ(two.value, 0U);
    EXPECT_GT(third.value, 50'000U);
    EXPECT_EQ(counts().of(stall_cause::store_buffer), third.value);
}

// 7. Given a prefetcher that two misses start, when lines 0 and 1 are read, then lines up to its depth are
//    fetched, but none of the next page, where another stream begins; the first read of one counts as a
//    refill and goes on with the stream.
TEST_F(S2CoreScenario, S07PrefetchesStayInThePage)
{
    settings wanted = with_loads(4);
    wanted.cores[0].prefetcher = {.streams = 2, .depth_lines = 3, .confirmations = 0};
    run(wanted, [](core &own) {
        own.access(line(60), 8, access_kind::read);
        own.access(line(61), 8, access_kind::read);
    });
    EXPECT_EQ(memory().fetches, 4U); // and 62, 63: the page ends there
    EXPECT_EQ(counts().of(core_event::l1d_refill), 2U);
    run(wanted, [](core &own) {
        for (std::uint64_t number = 0; number < 3; ++number) {
            own.access(line(number), 8, access_kind::read);
        }
    });
    EXPECT_EQ(memory().fetches, 6U); // 0, 1, then 2, 3, 4 ahead, then 5
    EXPECT_EQ(counts().of(core_event::l1d_refill), 3U);
    run(wanted, [](core &own) {
        for (std::uint64_t number = 60; number <= 64; ++number) {
            own.access(line(number), 8, access_kind::read);
        }
    });
    EXPECT_EQ(memory().fetches, 5U); // the first line of the next page goes on with nothing
}

// 8. Given a line of a shared frame that core 1 has written, when core 0 reads it, then the newest contents
//    go to the shared level and core 1 keeps a clean copy: core 0's next write takes it away.
TEST_F(S2CoreScenario, S08SharedLinesAreSnooped)
{
    machine_ = make_machine(small_machine(2));
    machine_->share(phys_addr{0}, byte_count{4096}, true);
    machine_->core_at({1}).start([](core &own) {
        own.access(line(3), 8, access_kind::write);
        own.spend(picoseconds{5'000'000});
        own.access(line(3), 8, access_kind::read);
    });
    machine_->core_at({0}).start([](core &own) {
        own.spend(picoseconds{2'000'000});
        own.access(line(3), 8, access_kind::read);
        own.access(line(3), 8, access_kind::write);
    });
    machine_->timeline().run(for_ever);
    const core_counts other = machine_->core_at({1}).counts();
    EXPECT_EQ(other.of(core_event::l1d_write_back), 1U);
    EXPECT_EQ(other.of(core_event::l1d_refill), 2U); // it lost the line in between
    EXPECT_EQ(counts().of(core_event::l1d_refill), 1U);
    EXPECT_EQ(memory().line_reads, 1U);
}

// 9. Given a signal that comes while instructions execute, when its time has come, then the attend function
//    is called between two of them, at that time and not later.
TEST_F(S2CoreScenario, S09SignalsAreAttendedBetweenInstructions)
{
    picoseconds attended{};
    run(small_machine(1), [&](core &own) {
        own.set_attend([&] { attended = own.clock(); });
        own.order();
        own.signal(picoseconds{1'000'000});
        for (int i = 0; i < 5'000; ++i) {
            own.instructions(1);
        }
        own.set_attend(nullptr);
    });
    EXPECT_GE(attended.value, 1'000'000U);
    EXPECT_LT(attended.value, 1'002'000U);
}

// 10. Given a core that waits for a signal, when another one broadcasts maintenance, then it costs the
//     waiting core nothing; given one that executes, then it stands still that long.
TEST_F(S2CoreScenario, S10StandingStillCostsWhoExecutes)
{
    machine_ = make_machine(small_machine(3));
    machine_->core_at({0}).start([](core &own) { own.instructions(12'000); }); // 10 us
    machine_->core_at({1}).start([](core &own) { own.wait(); });
    machine_->core_at({2}).start([this](core &own) {
        const picoseconds when = own.order() + picoseconds{200'000};
        machine_->core_at({0}).stand_still(when, picoseconds{50'000});
        machine_->core_at({1}).stand_still(when, picoseconds{50'000});
        machine_->core_at({1}).signal(picoseconds{1'000'000});
    });
    machine_->timeline().run(for_ever);
    EXPECT_EQ(counts().of(stall_cause::maintenance), 50'000U);
    EXPECT_EQ(machine_->core_at({1}).counts().of(stall_cause::maintenance), 0U);
}

// 12. Given a shared level that lines enter on eviction, when a line is read, then the level does not have
//     it; when L1 gives it up, clean as it is, then the level has it, and the next read does not go to DRAM.
TEST_F(S2CoreScenario, S12CleanVictimsEnterALevelOnEviction)
{
    settings wanted = small_machine(1);
    wanted.levels[0].cache.on_eviction = true;
    bool before = true;
    bool after = false;
    run(wanted, [&](core &own) {
        const cache &level = machine_->memory().level(0).storage();
        own.access(phys_addr{0}, 8, access_kind::read);
        before = level.contains(phys_addr{0});
        for (std::uint64_t way = 1; way < 5; ++way) {
            own.access(phys_addr{way * l1_way}, 8, access_kind::read);
        }
        after = level.contains(phys_addr{0});
        own.access(phys_addr{0}, 8, access_kind::read);
    });
    EXPECT_FALSE(before);
    EXPECT_TRUE(after);
    EXPECT_EQ(memory().line_reads, 5U);
    EXPECT_EQ(memory().level_hits, 1U);
    EXPECT_EQ(memory().line_writes, 0U);
    EXPECT_EQ(counts().of(core_event::l1d_write_back), 0U);
}

// 13. Given the same level, when the table walker reads a descriptor, then the level has it at once.
TEST_F(S2CoreScenario, S13DescriptorsEnterALevelWhenTheyAreFetched)
{
    settings wanted = small_machine(1);
    wanted.levels[0].cache.on_eviction = true;
    run(wanted, [](core &own) { own.walk_read(phys_addr{4096}, walk_path::l2); });
    EXPECT_TRUE(machine_->memory().level(0).storage().contains(phys_addr{4096}));
}

// 14. Given the same level, when two cores read a line of a shared frame at nearly the same time, then DRAM
//     is asked once, although the level does not have the line.
TEST_F(S2CoreScenario, S14ALineInFlightIsJoinedThoughNoLevelHasIt)
{
    settings wanted = small_machine(2);
    wanted.levels[0].cache.on_eviction = true;
    machine_ = make_machine(wanted);
    machine_->share(phys_addr{0}, byte_count{4096}, true);
    for (std::uint32_t i = 0; i < 2; ++i) {
        machine_->core_at({i}).start([i](core &own) {
            own.instructions(1 + i);
            own.access(line(3), 8, access_kind::read);
        });
    }
    machine_->timeline().run(for_ever);
    EXPECT_EQ(memory().line_reads, 1U);
    EXPECT_EQ(memory().joined, 1U);
}

// 15. Given eight loads in flight and four reads of any kind that may be, when eight lines are missed, then
//     the fifth waits; given prefetches of which two may be in flight, then no third is asked for.
TEST_F(S2CoreScenario, S15ReadsOfAnyKindAreLimited)
{
    settings wanted = with_loads(8);
    wanted.cores[0].reads = 4;
    picoseconds four{};
    picoseconds fifth{};
    run(wanted, [&](core &own) {
        four = time_of(own, [&] {
            for (std::uint64_t number = 0; number < 4; ++number) {
                own.access(line(100 * number), 8, access_kind::read);
            }
        });
        fifth = time_of(own, [&] { own.access(line(400), 8, access_kind::read); });
    });
    EXPECT_EQ(four.value, 0U);
    EXPECT_GT(fifth.value, 50'000U);

    wanted = with_loads(8);
    wanted.cores[0].prefetcher = {.streams = 1, .depth_lines = 8, .outstanding = 2, .confirmations = 0};
    run(wanted, [](core &own) {
        own.access(line(0), 8, access_kind::read);
        own.access(line(1), 8, access_kind::read);
    });
    EXPECT_EQ(memory().fetches, 4U);
}

// 16. Given a level whose port a fill takes for 50 ns, when another core looks something up while the fill
//     arrives, then it waits for the port.
TEST_F(S2CoreScenario, S16FillsTakeThePort)
{
    const auto hit_during_fill = [this](std::uint64_t at_ps) {
        settings wanted = small_machine(2);
        wanted.levels[0].occupancy_ps = 50'000;
        machine_ = make_machine(wanted);
        picoseconds took{};
        machine_->core_at({1}).start([&](core &own) {
            own.access(phys_addr{0}, 8, access_kind::read);
            for (std::uint64_t way = 1; way < 5; ++way) { // L1 gives it up, the level keeps it
                own.access(phys_addr{way * l1_way}, 8, access_kind::read);
            }
            own.spend(picoseconds{10'000'000} - own.clock() + picoseconds{at_ps});
            took = time_of(own, [&] { own.access(phys_addr{0}, 8, access_kind::read); });
        });
        machine_->core_at({0}).start([](core &own) {
            own.spend(picoseconds{10'000'000});
            own.access(line(5000), 8, access_kind::read); // it is here after some 130 ns
        });
        machine_->timeline().run(for_ever);
        return took.value;
    };
    EXPECT_EQ(hit_during_fill(500'000), 12'000U);
    std::uint64_t longest = 0;
    for (std::uint64_t at_ps = 60'000; at_ps < 250'000; at_ps += 10'000) {
        longest = std::max(longest, hit_during_fill(at_ps));
    }
    EXPECT_GT(longest, 12'000U + 40'000U);
}

// 17. Given four words of 16 bytes to a line, when two streams of whole lines are stored to in turn, then
//     they stop being fetched as one does; given stores so slow that fills arrive first, then all lines are
//     fetched.
TEST_F(S2CoreScenario, S17InterleavedStreamsOfWholeLinesAreNotFetched)
{
    constexpr std::uint64_t lines = 200;
    constexpr std::uint64_t apart = std::uint64_t{1} << 24U;
    for (const std::uint64_t instructions : {1, 400}) {
        settings wanted = small_machine(1);
        wanted.cores[0].write_streaming = {.lines = 3};
        run(wanted, [instructions](core &own) {
            for (std::uint64_t at = 0; at < lines * line_bytes; at += 16) {
                for (std::uint64_t stream = 0; stream < 2; ++stream) {
                    own.instructions(instructions);
                    own.access(phys_addr{stream * apart + at}, 16, access_kind::write);
                }
            }
        });
        if (instructions == 1) {
            EXPECT_LT(memory().line_reads, 12U);
        } else {
            EXPECT_EQ(memory().line_reads, 2 * lines);
        }
    }
}

// 18. Given a stream that is not fetched, when the line that is merged is read, then it is fetched after
//     all, and so are the next ones until three were whole in time again.
TEST_F(S2CoreScenario, S18AReadOfAMergedLineEndsTheStreaming)
{
    settings wanted = small_machine(1);
    wanted.cores[0].write_streaming = {.lines = 3};
    std::uint64_t before = 0;
    std::uint64_t after = 0;
    run(wanted, [&](core &own) {
        const auto store_lines = [&own](std::uint64_t from, std::uint64_t count) {
            for (std::uint64_t at = from; at < from + count * line_bytes; at += 16) {
                own.instructions(1);
                own.access(phys_addr{at}, 16, access_kind::write);
            }
        };
        store_lines(0, 20);
        own.access(line(20), 8, access_kind::write);
        before = machine_->memory().counts().line_reads;
        own.access(phys_addr{line(20).value + 8}, 8, access_kind::read);
        store_lines(21 * line_bytes, 20);
        after = machine_->memory().counts().line_reads;
    });
    EXPECT_EQ(before, 3U);
    EXPECT_EQ(after, before + 1 + 3);
}

// 11. Given a label and an owner, when a core misses and a dirty line of another owner and another partition
//     goes for it, then the read has the core's label and its line's owner, and the write the victim's both.
TEST_F(S2CoreScenario, S11OneRequestTravelsReadsAndWritesAlike)
{
    const line_request read{.line = line(5),
                            .owner = owner_id{3},
                            .master = 2,
                            .mpam = {.partition = 7, .monitor_group = 1},
                            .prefetch = true};
    const line_request write = read.write_of({line(9), owner_id{4}, {.partition = 9, .monitor_group = 2}});
    EXPECT_EQ(write.line, line(9));
    EXPECT_EQ(write.kind, access_kind::write);
    EXPECT_EQ(write.owner, owner_id{4});
    EXPECT_EQ(write.master, 2U);
    EXPECT_EQ(write.mpam.partition, 9U);
    EXPECT_EQ(write.mpam.monitor_group, 2U);
    EXPECT_FALSE(write.prefetch);
}

} // namespace

} // namespace bulkhead::machine::test::core_scenario_test
