// SPDX-License-Identifier: Apache-2.0
// USART and timer of STM32F7 chips, as RM0410 describes them.
#include "machine/devices/stm32_timer.h"
#include "machine/devices/stm32_usart.h"

#include <gtest/gtest.h>

#include "tests/machine/devices/timer_make.h"

namespace bulkhead::machine::devices::stm32_test {
namespace {

constexpr std::uint32_t cr1 = 0, dier = 0xC, sr = 0x10, egr = 0x14, cnt = 0x24, psc = 0x28, arr = 0x2C;

using timer_of_stm32 = test::timer_test<stm32_timer, 100'000'000>;

TEST_F(timer_of_stm32, counts_up_when_it_is_enabled)
{
    EXPECT_EQ(timer.read(cnt, tick(10)), 0U);
    EXPECT_EQ(timer.read(arr, tick(10)), 0xFFFFFFFFU);
    set(cr1, 1);
    EXPECT_EQ(timer.read(cnt, tick(10)), 10U);
    set(cnt, 1000);
    EXPECT_EQ(timer.read(cnt, tick(10)), 1010U);
}

TEST_F(timer_of_stm32, a_prescaler_counts_from_the_next_update_event_on)
{
    set(psc, 3);
    set(cr1, 1);
    EXPECT_EQ(timer.read(cnt, tick(8)), 8U);
    set(egr, 1);
    EXPECT_EQ(timer.read(cnt, tick(8)), 2U);
    EXPECT_EQ(timer.read(sr, tick(8)), 1U) << "the event is one that its status shows";
}

TEST_F(timer_of_stm32, starts_again_behind_its_reload_value_and_interrupts)
{
    set(arr, 9);
    set(dier, 1);
    set(cr1, 1);
    whole->timeline().run(tick(10));
    EXPECT_TRUE(line.empty()) << "what is due before the tenth tick has happened";
    whole->timeline().run(tick(11));
    ASSERT_EQ(line, std::vector<bool>{true});
    EXPECT_EQ(timer.read(cnt, tick(13)), 3U);
    set(sr, 0);
    EXPECT_EQ(line.back(), false);
}

TEST_F(timer_of_stm32, one_pulse_ends_it)
{
    set(arr, 9);
    set(cr1, 1 | 8);
    whole->timeline().run(tick(50));
    EXPECT_EQ(timer.read(cr1, tick(50)) & 1U, 0U);
    EXPECT_EQ(timer.read(cnt, tick(50)), 0U);
}

TEST(usart_of_stm32, sends_when_it_is_enabled_and_has_a_baud_rate)
{
    constexpr std::uint64_t brr = 0xC, isr = 0x1C, tdr = 0x28;
    std::string sent;
    stm32_usart one([&](std::uint8_t byte) { sent.push_back(static_cast<char>(byte)); }, [](bool) {});
    one.write(tdr, 'a');
    one.write(cr1, 1 | 8);
    one.write(tdr, 'b');
    EXPECT_EQ(sent, "");
    one.write(brr, 938);
    one.write(tdr, 'c');
    EXPECT_EQ(sent, "c");
    EXPECT_EQ(one.read(isr) & 0xC0U, 0xC0U) << "TXE and TC";
    EXPECT_NE(one.read(isr) & 1U << 21U, 0U) << "TEACK";
}

TEST(usart_of_stm32, a_line_with_a_clock_takes_ten_bits_for_a_byte_and_one_more_waits)
{
    picoseconds now{};
    std::string sent;
    constexpr std::uint64_t hz = 1'000'000;
    stm32_usart one([&](std::uint8_t byte) { sent.push_back(static_cast<char>(byte)); }, [](bool) {},
                    {hz, [&now] { return now; }});
    const auto takes = [&one] { return (one.read(0x1C) & 1U << 7U) != 0; };
    const auto is_through = [&one] { return (one.read(0x1C) & 1U << 6U) != 0; };

    one.write(0x0C, 2); // half a million bits a second: 20 us for a byte
    one.write(0x00, 1U << 3U | 1U);
    EXPECT_TRUE(takes() && is_through());
    one.write(0x28, 'a');
    EXPECT_TRUE(takes()) << "it has gone to the line at once";
    EXPECT_FALSE(is_through());
    one.write(0x28, 'b');
    EXPECT_FALSE(takes());
    now = picoseconds{19'999'999};
    EXPECT_FALSE(takes());
    now = picoseconds{20'000'000};
    EXPECT_TRUE(takes());
    EXPECT_FALSE(is_through());
    now = picoseconds{40'000'000};
    EXPECT_TRUE(is_through());
    EXPECT_EQ(sent, "ab");
}

TEST(usart_of_stm32, a_received_byte_interrupts_until_it_is_read)
{
    constexpr std::uint64_t isr = 0x1C, icr = 0x20, rdr = 0x24;
    std::vector<bool> line;
    stm32_usart one([](std::uint8_t) {}, [&](bool high) { line.push_back(high); });
    one.write(cr1, 1 | 4 | 1U << 5U);
    one.receive('x');
    one.receive('y');
    EXPECT_EQ(line, std::vector<bool>{true});
    EXPECT_EQ(one.read(isr) & 0x28U, 0x28U) << "RXNE and ORE";
    EXPECT_EQ(one.read(rdr), std::uint64_t{'x'});
    EXPECT_EQ(line.back(), false);
    one.write(icr, 8);
    EXPECT_EQ(one.read(isr) & 0x28U, 0U);
}

} // namespace
} // namespace bulkhead::machine::devices::stm32_test
