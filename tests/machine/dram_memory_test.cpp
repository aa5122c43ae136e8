// SPDX-License-Identifier: Apache-2.0
// Machine S2: the interface of the memory controller: times in picoseconds, channels, profiling counters.
#include <filesystem>
#include <fstream>
#include <random>

#include "dram_make.h"
#include "machine/dram/memory.h"
#include "make.h"

namespace bulkhead::machine::dram::test::dram_memory_test {

namespace {

using machine::test::expect_made;
using machine::test::reason_of;

memory_settings settings(std::uint32_t channels = 1)
{
    const organization shape =
        shape_of({.channels = channels, .ranks = 1, .groups = 4, .banks = 4, .rows = 32768, .columns = 128});
    return {.shape = shape,
            .map = mapping::row_bank_column(shape),
            .base = phys_addr{0x4000'0000},
            .timings = without_refresh(ddr4_2133()),
            .how = {},
            .request_latency = {10'000},
            .answer_latency = {20'000}};
}

std::vector<memory::answer> finish(memory &dram)
{
    std::vector<memory::answer> answers;
    while (dram.next()) {
        dram.decide([&](const memory::answer &one) { answers.push_back(one); });
    }
    return answers;
}

TEST(S2Memory, AReadTakesTheLatenciesAroundActivateReadAndData)
{
    memory dram = expect_made(memory::make(settings()));
    const timing t = ddr4_2133();
    dram.request(7, phys_addr{0x4000'1000}, access_kind::read, {0});
    const std::vector<memory::answer> answers = finish(dram);
    ASSERT_EQ(answers.size(), 1U);
    const clock_domain clock(t.period_fs);
    const std::uint64_t edges = clock.edge_at({10'000}) + t.rcd + t.cl + t.burst;
    EXPECT_EQ(answers[0].id, 7U);
    EXPECT_EQ(answers[0].when, clock.time_of(edges) + picoseconds{20'000});
}

TEST(S2Memory, ChannelsWorkSideBySide)
{
    const auto last_answer = [](std::uint32_t channels) {
        memory dram = expect_made(memory::make(settings(channels)));
        const std::uint64_t apart = std::uint64_t{64} * 128 * 16; // the bit above column, group and bank
        for (std::uint64_t i = 0; i < 8; ++i) {
            dram.request(i, phys_addr{0x4000'0000 + i * apart}, access_kind::read, {0});
        }
        picoseconds last;
        for (const memory::answer &one : finish(dram)) {
            last = std::max(last, one.when);
        }
        return last;
    };
    EXPECT_LT(last_answer(2), last_answer(1)) << "half of the row conflicts in each channel";
}

TEST(S2Memory, TheProfileCountsWhatMoved)
{
    memory dram = expect_made(memory::make(settings()));
    for (std::uint64_t i = 0; i < 10; ++i) {
        dram.request(i, phys_addr{0x4000'0000 + i * 64}, i < 4 ? access_kind::write : access_kind::read, {0});
    }
    finish(dram);
    dram.advance({1'000'000'000}, [](const memory::answer &) {});
    const memory_profile seen = dram.profile({1'000'000'000});
    EXPECT_EQ(seen.read.value, 6U * 64);
    EXPECT_EQ(seen.written.value, 4U * 64);
    EXPECT_EQ(seen.cycles, clock_domain(937500).edge_at({1'000'000'000}));
    EXPECT_GT(seen.busy_cycles, 10U * 4);
    EXPECT_LT(seen.utilization(), 0.001) << "nothing happened for nearly all of the millisecond";
    EXPECT_NEAR(dram.peak_bytes_per_s(), 2133.33e6 * 8, 1e5);
}

// A regulator reads the counters at any time, with requests queued and in flight, and uses the differences.
TEST(S2Memory, AProfileReadInMidFlightNeverGoesBack)
{
    for (const std::uint32_t channels : {1U, 2U}) {
        memory_settings wanted = settings(channels);
        wanted.timings = ddr4_2133(); // with refresh
        memory dram = expect_made(memory::make(wanted));
        std::mt19937_64 draw(channels);
        memory_profile last{};
        picoseconds now{};
        bool in_flight = false;
        for (std::uint64_t i = 0; i < 20'000; ++i) {
            now = now + picoseconds{draw() % (i % 1000 < 500 ? 2'000 : 40'000)}; // bursts, and rest
            dram.advance(now, [](const memory::answer &) {});
            dram.request(i, phys_addr{0x4000'0000 + draw() % (1U << 24U) / 64 * 64},
                         draw() % 4 == 0 ? access_kind::write : access_kind::read, now);
            in_flight = in_flight || dram.next().has_value();
            const memory_profile seen = dram.profile(now);
            ASSERT_GE(seen.cycles, last.cycles);
            ASSERT_GE(seen.busy_cycles, last.busy_cycles);
            ASSERT_GE(seen.read.value, last.read.value);
            ASSERT_GE(seen.written.value, last.written.value);
            ASSERT_LE(seen.busy_cycles - last.busy_cycles, seen.cycles - last.cycles + 1) << "of rounding";
            last = seen;
        }
        EXPECT_TRUE(in_flight);
        EXPECT_GT(last.utilization(), 0.1);
        EXPECT_LT(last.utilization(), 1.0);
    }
}

// MPAM's hook: the control sees each request with its partition and decides when it may enter.
TEST(S2Memory, ABandwidthControlSeesThePartitionAndMayDelay)
{
    class half_a_microsecond_for_two final : public bandwidth_control {
    public:
        picoseconds admit(const request &what, picoseconds when) override
        {
            return what.label.partition == 2 ? std::max(when, picoseconds{500'000}) : when;
        }
        void entered(const request &what, picoseconds /*when*/) override
        {
            seen += std::to_string(what.label.partition) + (what.kind == access_kind::write ? "w" : "r") +
                    std::to_string(what.bytes.value) + " ";
        }
        void moved(std::size_t /*channel*/, std::uint16_t partition, byte_count bytes,
                   picoseconds /*when*/) override
        {
            served += std::to_string(partition) + ":" + std::to_string(bytes.value) + " ";
        }
        standing standing_of(std::size_t /*channel*/, std::uint16_t /*partition*/,
                             picoseconds /*when*/) override
        {
            return {};
        }
        picoseconds stands_until(picoseconds /*when*/) override { return {~std::uint64_t{0} / 2000}; }
        std::string seen;
        std::string served;
    };
    half_a_microsecond_for_two control;
    memory dram = expect_made(memory::make(settings()));
    dram.set_bandwidth_control(&control);
    dram.request(1, phys_addr{0x4000'0000}, access_kind::read, {0}, {.partition = 2});
    dram.request(2, phys_addr{0x4000'2000}, access_kind::write, {0}, {.partition = 7});
    const std::vector<memory::answer> answers = finish(dram);
    EXPECT_EQ(control.seen, "7w64 2r64 ");
    EXPECT_EQ(control.served, "7:64 2:64 ");
    for (const memory::answer &one : answers) {
        EXPECT_EQ(one.when.value >= 500'000, one.id == 1) << "request " << one.id;
    }
}

// The log contains the requests in order of their arrival at the controller, whatever the order of
// submission, and no more than was requested.
TEST(S2Memory, RequestsAreWrittenDownInOrderOfArrivalInEachFormat)
{
    const std::array<std::pair<const char *, const char *>, 3> formats{
        {{"dramsim3", "0x40000040 WRITE 11\n0x40001000 READ 43\n"},
         {"ramulator", "0x40000040 W\n0x40001000 R\n"},
         {"load-store", "ST 0x40000040\nLD 0x40001000\n"}}};
    for (const auto &[name, expected] : formats) {
        const std::string path = testing::TempDir() + "/requests." + name;
        request_log log = expect_made(request_log::open(path, *trace_format_of(name), 2));
        memory dram = expect_made(memory::make(settings()));
        dram.set_request_log(&log);
        dram.request(1, phys_addr{0x4000'1000}, access_kind::read, {30'000});
        dram.request(2, phys_addr{0x4000'0040}, access_kind::write, {0});
        dram.request(3, phys_addr{0x4000'2000}, access_kind::read, {50'000});
        finish(dram);
        EXPECT_EQ(log.close(), "");
        std::ifstream file(path);
        EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), expected) << name;
        EXPECT_TRUE(std::filesystem::remove(path));
        EXPECT_EQ(log.written(), 2U);
    }
    EXPECT_FALSE(trace_format_of("xml"));
    EXPECT_THAT(reason_of(request_log::open("/nowhere/requests", trace_format::dramsim3, 1)),
                testing::HasSubstr("No such file"));
    request_log full = expect_made(request_log::open("/dev/full", trace_format::dramsim3, 1));
    full.add(64, false, 1);
    EXPECT_THAT(full.close(), testing::HasSubstr("could not be written"));
}

TEST(S2Memory, ContradictionsAreRefused)
{
    memory_settings bad = settings();
    bad.how.read_queue = 0;
    EXPECT_THAT(reason_of(memory::make(bad)), testing::HasSubstr("queues of 1 to 1024"));
    bad = settings();
    bad.how.write_high = 33;
    EXPECT_THAT(reason_of(memory::make(bad)), testing::HasSubstr("watermarks"));
    bad = settings();
    bad.how.cap = 0;
    EXPECT_THAT(reason_of(memory::make(bad)), testing::HasSubstr("cap of 0"));
    bad = settings();
    bad.how.arbitration = arbitration{.age = 0};
    EXPECT_THAT(reason_of(memory::make(bad)), testing::HasSubstr("arbitration"));
    bad = settings();
    bad.timings.ras = 1;
    EXPECT_THAT(reason_of(memory::make(bad)), testing::HasSubstr("tRAS"));
    bad = settings();
    bad.how.write_low = 30;
    EXPECT_THAT(reason_of(memory::make(bad)), testing::HasSubstr("watermarks"));
    bad = settings();
    bad.map.row.pop_back();
    EXPECT_THAT(reason_of(memory::make(bad)), testing::HasSubstr("row"));
}

TEST(S2Clock, NothingHappensEarly)
{
    const clock_domain clock(937500);
    for (std::uint64_t when = 0; when < 5000; ++when) {
        const std::uint64_t edge = clock.edge_at({when});
        EXPECT_GE(clock.time_of(edge).value, when);
        EXPECT_TRUE(edge == 0 || (edge - 1) * 937500 < when * 1000);
    }
}

} // namespace

} // namespace bulkhead::machine::dram::test::dram_memory_test
