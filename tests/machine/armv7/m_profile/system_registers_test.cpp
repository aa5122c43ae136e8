// SPDX-License-Identifier: Apache-2.0
// SysTick, NVIC and system control block by their registers (DDI 0403E.e B3.2 to B3.4).
#include "tests/machine/armv7/m_profile/cortex_m7.h"

namespace bulkhead::machine::armv7::m_profile::test::system_registers_test {
namespace {

using registers_of_armv7m = cortex_m7;

constexpr std::uint64_t cycle_ps = 5000;
constexpr std::uint32_t enable = 1, tick_interrupt = 2, count_flag = 1U << 16U;

TEST_F(registers_of_armv7m, systick_counts_cycles_and_starts_again_behind_zero)
{
    on_core([this] {
        set(syst_rvr, 99);
        set(syst_cvr, 1234); // clears it
        set(syst_csr, enable);
        EXPECT_EQ(get(syst_cvr), 0U);
        own->instructions(1);
        EXPECT_EQ(get(syst_cvr), 99U);
        own->instructions(98);
        EXPECT_EQ(get(syst_cvr), 1U);
        EXPECT_EQ(get(syst_csr) & count_flag, 0U);
        own->instructions(1);
        EXPECT_EQ(get(syst_cvr), 0U);
        EXPECT_NE(get(syst_csr) & count_flag, 0U);
        EXPECT_EQ(get(syst_csr) & count_flag, 0U) << "reading clears it";
        own->instructions(1);
        EXPECT_EQ(get(syst_cvr), 99U) << "a period has one cycle more than the reload value";
    });
}

TEST_F(registers_of_armv7m, systick_interrupts_in_each_period)
{
    on_core([this] {
        set(scb_ccr, ccr_bit::data_cache | ccr_bit::instruction_cache);
        put_code(program, {0xE7FE});                     // b .
        put_code(handler(exception::systick), {0x4770}); // bx lr
        set(syst_rvr, 999);
        set(syst_cvr, 0);
        set(syst_csr, enable | tick_interrupt);
        EXPECT_EQ(cpu->run(10'500), 10'500U);
        EXPECT_EQ(system->entered()[exception::systick], 10U);
    });
}

TEST_F(registers_of_armv7m, a_systick_that_is_stopped_keeps_its_value)
{
    on_core([this] {
        set(syst_rvr, 99);
        set(syst_csr, enable);
        own->instructions(50);
        const std::uint32_t value = get(syst_cvr);
        set(syst_csr, 0);
        own->instructions(1000);
        EXPECT_EQ(get(syst_cvr), value);
        set(syst_csr, enable);
        own->instructions(value);
        EXPECT_EQ(get(syst_cvr), 0U);
    });
}

TEST_F(registers_of_armv7m, priorities_have_the_implemented_bits_and_can_be_written_by_bytes)
{
    on_core([this] {
        set(nvic_ipr, 0xFFFFFFFF);
        EXPECT_EQ(get(nvic_ipr), 0xF0F0F0F0U);
        EXPECT_TRUE(system->write({.address = nvic_ipr + 2, .bytes = 1}, 0x20));
        EXPECT_EQ(get(nvic_ipr), 0xF020F0F0U);
        EXPECT_EQ(system->read({.address = nvic_ipr + 2, .bytes = 1}), 0x20U);
        set(shpr3, 0xFFFFFFFF);
        EXPECT_EQ(get(shpr3), 0xF0F000F0U) << "PendSV, SysTick, DebugMonitor";
        EXPECT_EQ(get(nvic_ipr + 40), 0U) << "there are 40 interrupts";
        set(nvic_iser + 4, 0xFFFFFFFF);
        EXPECT_EQ(get(nvic_iser + 4), 0xFFU);
    });
}

TEST_F(registers_of_armv7m, statuses_are_cleared_by_ones)
{
    on_core([this] {
        set(shcsr, faults_on);
        state.r[pc] = program;
        fault_of_read(0x50000000);
        EXPECT_TRUE(system->write({.address = status, .bytes = 1}, 0xFF));
        EXPECT_EQ(get(status), cfsr::preciserr | cfsr::bfarvalid) << "that was MemManage's byte";
        EXPECT_TRUE(system->write({.address = status + 1, .bytes = 1}, 0xFF));
        EXPECT_EQ(get(status), 0U);
    });
}

TEST_F(registers_of_armv7m, a_wrong_key_changes_nothing_and_the_right_one_can_reset)
{
    on_core([this] {
        set(aircr, 0x12340000 | 3U << 8U | 4U);
        EXPECT_EQ(get(aircr), 0xFA050000U);
        EXPECT_EQ(system->end(), core_end::none);
        set(aircr, 0x05FA0000 | 3U << 8U);
        EXPECT_EQ(get(aircr), 0xFA050300U);
        set(aircr, 0x05FA0004);
        EXPECT_EQ(system->end(), core_end::reset);
    });
}

TEST_F(registers_of_armv7m, the_cycle_counter_counts_while_it_is_on)
{
    on_core([this] {
        set(dwt_ctrl, 1);
        own->instructions(10);
        EXPECT_EQ(get(dwt_cyccnt), 0U) << "tracing is off";
        set(demcr, 1U << 24U);
        own->instructions(10);
        EXPECT_EQ(get(dwt_cyccnt), 10U);
        set(dwt_cyccnt, 0xFFFFFFFF);
        own->instructions(3);
        EXPECT_EQ(get(dwt_cyccnt), 2U);
    });
}

TEST_F(registers_of_armv7m, software_makes_pending_and_takes_back)
{
    on_core([this] {
        set_special(sysm_primask, 1);
        set(icsr, 1U << 28U | 1U << 26U);
        EXPECT_EQ(get(icsr) >> 12U & 0x1FFU, exception::pendsv);
        set(icsr, 1U << 27U | 1U << 25U);
        EXPECT_FALSE(system->events().any_pending());
        set(nvic_ispr, 0x80);
        EXPECT_EQ(get(nvic_ispr), 0x80U);
        set(nvic_ispr + 0x80, 0x80);
        EXPECT_EQ(get(nvic_ispr), 0U);
    });
}

} // namespace
} // namespace bulkhead::machine::armv7::m_profile::test::system_registers_test
