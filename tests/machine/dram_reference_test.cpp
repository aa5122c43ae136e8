// SPDX-License-Identifier: Apache-2.0
// Machine S7, DRAM scheduler and policies: the scheduler compared with the reference that evaluates every
// clock. Mixes of streams and pointer chases, with and without writes, on every standard and with every
// policy: the same commands in the same clocks, and so the same latencies and bandwidth.
#include "dram_checker.h"
#include "dram_make.h"
#include "machine/random.h"
#include "reference_scheduler.h"

namespace bulkhead::machine::dram::test::dram_reference_test {

namespace {

struct standard {
    const char *name;
    organization shape;
    timing values;
};

const std::vector<standard> &standards()
{
    static const std::vector<standard> all{
        {"sdr", sdr_shape(), sdr_108()},          {"ddr3", ddr3_shape(), ddr3_1066()},
        {"ddr4", ddr4_shape(), ddr4_2133()},      {"ddr4_two_ranks", ddr4_shape(2), ddr4_2133()},
        {"lpddr2", lpddr2_shape(), lpddr2_800()}, {"lpddr3", lpddr3_shape(), lpddr3_1572()},
        {"lpddr4", lpddr4_shape(), lpddr4_3200()}};
    return all;
}

struct named_policy {
    const char *name;
    policy how;
};

const std::vector<named_policy> &policies()
{
    static const std::vector<named_policy> all{
        {"watermarks", {}},
        {"short_queues_and_closed_pages",
         {.read_queue = 4,
          .write_queue = 4,
          .write_high = 3,
          .write_low = 1,
          .cap = 2,
          .page = page_policy::closed}},
        {"old_requests", {.cap = 1000, .age_limit = 150}},
        {"stores", {.stores = store_settings{}}},
        {"stores_that_rest", {.stores = store_settings{.starve = 64, .run = 8, .rest = 32, .idle = 1}}},
        {"stores_at_once",
         {.read_queue = 8, .write_queue = 8, .stores = store_settings{.starve = 1, .run = 1, .idle = 0}}},
        {"score", {.arbitration = arbitration{}}},
        {"score_and_closed_pages",
         {.read_queue = 6,
          .write_queue = 10,
          .page = page_policy::closed,
          .arbitration = arbitration{.row_hit = 7, .direction = 1, .age = 3, .most = 12, .guard = 4}}}};
    return all;
}

// An agent that requests lines, with at most `window` outstanding. A stride of 0: at random.
struct agent {
    std::uint32_t window;
    std::uint32_t stride;
    std::uint32_t one_write_in = 0; // 0: reads only
    clocks think = 0;               // between an answer and the next request
};

struct mix {
    const char *name;
    std::vector<agent> agents;
};

const std::vector<mix> &mixes()
{
    static const std::vector<mix> all{
        {"chase", {{1, 0}}},
        {"stream", {{12, 1}}},
        {"chase_beside_streams", {{1, 0, 0, 7}, {5, 1}, {3, 1}}},
        {"chases", {{1, 0}, {1, 0}, {1, 0, 0, 3}, {1, 0, 0, 40}}},
        {"scattered", {{16, 0}}},
        {"copies", {{6, 1}, {6, 1, 1}, {1, 0}}},
        {"scattered_writes", {{10, 0, 2}, {1, 0, 0, 11}}},
        {"one_bank", {{8, 128 * 16, 1}, {4, 128 * 16}, {1, 0, 0, 25}}},
    };
    return all;
}

struct outcome {
    std::vector<issued> commands;
    std::vector<clocks> latencies; // of all requests, sorted
    clocks end = 0;
    [[nodiscard]] double mean() const
    {
        double sum = 0;
        for (const clocks one : latencies) {
            sum += static_cast<double>(one);
        }
        return sum / static_cast<double>(latencies.size());
    }
    [[nodiscard]] clocks percentile_99() const { return latencies.at(latencies.size() * 99 / 100); }
};

// A closed loop of all agents, driven clock by clock, until `count` requests have been made.
template <class Scheduler> outcome run(const standard &on, const policy &how, const mix &load)
{
    constexpr std::uint64_t count = 500;
    struct asked {
        clocks when;
        std::size_t whose;
    };
    outcome seen;
    Scheduler scheduler(on.shape, on.values, how, &seen.commands);
    random_source random(7);
    std::multimap<clocks, std::size_t> due; // agent of each of the next requests
    std::map<std::uint64_t, asked> pending;
    std::vector<std::uint64_t> lines;
    for (std::size_t i = 0; i < load.agents.size(); ++i) {
        lines.push_back(i * 1'000'003);
        for (std::uint32_t n = 0; n < load.agents[i].window; ++n) {
            due.emplace(n % 3, i);
        }
    }
    const organization::counts &counts = on.shape.of();
    const auto place_of = [&](std::uint64_t line) {
        return place{.channel = 0,
                     .bank = static_cast<std::uint32_t>(line / counts.columns % on.shape.banks_per_channel()),
                     .row = static_cast<std::uint32_t>(line / counts.columns / on.shape.banks_per_channel() %
                                                       counts.rows),
                     .column = static_cast<std::uint32_t>(line % counts.columns)};
    };
    std::uint64_t id = 0;
    for (clocks now = 0; !pending.empty() || id < count; ++now) {
        for (; id < count && !due.empty() && due.begin()->first <= now; due.erase(due.begin())) {
            const std::size_t whose = due.begin()->second;
            const agent &own = load.agents[whose];
            std::uint64_t &line = lines[whose];
            line = own.stride == 0 ? random.below(1U << 20U) : line + own.stride;
            const bool write = own.one_write_in != 0 && id % own.one_write_in == 0;
            pending[id] = {now, whose};
            scheduler.request(id++, place_of(line), write, now);
        }
        scheduler.advance(now + 1);
        for (const auto &done : scheduler.completions()) {
            const asked &one = pending.at(done.id);
            seen.latencies.push_back(done.when - one.when);
            seen.end = std::max(seen.end, done.when);
            due.emplace(std::max(now + 1, done.when + load.agents[one.whose].think), one.whose);
            pending.erase(done.id);
        }
        scheduler.forget_completions();
        if (now > 4'000'000) {
            ADD_FAILURE() << pending.size() << " requests are never answered";
            break;
        }
    }
    std::sort(seen.latencies.begin(), seen.latencies.end());
    return seen;
}

std::string text(const issued &one)
{
    return std::string(name_of(one.what)) + " bank " + std::to_string(one.bank) + " row " +
           std::to_string(one.row) + " @" + std::to_string(one.when);
}

bool same(const issued &a, const issued &b)
{
    return a.when == b.when && a.what == b.what && a.bank == b.bank && a.row == b.row && a.column == b.column;
}

class S7DramReference : public testing::TestWithParam<std::tuple<std::size_t, std::size_t>> {
protected:
    const standard &on = standards().at(std::get<0>(GetParam()));
    const named_policy &by = policies().at(std::get<1>(GetParam()));
};

TEST_P(S7DramReference, MixesGetTheSameCommandsInTheSameClocks)
{
    for (const mix &load : mixes()) {
        const outcome expected = run<reference_scheduler>(on, by.how, load);
        const outcome seen = run<scheduler>(on, by.how, load);
        const std::string where = std::string(on.name) + ", " + by.name + ", " + load.name;
        const auto [a, b] = std::mismatch(expected.commands.begin(), expected.commands.end(),
                                          seen.commands.begin(), seen.commands.end(), same);
        ASSERT_TRUE(a == expected.commands.end() && b == seen.commands.end())
            << where << ": command " << a - expected.commands.begin() << " is "
            << (b != seen.commands.end() ? text(*b) : "missing") << ", the reference's is "
            << (a != expected.commands.end() ? text(*a) : "none");
        const std::vector<std::string> objections = violations(on.shape, on.values, expected.commands);
        EXPECT_TRUE(objections.empty()) << where << ": " << objections.front();
        EXPECT_EQ(seen.latencies, expected.latencies) << where;
        EXPECT_NEAR(seen.mean(), expected.mean(), 0.05 * expected.mean()) << where;
        EXPECT_LE(static_cast<double>(seen.percentile_99()),
                  1.05 * static_cast<double>(expected.percentile_99()))
            << where;
        EXPECT_LE(static_cast<double>(seen.end), 1.05 * static_cast<double>(expected.end)) << where;
    }
}

INSTANTIATE_TEST_SUITE_P(, S7DramReference,
                         testing::Combine(testing::Range<std::size_t>(0, standards().size()),
                                          testing::Range<std::size_t>(0, policies().size())),
                         [](const auto &one) {
                             return std::string(standards().at(std::get<0>(one.param)).name) + "_" +
                                    policies().at(std::get<1>(one.param)).name;
                         });

} // namespace

} // namespace bulkhead::machine::dram::test::dram_reference_test
