// SPDX-License-Identifier: Apache-2.0
// Replay of traces: instructions and accesses in order, pages at their frames, and an end with a reason.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "machine/trace/recorded.h"
#include "machine/trace/replay.h"
#include "machine_make.h"
#include "trace_file.h"

namespace bulkhead::machine::test::trace_replay_test {

namespace {

using testing::ElementsAre;

struct noting_core {
    std::vector<std::string> notes;

    void instructions(std::uint64_t count) { notes.push_back("i" + std::to_string(count)); }
    void access(phys_addr address, std::uint32_t bytes, access_kind kind)
    {
        notes.push_back((kind == access_kind::write ? "w" : "r") + std::to_string(bytes) + "@" +
                        std::to_string(address.value));
    }
};

std::vector<phys_addr> frames(std::initializer_list<std::uint64_t> numbers)
{
    std::vector<phys_addr> made;
    for (const std::uint64_t number : numbers) {
        made.push_back({number * trace::page_bytes});
    }
    return made;
}

struct outcome {
    noting_core core;
    std::optional<refusal> refused;
};

outcome replayed(const std::vector<trace::record> &records, std::vector<phys_addr> given, int times = 1)
{
    write_trace(trace_path(), records, 9);
    auto opened = trace::reader::open(trace_path());
    trace::page_map pages(std::move(given));
    outcome result;
    for (; times > 0; --times) {
        result.refused = trace::replay(std::get<trace::reader>(opened), pages, result.core);
    }
    (void)std::remove(trace_path().c_str());
    return result;
}

TEST(TraceReplay, CallsTheCoreInTheRecordedOrder)
{
    const auto result =
        replayed({{0x5008, 4, access_kind::read, 3}, {0x5010, 0, access_kind::write, 2}}, frames({7}));
    EXPECT_FALSE(result.refused);
    EXPECT_THAT(result.core.notes, ElementsAre("i4", "r8@28680", "w4@28688", "i9"));
}

TEST(TraceReplay, GivesFramesInTheOrderOfFirstTouch)
{
    const auto result =
        replayed({{0x9000, 1, {}, 0}, {0x2000, 1, {}, 0}, {0x9001, 1, {}, 0}}, frames({1, 3}));
    EXPECT_THAT(result.core.notes, ElementsAre("i1", "r1@4096", "i1", "r1@12288", "i1", "r1@4097", "i9"));
}

TEST(TraceReplay, SplitsAnAccessThatCrossesPages)
{
    const auto result = replayed({{0x1FFE, 1, access_kind::write, 3}}, frames({5, 2}));
    EXPECT_THAT(result.core.notes, ElementsAre("i1", "w2@24574", "w6@8192", "i9"));
}

TEST(TraceReplay, EndsWithAReasonWhenItTouchesMoreThanItOwns)
{
    const auto result = replayed({{0x1000, 1, {}, 0}, {0x2000, 1, {}, 0}}, frames({5}));
    ASSERT_TRUE(result.refused);
    EXPECT_EQ(result.refused->reason, "the trace touches more than the 1 pages that it was given");
}

// On a core of the machine itself: the same digest twice, another one for other pages.
TEST(TraceReplay, DrivesACoreOfTheMachine)
{
    auto records = some_records(3000, 9);
    for (trace::record &each : records) {
        each.instructions %= 100; // some_records has gaps of years
    }
    write_trace(trace_path(), records, 9);
    std::vector<std::uint64_t> digests;
    for (const std::uint64_t first_page : {16U, 16U, 4096U}) {
        auto opened = trace::reader::open(trace_path());
        std::vector<phys_addr> given(3000);
        for (std::size_t i = 0; i < given.size(); ++i) {
            given[i] = {(first_page + i) * trace::page_bytes};
        }
        trace::page_map pages(std::move(given));
        const auto whole = make_machine(small_machine(1));
        std::optional<refusal> refused;
        whole->core_at({0}).start(
            [&](core &on) { refused = trace::replay(std::get<trace::reader>(opened), pages, on); });
        whole->timeline().run(for_ever);
        EXPECT_FALSE(refused);
        EXPECT_GT(whole->core_at({0}).counts().of(core_event::l1d_refill), 100U);
        digests.push_back(whole->digest());
    }
    (void)std::remove(trace_path().c_str());
    EXPECT_EQ(digests[0], digests[1]);
    EXPECT_NE(digests[0], digests[2]);
}

// A program on a core: replays with their times, repeated until the test stops it.
TEST(TraceRecorded, RunsUntilItsEndOrWithoutEnd)
{
    write_trace(trace_path(), {{0x5008, 400, access_kind::read, 3}, {0x6010, 200, access_kind::write, 2}}, 9);
    for (const std::uint64_t replays : {2U, 0U}) {
        const auto whole = make_machine(small_machine(1));
        auto made = trace::recorded::make(trace_path(), frames({16, 17}), whole->core_at({0}), replays);
        auto &program = *std::get<std::unique_ptr<trace::recorded>>(made);
        program.start();
        whole->timeline().run(picoseconds{100'000'000});
        const trace::recorded::report &report = program.outcome();
        EXPECT_EQ(report.ended, replays == 2);
        EXPECT_FALSE(report.trouble);
        ASSERT_GE(report.replays.size(), 2U);
        EXPECT_EQ(report.replays.size() > 2, replays == 0);
        EXPECT_EQ(report.replays[0].begin, picoseconds{0});
        EXPECT_EQ(report.replays[0].end, report.replays[1].begin);
        EXPECT_EQ(report.replays.back().end.has_value(), replays == 2);
        EXPECT_GE(whole->core_at({0}).counts().instructions, 2 * 609U);
    }
    (void)std::remove(trace_path().c_str());
}

TEST(TraceRecorded, EndsWithTheReasonAndLeavesOthersAlone)
{
    write_trace(trace_path(), {{0x5008, 4, {}, 3}, {0x6010, 2, {}, 2}}, 9);
    const auto whole = make_machine(small_machine(2));
    auto made = trace::recorded::make(trace_path(), frames({16}), whole->core_at({0}), 0);
    auto &program = *std::get<std::unique_ptr<trace::recorded>>(made);
    program.start();
    whole->core_at({1}).start([](core &on) { on.instructions(1000); });
    whole->timeline().run(for_ever);
    ASSERT_TRUE(program.outcome().trouble);
    EXPECT_EQ(*program.outcome().trouble, "the trace touches more than the 1 pages that it was given");
    EXPECT_TRUE(program.outcome().ended);
    EXPECT_EQ(whole->core_at({1}).counts().instructions, 1000U);
    (void)std::remove(trace_path().c_str());
}

TEST(TraceReplay, RunsAgainWithTheSamePages)
{
    const auto result = replayed({{0x1000, 2, {}, 0}}, frames({5}), 2);
    EXPECT_THAT(result.core.notes, ElementsAre("i2", "r1@20480", "i9", "i2", "r1@20480", "i9"));
}

} // namespace

} // namespace bulkhead::machine::test::trace_replay_test
