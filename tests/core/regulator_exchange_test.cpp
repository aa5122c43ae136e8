// SPDX-License-Identifier: Apache-2.0
// How cores agree on an interval (B5): every order in which three cores can post, cores that leave and join,
// and threads that post, publish and take at once.
#include "core/regulator_exchange.h"
#include <algorithm>
#include <atomic>
#include <barrier>
#include <csignal>
#include <gtest/gtest.h>
#include <numeric>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace regulator_exchange_test {
namespace {

constexpr unsigned CORES = 3;
constexpr uint32_t ALL = (1u << CORES) - 1;

// The expected result of posts in some order: an interval is complete when all cores have posted it before
// any of them continued.
struct expectation {
    int64_t number = -1;
    uint32_t posted = ALL; // of an interval before the first
    uint64_t given_up = 0;

    bool post(unsigned core, int64_t interval)
    {
        if (interval > number) {
            given_up += posted != ALL;
            number = interval;
            posted = 0;
        }
        if (interval < number) {
            return false;
        }
        posted |= 1u << core;
        return posted == ALL;
    }
};

// All orders of `left[i]` more posts of each core i, those of a core in sequence. Returns how many orders.
uint64_t all_orders(regulator_exchange &exchange, expectation expected, std::array<unsigned, CORES> left,
                    unsigned intervals)
{
    const regulator_exchange before = exchange;
    uint64_t orders = left == std::array<unsigned, CORES>{} ? 1 : 0;

    for (unsigned core = 0; core < CORES; core++) {
        if (left[core] == 0) {
            continue;
        }
        const unsigned number = intervals - left[core];
        expectation after = expected;
        auto rest = left;
        rest[core]--;
        EXPECT_EQ(regulator_exchange_post(&exchange, core, number, 10 * number + core, core == 1),
                  after.post(core, number));
        EXPECT_EQ(exchange.given_up, after.given_up);
        if (after.posted == ALL && after.number == int64_t(number)) {
            regulator_sample sample{};
            regulator_exchange_collect(&exchange, number, &sample);
            for (unsigned i = 0; i < CORES; i++) {
                EXPECT_EQ(sample.accesses[i], 10 * number + i);
            }
            EXPECT_EQ(sample.throttled, 2u);
            EXPECT_EQ(sample.number, number);
        }
        orders += all_orders(exchange, after, rest, intervals);
        exchange = before;
    }
    return orders;
}

regulator_exchange exchange_of(uint32_t members, uint64_t number)
{
    regulator_exchange exchange{};
    regulator_exchange_init(&exchange, members, number);
    return exchange;
}

regulator_message message_of(uint64_t number)
{
    regulator_message message{};
    message.number = number;
    message.grid = {number + 1, number * 1000, 1000};
    std::iota(std::begin(message.budgets), std::end(message.budgets), number * 7);
    return message;
}

TEST(RegulatorExchange, B5_ExactlyTheLastPostOfACompleteIntervalSaysSoInAnyOrder)
{
    regulator_exchange exchange = exchange_of(ALL, 0);
    EXPECT_EQ(all_orders(exchange, {}, {3, 3, 3}, 3), 1680u); // 9! / (3! 3! 3!)
}

TEST(RegulatorExchange, B5_RepeatedAndForeignPostsAreIgnored)
{
    regulator_exchange exchange = exchange_of(ALL, 5);
    EXPECT_FALSE(regulator_exchange_post(&exchange, 0, 5, 100, false));
    EXPECT_FALSE(regulator_exchange_post(&exchange, 0, 5, 999, true));
    EXPECT_FALSE(regulator_exchange_post(&exchange, 7, 5, 999, true)); // not a member
    EXPECT_FALSE(regulator_exchange_post(&exchange, 1, 5, UINT64_MAX, false));
    EXPECT_FALSE(regulator_exchange_post(&exchange, 2, 4, 1, false)); // late
    EXPECT_TRUE(regulator_exchange_post(&exchange, 2, 5, 1, false));
    regulator_sample sample{};
    regulator_exchange_collect(&exchange, 5, &sample);
    EXPECT_EQ(sample.accesses[0], 100u);
    EXPECT_EQ(sample.accesses[1], REGULATOR_MAX_INTERVAL_EVENTS);
    EXPECT_EQ(sample.accesses[7], 0u);
    EXPECT_EQ(sample.throttled, 0u);
}

TEST(RegulatorExchange, B5_WhoLeavesIsNotWaitedFor)
{
    regulator_exchange exchange = exchange_of(ALL, 1);
    uint64_t number = 0;
    EXPECT_FALSE(regulator_exchange_post(&exchange, 0, 1, 1, false));
    EXPECT_FALSE(regulator_exchange_post(&exchange, 1, 1, 1, false));
    EXPECT_TRUE(regulator_exchange_leave(&exchange, 2, &number)); // now it is complete
    EXPECT_EQ(number, 1u);
    EXPECT_FALSE(regulator_exchange_leave(&exchange, 2, &number));
    EXPECT_FALSE(regulator_exchange_post(&exchange, 0, 2, 1, false));
    EXPECT_TRUE(regulator_exchange_post(&exchange, 1, 2, 1, false));
    EXPECT_FALSE(regulator_exchange_leave(&exchange, 0, &number)); // was complete already
    EXPECT_TRUE(regulator_exchange_post(&exchange, 1, 3, 1, false));
    EXPECT_FALSE(regulator_exchange_leave(&exchange, 1, &number));
    EXPECT_EQ(exchange.given_up, 0u);
}

TEST(RegulatorExchange, B5_WhoJoinsIsWaitedForFromTheNextIntervalOn)
{
    regulator_exchange exchange = exchange_of(3, 1);
    EXPECT_FALSE(regulator_exchange_post(&exchange, 0, 1, 1, false));
    regulator_exchange_join(&exchange, 2);
    regulator_exchange_join(&exchange, 2);
    EXPECT_TRUE(regulator_exchange_post(&exchange, 1, 1, 1, false));
    EXPECT_FALSE(regulator_exchange_post(&exchange, 0, 2, 1, false));
    EXPECT_FALSE(regulator_exchange_post(&exchange, 1, 2, 1, false));
    EXPECT_TRUE(regulator_exchange_post(&exchange, 2, 2, 1, false));
}

TEST(RegulatorExchange, B11_WhatACoreUsedBeforeItLeftCountsInThatIntervalAndInNoOther)
{
    for (const bool returns_early : {false, true}) { // before all others have posted
        regulator_exchange exchange = exchange_of(ALL, 6);
        regulator_sample sample{};
        uint64_t number = 0;
        regulator_exchange_note(&exchange, 2, 6, 700, true);
        EXPECT_FALSE(regulator_exchange_leave(&exchange, 2, &number));
        EXPECT_FALSE(regulator_exchange_post(&exchange, 0, 6, 1, false));
        if (returns_early) {
            regulator_exchange_join(&exchange, 2);
        }
        EXPECT_TRUE(regulator_exchange_post(&exchange, 1, 6, 1, false));
        regulator_exchange_collect(&exchange, 6, &sample);
        EXPECT_EQ(sample.accesses[2], 700u);
        EXPECT_EQ(sample.throttled, 4u);
        regulator_exchange_join(&exchange, 2);
        for (number = 7; number < 12; number++) {
            EXPECT_FALSE(regulator_exchange_post(&exchange, 0, number, 1, false));
            EXPECT_FALSE(regulator_exchange_post(&exchange, 1, number, 1, false));
            EXPECT_TRUE(regulator_exchange_leave(&exchange, 2, &number)); // without a note
            regulator_exchange_collect(&exchange, number, &sample);
            EXPECT_EQ(sample.accesses[2], 0u) << number;
            EXPECT_EQ(sample.accesses[1], 1u) << number;
            EXPECT_EQ(sample.throttled, 0u) << number;
            regulator_exchange_join(&exchange, 2);
        }
        EXPECT_EQ(exchange.given_up, 0u);
    }
}

TEST(RegulatorExchange, B11_WhoseLeavingCompletesTheIntervalIsCounted)
{
    regulator_exchange exchange = exchange_of(ALL, 1);
    regulator_sample sample{};
    uint64_t number = 0;
    EXPECT_FALSE(regulator_exchange_post(&exchange, 0, 1, 10, false));
    EXPECT_FALSE(regulator_exchange_post(&exchange, 1, 1, 11, false));
    regulator_exchange_note(&exchange, 2, 1, UINT64_MAX, false);
    EXPECT_TRUE(regulator_exchange_leave(&exchange, 2, &number));
    regulator_exchange_collect(&exchange, number, &sample);
    EXPECT_EQ(sample.accesses[0], 10u);
    EXPECT_EQ(sample.accesses[2], REGULATOR_MAX_INTERVAL_EVENTS);
    EXPECT_EQ(sample.throttled, 0u);
}

TEST(RegulatorExchange, B5_AMessageIsTakenWholeOrNotAtAll)
{
    regulator_exchange exchange = exchange_of(ALL, 1);
    regulator_message taken{};
    EXPECT_FALSE(regulator_exchange_take(&exchange, &taken)); // nothing was published
    const regulator_message message = message_of(2);
    regulator_exchange_publish(&exchange, &message);
    EXPECT_TRUE(regulator_exchange_take(&exchange, &taken));
    EXPECT_EQ(taken.number, 2u);
    EXPECT_EQ(taken.budgets[7], message.budgets[7]);
    EXPECT_EQ(taken.grid.start_ticks, 2000u);
    exchange.sequence++; // its writer has written it only in part
    EXPECT_FALSE(regulator_exchange_take(&exchange, &taken));
}

TEST(RegulatorExchange, B11_APublisherLearnsWhoseBudgetHasChanged)
{
    regulator_exchange exchange = exchange_of(ALL, 1);
    regulator_message message = message_of(2);
    EXPECT_EQ(regulator_exchange_publish(&exchange, &message), (1u << REGULATOR_MAX_CORES) - 1);
    EXPECT_EQ(regulator_exchange_publish(&exchange, &message), 0u);
    message.number = 3; // the number and the grid are no budgets
    message.grid.length_ticks *= 2;
    EXPECT_EQ(regulator_exchange_publish(&exchange, &message), 0u);
    message.budgets[0]++;
    message.budgets[7]--;
    EXPECT_EQ(regulator_exchange_publish(&exchange, &message), 1u << 0 | 1u << 7);
}

TEST(RegulatorExchange, B5_ThreadsThatPostAtOnceCompleteEachIntervalOnceAndTakeWholeMessages)
{
    constexpr uint64_t INTERVALS = 500;
    regulator_exchange exchange = exchange_of(ALL, 0);
    std::vector<std::atomic<unsigned>> completed(INTERVALS);
    std::atomic<uint64_t> wrong = 0;
    std::barrier begin(CORES);
    const auto take = [&](uint64_t least) {
        regulator_message message{};
        if (!regulator_exchange_take(&exchange, &message)) {
            return false;
        }
        const regulator_message whole = message_of(message.number);
        wrong += message.number < least ||
                 !std::equal(std::begin(whole.budgets), std::end(whole.budgets), message.budgets);
        return true;
    };
    const auto run = [&](unsigned core) {
        for (uint64_t number = 0; number < INTERVALS; number++) {
            begin.arrive_and_wait();
            if (regulator_exchange_post(&exchange, core, number, 1, false)) {
                completed[number]++;
                const regulator_message message = message_of(number + 1);
                regulator_exchange_publish(&exchange, &message);
            }
            for (int look = 0; look < 50; look++) { // while the publisher writes
                take(number);
            }
            begin.arrive_and_wait();
            wrong += !take(number + 1); // now it is complete
        }
    };
    std::vector<std::thread> threads;
    for (unsigned core = 0; core < CORES; core++) {
        threads.emplace_back(run, core);
    }
    for (auto &thread : threads) {
        thread.join();
    }
    for (const auto &count : completed) {
        ASSERT_EQ(count, 1u);
    }
    EXPECT_EQ(wrong, 0u);
    EXPECT_EQ(exchange.given_up, 0u);
}

TEST(RegulatorExchange, B5_AReaderBesideABusyWriterSeesNoMixture)
{
    constexpr uint64_t MESSAGES = 100000;
    regulator_exchange exchange = exchange_of(ALL, 0);
    std::atomic<bool> done = false;
    std::thread writer([&] {
        for (uint64_t number = 1; number <= MESSAGES; number++) {
            const regulator_message message = message_of(number);
            regulator_exchange_publish(&exchange, &message);
        }
        done = true;
    });
    uint64_t last = 0;
    uint64_t mixtures = 0;
    do {
        regulator_message message{};
        if (regulator_exchange_take(&exchange, &message)) {
            const regulator_message whole = message_of(message.number);
            mixtures += !std::equal(std::begin(whole.budgets), std::end(whole.budgets), message.budgets) ||
                        whole.grid.start_ticks != message.grid.start_ticks || message.number < last;
            last = message.number;
        }
    } while (!done || last != MESSAGES);
    writer.join();
    EXPECT_EQ(mixtures, 0u);
}

// A page that a reader writes to, and the message that is published at that time.
struct trap {
    regulator_exchange exchange;
    void *page;
    size_t bytes;
} overtaken;

void publish_now(int /*signal*/)
{
    const regulator_message message = message_of(2);
    mprotect(overtaken.page, overtaken.bytes, PROT_READ | PROT_WRITE);
    regulator_exchange_publish(&overtaken.exchange, &message);
}

TEST(RegulatorExchange, B5_AReaderThatIsOvertakenTakesNothing)
{
    const auto bytes = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    char *const pages = static_cast<char *>(
        mmap(nullptr, 2 * bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    ASSERT_NE(static_cast<void *>(pages), MAP_FAILED);
    // The first two words of the message precede the page that is not accessible yet.
    auto *const message = reinterpret_cast<regulator_message *>(pages + bytes - 2 * sizeof(uint64_t));
    overtaken = {exchange_of(ALL, 0), pages + bytes, bytes};
    const regulator_message first = message_of(1);
    regulator_exchange_publish(&overtaken.exchange, &first);
    struct sigaction before {};
    struct sigaction handler {};
    handler.sa_handler = publish_now;
    ASSERT_EQ(sigaction(SIGSEGV, &handler, &before), 0);
    ASSERT_EQ(mprotect(overtaken.page, bytes, PROT_NONE), 0);
    EXPECT_FALSE(regulator_exchange_take(&overtaken.exchange, message)) << "half of it is the new one";
    sigaction(SIGSEGV, &before, nullptr);
    EXPECT_TRUE(regulator_exchange_take(&overtaken.exchange, message));
    EXPECT_EQ(message->number, 2u);
    munmap(pages, 2 * bytes);
}

} // namespace
} // namespace regulator_exchange_test
