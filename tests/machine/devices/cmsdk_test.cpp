// SPDX-License-Identifier: Apache-2.0
// UART and timer of the Cortex-M System Design Kit, as DDI 0479D 4.1 and 4.3 define them.
#include "machine/devices/cmsdk_timer.h"
#include "machine/devices/cmsdk_uart.h"

#include <gtest/gtest.h>

#include "tests/machine/devices/timer_make.h"

namespace bulkhead::machine::devices::cmsdk_test {
namespace {

constexpr std::uint32_t timer_ctrl = 0, timer_value = 4, timer_reload = 8, timer_interrupt = 0xC;
constexpr std::uint64_t uart_data = 0, uart_state = 4, uart_ctrl = 8, uart_interrupt = 0xC,
                        uart_divider = 0x10;

using timer_of_cmsdk = test::timer_test<cmsdk_timer, 25'000'000>;

TEST_F(timer_of_cmsdk, counts_down_and_starts_again_from_its_reload_value)
{
    set(timer_reload, 9);
    set(timer_value, 5);
    set(timer_ctrl, 1);
    EXPECT_EQ(timer.read(timer_value, tick(0)), 5U);
    EXPECT_EQ(timer.read(timer_value, tick(4)), 1U);
    whole->timeline().run(tick(6));
    EXPECT_EQ(timer.read(timer_value, tick(5)), 0U);
    EXPECT_EQ(timer.read(timer_value, tick(6)), 9U);
    EXPECT_TRUE(line.empty()) << "its interrupt is off";
}

TEST_F(timer_of_cmsdk, interrupts_at_zero_until_it_is_cleared)
{
    set(timer_reload, 9);
    set(timer_ctrl, 9);
    whole->timeline().run(tick(10));
    EXPECT_TRUE(line.empty()) << "it loads in the first tick";
    whole->timeline().run(tick(11));
    EXPECT_EQ(line, std::vector<bool>{true});
    EXPECT_EQ(timer.read(timer_interrupt, tick(11)), 1U);
    set(timer_interrupt, 1);
    EXPECT_EQ(line.back(), false);
    whole->timeline().run(tick(31));
    EXPECT_EQ(line.size(), 3U) << "each period has ten ticks; one that nobody clears stays";
}

TEST_F(timer_of_cmsdk, stands_still_with_an_external_clock_or_off)
{
    set(timer_reload, 9);
    set(timer_value, 5);
    set(timer_ctrl, 5);
    EXPECT_EQ(timer.read(timer_value, tick(100)), 5U);
    set(timer_ctrl, 0);
    EXPECT_EQ(timer.read(timer_value, tick(200)), 5U);
}

TEST(uart_of_cmsdk, sends_when_it_is_on_and_its_divider_is_set)
{
    std::string sent;
    std::vector<bool> transmit;
    cmsdk_uart one([&](std::uint8_t byte) { sent.push_back(static_cast<char>(byte)); },
                   [&](bool high) { transmit.push_back(high); }, [](bool) {});
    one.write(uart_data, 'a');
    one.write(uart_ctrl, 1);
    one.write(uart_data, 'b');
    EXPECT_EQ(sent, "") << "the divider must be 16 at least";
    one.write(uart_divider, 16);
    one.write(uart_data, 'c');
    EXPECT_EQ(sent, "c");
    EXPECT_EQ(one.read(uart_state) & 1U, 0U) << "never full";
    EXPECT_TRUE(transmit.empty());
    one.write(uart_ctrl, 5);
    one.write(uart_data, 'd');
    EXPECT_EQ(transmit.back(), true);
    EXPECT_EQ(one.read(uart_interrupt), 1U);
    one.write(uart_interrupt, 1);
    EXPECT_EQ(transmit.back(), false);
}

TEST(uart_of_cmsdk, keeps_one_byte_and_says_that_it_lost_one)
{
    std::vector<bool> receive;
    cmsdk_uart one([](std::uint8_t) {}, [](bool) {}, [&](bool high) { receive.push_back(high); });
    one.receive('x');
    EXPECT_EQ(one.read(uart_state), 0U) << "receiving is off";
    one.write(uart_ctrl, 2 | 8);
    one.receive('x');
    one.receive('y');
    EXPECT_EQ(one.read(uart_state), 0xAU);
    EXPECT_EQ(receive.back(), true);
    EXPECT_EQ(one.read(uart_data), std::uint64_t{'x'});
    one.write(uart_state, 8);
    EXPECT_EQ(one.read(uart_state), 0U);
}

} // namespace
} // namespace bulkhead::machine::devices::cmsdk_test
