// SPDX-License-Identifier: Apache-2.0
// A DMA channel as its driver sees it: bytes arrive completely and in place however they are cut, interrupts
// come when all is written, lists are followed to their end, and an address that it cannot reach ends it with
// an error.
#include "machine/devices/zdma.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "tests/machine/machine_make.h"

namespace bulkhead::machine::devices::zdma_test {
namespace {

namespace reg = zdma_register;

class dma_channel : public testing::Test {
protected:
    static constexpr std::uint64_t memory_bytes = 1 << 18;
    static constexpr std::uint32_t stop = 2U << 3U;
    static constexpr std::uint32_t linked = 1U << 1U;
    static constexpr std::uint32_t interrupt = 1U << 2U;

    explicit dma_channel(const settings &wanted = machine::test::small_machine(1))
        : machine(machine::test::make_machine(wanted))
    {
    }

    std::unique_ptr<simulated_machine> machine;
    std::vector<std::byte> memory = std::vector<std::byte>(memory_bytes);
    std::vector<picoseconds> rises;
    zdma_channel channel{timing({16'000}), around()};

    static zdma_channel::settings timing(picoseconds line)
    {
        return {.start = {100'000}, .finish = {50'000}, .line = line, .burst_lines = 2};
    }
    zdma_channel::surroundings around()
    {
        return {.timeline = machine->timeline(),
                .memory = machine->memory(),
                .way = {{}, 0},
                .owner = {3},
                .bytes =
                    [this](phys_addr at, byte_count count, access_kind) {
                        return at.value + count.value > memory_bytes
                                   ? std::span<std::byte>{}
                                   : std::span(memory).subspan(at.value, count.value);
                    },
                .line =
                    [this](bool high) {
                        if (high) {
                            rises.push_back(machine->timeline().now());
                        }
                    }};
    }
    void fill(std::uint64_t at, std::uint64_t count)
    {
        std::mt19937 random(static_cast<std::uint32_t>(at + count));
        for (std::uint64_t i = at; i < at + count; ++i) {
            memory[i] = static_cast<std::byte>(random());
        }
    }
    void simple(std::uint64_t from, std::uint64_t to, std::uint32_t bytes)
    {
        simple(channel, from, to, bytes);
    }
    static void simple(zdma_channel &which, std::uint64_t from, std::uint64_t to, std::uint32_t bytes)
    {
        which.write(reg::source_words, static_cast<std::uint32_t>(from));
        which.write(reg::source_words + 8, bytes);
        which.write(reg::destination_words, static_cast<std::uint32_t>(to));
        which.write(reg::destination_words + 8, bytes);
    }
    void run()
    {
        channel.write(reg::ier, 0xFFF);
        channel.write(reg::ctrl2, 1);
        machine->timeline().run(engine::never);
    }
    void descriptor(std::uint64_t at, std::uint64_t address, std::uint32_t bytes, std::uint32_t control,
                    std::uint64_t next = 0)
    {
        std::memcpy(&memory[at], &address, 8);
        std::memcpy(&memory[at + 8], &bytes, 4);
        std::memcpy(&memory[at + 12], &control, 4);
        if ((control & linked) != 0) {
            std::memcpy(&memory[at + 16], &next, 8);
        }
    }
    void lists(std::uint64_t source, std::uint64_t destination)
    {
        channel.write(reg::ctrl0, 1U << 6U);
        channel.write(reg::source_start, static_cast<std::uint32_t>(source));
        channel.write(reg::destination_start, static_cast<std::uint32_t>(destination));
    }
    [[nodiscard]] bool same(std::uint64_t a, std::uint64_t b, std::uint64_t count) const
    {
        return std::memcmp(&memory[a], &memory[b], count) == 0;
    }
};

TEST_F(dma_channel, CopiesAndInterruptsOnceAllIsWritten)
{
    fill(0x1000, 4096);
    simple(0x1000, 0x9000, 4096);
    run();
    EXPECT_TRUE(same(0x1000, 0x9000, 4096));
    EXPECT_EQ(channel.read(reg::isr), zdma_channel::done);
    EXPECT_EQ(channel.read(reg::status), 0U);
    EXPECT_EQ(channel.read(reg::total_bytes), 4096U);
    ASSERT_EQ(rises.size(), 1U);
    channel.write(reg::isr, zdma_channel::done);
    EXPECT_FALSE(channel.line());
}

TEST_F(dma_channel, TakesNoLessTimeThanItsBusNeeds)
{
    simple(0, 0x20000, 65536);
    run();
    ASSERT_EQ(rises.size(), 1U);
    EXPECT_GE(rises[0].value, 100'000U + 1024U * 16'000U + 50'000U);
    EXPECT_LE(rises[0].value, 2 * 1024U * 16'000U); // this bus is slower than the DRAM behind it
}

TEST_F(dma_channel, IsHeldToTheRateOfItsRegulator)
{
    const std::uint64_t rate = 500'000'000;
    machine->memory().reads_of(0).set({.rate_bytes_per_s = rate, .burst_bytes = 64});
    simple(0, 0x20000, 65536);
    run();
    ASSERT_EQ(rises.size(), 1U);
    EXPECT_GE(rises[0].value, 65536ULL * 1'000'000'000'000 / rate - 200'000);
}

TEST_F(dma_channel, PropertyAnyAlignmentAndLengthArrivesWholeAndTouchesNothingElse)
{
    std::mt19937 random{7};
    for (int round = 0; round < 60; ++round) {
        const std::uint64_t from = random() % 500;
        const std::uint64_t to = 0x8000 + random() % 500;
        const auto bytes = static_cast<std::uint32_t>(random() % 1500);
        fill(0, 0x10000);
        const std::vector<std::byte> before = memory;
        simple(from, to, bytes);
        run();
        std::vector<std::byte> expected = before;
        std::copy_n(before.begin() + static_cast<std::ptrdiff_t>(from), bytes,
                    expected.begin() + static_cast<std::ptrdiff_t>(to));
        ASSERT_EQ(memory, expected) << from << " -> " << to << ", " << bytes;
        channel.write(reg::isr, 0xFFF);
    }
}

TEST_F(dma_channel, FollowsListsOfDifferentPieces)
{
    fill(0x1000, 0x3000);
    descriptor(0x100, 0x1000, 1000, linked, 0x140);
    descriptor(0x140, 0x1000 + 1000, 3000, 0); // the next one follows it
    descriptor(0x150, 0x1000 + 4000, 96, stop);
    descriptor(0x200, 0x9000, 2048, linked | interrupt, 0x240);
    descriptor(0x240, 0x9800, 2048, stop | interrupt);
    lists(0x100, 0x200);
    run();
    EXPECT_TRUE(same(0x1000, 0x9000, 4096));
    EXPECT_EQ(channel.read(reg::destination_interrupts), 2U);
    EXPECT_EQ(channel.read(reg::destination_interrupts), 0U); // cleared by reading
    EXPECT_EQ(channel.read(reg::isr), zdma_channel::done | zdma_channel::destination_descriptor_done);
}

TEST_F(dma_channel, EndsWithAnErrorWhereItMayNotReadOrWrite)
{
    simple(memory_bytes, 0, 64);
    run();
    EXPECT_EQ(channel.read(reg::isr), zdma_channel::read_error);
    EXPECT_EQ(channel.read(reg::status), 3U);
    channel.write(reg::isr, 0xFFF);
    simple(0, memory_bytes - 64, 128);
    run();
    EXPECT_EQ(channel.read(reg::isr), zdma_channel::write_error);
}

class dma_channel_with_one_write : public dma_channel {
protected:
    static settings one_write()
    {
        settings all = machine::test::small_machine(1);
        all.writes_in_flight = 1;
        return all;
    }
    dma_channel_with_one_write() : dma_channel(one_write()) {}
};

// A failing read ends it while a write of it waits for the other channel of the port, which continues. Its
// pace determines when that read comes.
TEST_F(dma_channel_with_one_write, AFailedOneKeepsNoPlace)
{
    for (std::uint64_t pace = 20'000; pace <= 400'000; pace += 20'000) {
        zdma_channel failing{timing({pace}), around()};
        simple(failing, memory_bytes - 1024, 0, 4096);
        failing.write(reg::ctrl2, 1);
        simple(0x4000, 0x8000, 16384);
        run();
        ASSERT_EQ(failing.read(reg::status), 3U);
        ASSERT_EQ(channel.read(reg::status), 0U) << "it waits for ever, " << pace;
    }
}

TEST_F(dma_channel, AListThatNeverMovesAByteOrMoreThanItHasRoomForIsAnError)
{
    descriptor(0x100, 0x1000, 0, linked, 0x100); // to itself
    descriptor(0x200, 0x9000, 64, stop);
    lists(0x100, 0x200);
    run();
    EXPECT_EQ(channel.read(reg::isr), zdma_channel::source_descriptor_error);
    channel.write(reg::isr, 0xFFF);
    descriptor(0x100, 0x1000, 128, stop);
    run();
    EXPECT_EQ(channel.read(reg::isr), zdma_channel::destination_descriptor_error);
}

TEST_F(dma_channel, CanBeStartedAgainAndMaskedInterruptsStayQuiet)
{
    simple(0x1000, 0x2000, 64);
    channel.write(reg::ids, 0xFFF);
    channel.write(reg::ctrl2, 1);
    machine->timeline().run(engine::never);
    EXPECT_TRUE(rises.empty());
    EXPECT_FALSE(channel.busy());
    channel.write(reg::ier, zdma_channel::done);
    EXPECT_TRUE(channel.line()); // it was latched
    channel.write(reg::isr, zdma_channel::done);
    run();
    EXPECT_EQ(rises.size(), 2U);
}

TEST_F(dma_channel, TwoRunsGiveTheSameDigest)
{
    simple(0x1000, 0x9000, 32768);
    run();
    const std::uint64_t first = machine->digest();
    std::unique_ptr<simulated_machine> other = machine::test::make_machine(machine::test::small_machine(1));
    zdma_channel again{
        {.start = {100'000}, .finish = {50'000}, .line = {16'000}, .burst_lines = 2},
        {.timeline = other->timeline(),
         .memory = other->memory(),
         .way = {{}, 0},
         .owner = {3},
         .bytes = [this](phys_addr at, byte_count count,
                         access_kind) { return std::span(memory).subspan(at.value, count.value); },
         .line = [](bool) {}}};
    for (const auto &[offset, value] : {std::pair{reg::source_words, 0x1000U},
                                        {reg::source_words + 8, 32768U},
                                        {reg::destination_words, 0x9000U},
                                        {reg::destination_words + 8, 32768U},
                                        {reg::ctrl2, 1U}}) {
        again.write(offset, value);
    }
    other->timeline().run(engine::never);
    EXPECT_EQ(other->digest(), first);
}

} // namespace
} // namespace bulkhead::machine::devices::zdma_test
