// SPDX-License-Identifier: Apache-2.0
// Machine S2: properties of every stream of requests, on several standards and policies: the data sheet is
// kept, every request is served exactly once, no more bytes move than the bus can carry, streams come close
// to that, and the same input gives the same commands.
#include "dram_checker.h"
#include "dram_make.h"
#include "machine/random.h"

namespace bulkhead::machine::dram::test::dram_property_test {

namespace {

struct setting {
    const char *name;
    organization shape;
    timing values;
    policy how;
};

std::vector<setting> settings()
{
    return {{"ddr4", ddr4_shape(), ddr4_2133(), {}},
            {"ddr4, two ranks, closed pages", ddr4_shape(2), ddr4_2133(), {.page = page_policy::closed}},
            {"ddr3, short queues",
             ddr3_shape(),
             ddr3_1066(),
             {.read_queue = 4, .write_queue = 4, .write_high = 3, .write_low = 1, .cap = 2}},
            {"sdr", sdr_shape(), sdr_108(), {}},
            {"lpddr2", lpddr2_shape(), lpddr2_800(), {}},
            {"ddr4, four ranks, long queues and a cap of 1",
             ddr4_shape(4),
             ddr4_2133(),
             {.read_queue = 64, .write_queue = 48, .write_high = 40, .write_low = 0, .cap = 1}},
            {"lpddr2, closed pages", lpddr2_shape(), lpddr2_800(), {.page = page_policy::closed}},
            {"ddr3, by score", ddr3_shape(), ddr3_1066(), {.arbitration = arbitration{}}},
            {"ddr4, two ranks, closed pages, short queues, by score",
             ddr4_shape(2),
             ddr4_2133(),
             {.read_queue = 4,
              .write_queue = 6,
              .page = page_policy::closed,
              .arbitration = arbitration{.row_hit = 7, .direction = 0, .age = 3, .most = 7, .guard = 0}}}};
}

// Requests that mix streams, conflicts, bursts and silence. `jumps`: one in that many goes elsewhere.
struct generator {
    random_source random;
    const organization::counts counts;
    std::uint32_t jumps = 4;
    place at{};
    place next()
    {
        if (random.below(jumps) == 0) {
            at = {.channel = 0,
                  .bank = random.below(counts.ranks * counts.groups * counts.banks),
                  .row = random.below(3),
                  .column = random.below(counts.columns)};
        } else {
            at.column = (at.column + 1) % counts.columns;
        }
        return at;
    }
    clocks pause() { return random.below(8) == 0 ? random.below(400) : random.below(3); }
};

class S2DramProperty : public testing::TestWithParam<std::size_t> {
protected:
    setting given = settings().at(GetParam());
};

TEST_P(S2DramProperty, EveryStreamKeepsTheDataSheetAndServesEachRequestOnce)
{
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        channel channel(given.shape, given.values, given.how);
        generator requests{random_source(seed), given.shape.of(),
                           1 + static_cast<std::uint32_t>(seed % 5) * 4};
        const std::uint32_t one_write_in =
            1 + static_cast<std::uint32_t>(seed % 4); // writes only, ..., a quarter
        clocks now = 0;
        std::uint64_t reads = 0;
        std::uint64_t writes = 0;
        constexpr std::uint64_t count = 600;
        for (std::uint64_t id = 0; id < count; ++id) {
            const bool write = requests.random.below(one_write_in) == 0;
            now += requests.pause();
            channel.request(id, requests.next(), write, now);
            (write ? writes : reads) += 1;
        }
        channel.run();
        const std::vector<std::string> objections = violations(given.shape, given.values, channel.in_order());
        EXPECT_TRUE(objections.empty()) << given.name << ", seed " << seed << ": " << objections.front();
        ASSERT_EQ(channel.completed.size(), count);
        for (const auto &[id, times] : channel.completed) {
            EXPECT_EQ(times.size(), 1U) << "request " << id;
        }
        const scheduler_statistics statistics =
            channel.get().statistics(channel.in_order().back().when + 100);
        const auto commands = [&statistics](command what) {
            return statistics.commands[static_cast<std::size_t>(what)];
        };
        EXPECT_EQ(commands(command::read) + statistics.forwarded, reads);
        EXPECT_EQ(commands(command::write) + statistics.merged, writes);
    }
}

TEST_P(S2DramProperty, SameInputSameCommands)
{
    std::string first;
    for (int run = 0; run < 2; ++run) {
        channel channel(given.shape, given.values, given.how);
        generator requests{random_source(99), given.shape.of()};
        for (std::uint64_t id = 0; id < 500; ++id) {
            channel.request(id, requests.next(), id % 3 == 0, id * 5);
        }
        channel.run();
        if (run == 0) {
            first = channel.commands();
        }
        EXPECT_EQ(channel.commands(), first);
    }
}

// Queries in between must not change anything: the scheduler works event by event, whoever drives it.
TEST_P(S2DramProperty, SmallStepsAndLargeStepsIssueTheSame)
{
    channel large(given.shape, given.values, given.how);
    channel small(given.shape, given.values, given.how);
    for (channel *const one : {&large, &small}) {
        generator requests{random_source(5), given.shape.of()};
        clocks now = 0;
        for (std::uint64_t id = 0; id < 300; ++id) {
            const clocks next = now + requests.pause() * 3;
            for (clocks t = now; one == &small && t < next; ++t) {
                one->run_until(t);
            }
            now = next;
            one->request(id, requests.next(), id % 4 == 0, now);
        }
        one->run();
    }
    EXPECT_EQ(small.commands(), large.commands());
}

// A closed loop of `window` reads: bytes per clock of the data bus, 1 is the peak.
double bus_share(const setting &given, std::uint32_t window, bool random, std::uint32_t write_every)
{
    scheduler scheduler(given.shape, given.values, given.how);
    random_source source(3);
    constexpr std::uint64_t count = 20000;
    std::uint64_t sent = 0;
    std::uint64_t finished = 0;
    std::vector<clocks> ends;
    clocks now = 0;
    std::uint64_t line = 0;
    const auto address = [&] {
        const std::uint64_t n = random ? source.next() : line++;
        const std::uint32_t columns = given.shape.of().columns;
        const std::uint32_t banks = given.shape.banks_per_channel();
        const std::uint32_t groups = given.shape.groups_per_channel();
        // Neighbouring lines alternate between bank groups, as controllers map them.
        const auto group = static_cast<std::uint32_t>(n % groups);
        const auto bank = static_cast<std::uint32_t>(n / groups / columns % (banks / groups));
        return place{.channel = 0,
                     .bank = group * (banks / groups) + bank,
                     .row = static_cast<std::uint32_t>(n / columns / banks % given.shape.of().rows),
                     .column = static_cast<std::uint32_t>(n / groups % columns)};
    };
    while (finished < count) {
        for (; sent - finished - ends.size() < window && ends.size() < window; ++sent) {
            const bool write = write_every != 0 && sent % write_every == 0;
            scheduler.request(sent, address(), write, now);
        }
        const clocks next = scheduler.due();
        for (const auto &one : scheduler.completions()) {
            ends.push_back(one.when);
        }
        scheduler.forget_completions();
        const auto first = std::min_element(ends.begin(), ends.end());
        if (first != ends.end() && *first <= next) {
            now = std::max(now, *first);
            scheduler.advance(now);
            ends.erase(first);
            ++finished;
        } else if (next != scheduler::never) {
            now = std::max(now, next);
            scheduler.advance(now + 1);
        }
        if (sent - finished < window) {
            continue;
        }
    }
    const scheduler_statistics statistics = scheduler.statistics(now);
    const std::uint64_t bursts = statistics.commands[static_cast<std::size_t>(command::read)] +
                                 statistics.commands[static_cast<std::size_t>(command::write)];
    return static_cast<double>(bursts * given.values.burst) / static_cast<double>(now);
}

TEST_P(S2DramProperty, StreamsComeCloseToThePeakAndNothingExceedsIt)
{
    const double stream = bus_share(given, 16, false, 0);
    const double mixed = bus_share(given, 16, false, 3);
    const double scattered = bus_share(given, 16, true, 0);
    const double scattered_writes = bus_share(given, 16, true, 1);
    // Time taken by refresh does not count against the scheduler.
    const double refresh =
        given.values.refi == 0 ? 0 : static_cast<double>(given.values.rfc) / given.values.refi;
    for (const double share : {stream, mixed, scattered, scattered_writes}) {
        EXPECT_LE(share, 1.0) << given.name;
    }
    if (given.how.read_queue >= 16 && given.how.page == page_policy::open) {
        EXPECT_GT(stream, 0.9 * (1 - refresh)) << given.name;
    }
    EXPECT_LT(scattered, stream) << given.name;
}

INSTANTIATE_TEST_SUITE_P(, S2DramProperty, testing::Range<std::size_t>(0, 9),
                         [](const auto &one) { return "setting" + std::to_string(one.param); });

// The checker is useful only if it objects: it finds a stream with one gap too short, for every rule.
TEST(S2DramJudge, FindsEveryGapThatIsOneClockTooShort)
{
    const organization shape = ddr4_shape(2);
    const timing values = ddr4_2133();
    const auto scope_bank = [](scope where, std::uint32_t other_rank) {
        return where == scope::bank    ? 0U
               : where == scope::group ? 1U
               : where == scope::rank  ? 4U
                                       : other_rank;
    };
    for (const constraint &rule : values.constraints()) {
        if (rule.first == command::refresh && rule.then == command::refresh) {
            continue; // covered by the state: no row is open in between
        }
        const std::uint32_t bank = scope_bank(rule.where, 16);
        for (const std::uint32_t distance : {rule.distance - 1, rule.distance}) {
            // A row that must be open has been open for long; one that must be closed is.
            std::vector<issued> log;
            clocks when = 0;
            const auto open = [&](std::uint32_t which, command what) {
                if (what != command::activate && what != command::refresh &&
                    std::none_of(log.begin(), log.end(),
                                 [&](const issued &one) { return one.bank == which; })) {
                    log.push_back({when += 100, command::activate, which, 1, 0});
                }
            };
            open(0, rule.first);
            if (rule.where != scope::bank || rule.first == command::precharge) {
                open(bank, rule.then);
            }
            when += 1000;
            const bool reopened = rule.where == scope::bank && rule.first == command::activate;
            log.push_back({when, rule.first, 0, 1, 0});
            if (reopened && rule.then == command::activate) {
                log.push_back({when + values.ras, command::precharge, 0, 1, 0});
            }
            log.push_back({when + distance, rule.then, bank, 1, 0});
            std::vector<std::string> objections = violations(shape, values, log);
            std::erase_if(objections, [](const std::string &text) {
                return text.find("while bank") != std::string::npos ||
                       text.find("was refreshed") != std::string::npos ||
                       text.find("tRP") != std::string::npos;
            });
            const bool only_rule_is_rp = rule.rule == "tRP" || (reopened && rule.then == command::activate);
            if (distance == rule.distance) {
                EXPECT_TRUE(objections.empty()) << rule.rule << ": " << objections.front();
            } else if (!only_rule_is_rp) {
                EXPECT_FALSE(objections.empty())
                    << rule.rule << " " << name_of(rule.first) << " to " << name_of(rule.then);
            }
        }
    }
}

} // namespace

} // namespace bulkhead::machine::dram::test::dram_property_test
