// SPDX-License-Identifier: Apache-2.0
// Entry to exceptions and return from them, as DDI 0403E.e B1.5 says.
#include "tests/machine/armv7/m_profile/cortex_m7.h"

namespace bulkhead::machine::armv7::m_profile::test::exception_flow_test {
namespace {

using exceptions_of_armv7m = cortex_m7;

constexpr std::uint32_t thread_stack = data + 0x800;
constexpr std::uint32_t to_handler = 0xFFFFFFF1, to_thread_main = 0xFFFFFFF9, to_thread_process = 0xFFFFFFFD;
constexpr std::uint32_t carry_and_thumb = 1U << 29U | 1U << 24U;

TEST_F(exceptions_of_armv7m, a_frame_has_eight_words_and_the_handler_knows_where_it_is)
{
    on_core([this] {
        state.r = {10, 11, 12, 13, 4, 5, 6, 7, 8, 9, 10, 11, 112, main_stack, 114, program + 2};
        state.c = true;
        system->svc(0);
        EXPECT_EQ(executing(), exception::svcall);
        EXPECT_EQ(state.r[pc], handler(exception::svcall));
        EXPECT_EQ(state.r[lr], to_thread_main);
        const std::uint32_t frame = main_stack - 32;
        EXPECT_EQ(state.r[sp], frame);
        EXPECT_EQ(word(frame), 10U);
        EXPECT_EQ(word(frame + 12), 13U);
        EXPECT_EQ(word(frame + 16), 112U);
        EXPECT_EQ(word(frame + 20), 114U);
        EXPECT_EQ(word(frame + 24), program + 2);
        EXPECT_EQ(word(frame + 28), carry_and_thumb);
        put(frame, 99);
        state.c = false;
        EXPECT_TRUE(system->exception_return(to_thread_main));
        EXPECT_EQ(state.r[0], 99U);
        EXPECT_EQ(state.r[pc], program + 2);
        EXPECT_EQ(state.r[sp], main_stack);
        EXPECT_TRUE(state.c);
        EXPECT_EQ(executing(), exception::none);
    });
}

TEST_F(exceptions_of_armv7m, a_stack_that_is_not_aligned_to_eight_bytes_is_and_returns_to_where_it_was)
{
    on_core([this] {
        state.r[sp] = main_stack - 12;
        system->svc(0);
        EXPECT_EQ(state.r[sp], main_stack - 48);
        EXPECT_NE(word(main_stack - 48 + 28) & 1U << 9U, 0U);
        EXPECT_TRUE(system->exception_return(to_thread_main));
        EXPECT_EQ(state.r[sp], main_stack - 12);
    });
}

TEST_F(exceptions_of_armv7m, it_state_is_in_the_frame_and_the_handler_starts_without_one)
{
    on_core([this] {
        state.it = 0b0001'1010;
        system->svc(0);
        EXPECT_EQ(state.it, 0);
        EXPECT_TRUE(system->exception_return(to_thread_main));
        EXPECT_EQ(state.it, 0b0001'1010);
    });
}

TEST_F(exceptions_of_armv7m, threads_have_a_stack_of_their_own_and_handlers_the_main_one)
{
    on_core([this] {
        be_a_thread(thread_stack);
        state.r[pc] = program;
        EXPECT_FALSE(system->privileged());
        system->svc(0);
        EXPECT_TRUE(system->privileged());
        EXPECT_EQ(state.r[lr], to_thread_process);
        EXPECT_EQ(state.r[sp], main_stack);
        EXPECT_EQ(special(sysm_psp), thread_stack - 32);
        set_special(sysm_psp, thread_stack - 64);
        put(thread_stack - 64 + 24, program + 8);
        put(thread_stack - 64 + 28, 1U << 24U);
        EXPECT_TRUE(system->exception_return(to_thread_process));
        EXPECT_EQ(state.r[pc], program + 8);
        EXPECT_EQ(state.r[sp], thread_stack - 32);
        EXPECT_FALSE(system->privileged());
    });
}

TEST_F(exceptions_of_armv7m, a_fault_while_a_frame_is_stored_comes_first_and_moves_the_stack_pointer)
{
    on_core([this] {
        set(mmfar, 0x1234);
        be_a_thread(data + 0x1000 + 16); // half of the frame is outside of the region
        state.r[pc] = program;
        system->svc(0);
        EXPECT_EQ(executing(), exception::mem_manage);
        EXPECT_EQ(get(status), cfsr::mstkerr) << "no address is valid";
        EXPECT_EQ(get(mmfar), 0x1234U);
        EXPECT_EQ(special(sysm_psp), data + 0x1000 - 16);
        EXPECT_NE(get(shcsr) & 1U << 15U, 0U) << "SVCall is still pending";
        set(shcsr, get(shcsr) & ~(1U << 15U));
        set_special(sysm_psp, thread_stack);
        put(thread_stack + 28, 1U << 24U);
        EXPECT_TRUE(system->exception_return(to_thread_process));
        EXPECT_EQ(executing(), exception::none) << "what was cancelled does not come";
    });
}

TEST_F(exceptions_of_armv7m, a_fault_while_a_frame_is_read_leaves_it_and_goes_to_the_fault_s_handler)
{
    on_core([this] {
        be_a_thread(thread_stack);
        state.r[pc] = program;
        system->svc(0);
        set_special(sysm_psp, data + 0x1000 - 16);
        EXPECT_TRUE(system->exception_return(to_thread_process));
        EXPECT_EQ(executing(), exception::mem_manage);
        EXPECT_EQ(get(status), cfsr::munstkerr);
        EXPECT_EQ(special(sysm_psp), data + 0x1000 - 16);
        EXPECT_EQ(state.r[lr], to_thread_process);
        EXPECT_EQ(get(shcsr) & 1U << 7U, 0U) << "SVCall is not active any more";
    });
}

TEST_F(exceptions_of_armv7m, a_frame_outside_of_memory_is_a_bus_error_of_the_stack)
{
    on_core([this] {
        set(shcsr, faults_on);
        set(shpr2, 0x80U << 24U);
        state.r[sp] = 0x30000000;
        system->svc(0);
        EXPECT_EQ(get(status), cfsr::stkerr);
        EXPECT_EQ(executing(), exception::bus_fault);
    });
}

TEST_F(exceptions_of_armv7m, faults_that_cannot_be_taken_become_hard_faults_and_then_lock_up)
{
    on_core([this] {
        set(mpu_ctrl, mpu_on);
        state.r[pc] = program;
        fault_of_read(data);
        EXPECT_EQ(executing(), exception::hard_fault) << "MemManage is not enabled";
        EXPECT_EQ(get(hard_status), hfsr::forced);
        EXPECT_EQ(get(status) & 0xFFU, cfsr::daccviol | cfsr::mmarvalid | cfsr::mstkerr)
            << "the frame could not be stored either";
        EXPECT_TRUE(system->read({.address = data})) << "HardFault's handler is not checked";
        system->undefined(0xDE00);
        EXPECT_EQ(system->end(), core_end::lockup);
    });
}

TEST_F(exceptions_of_armv7m, priorities_decide_between_a_fault_and_hard_fault)
{
    on_core([this] {
        set(shcsr, faults_on);
        set(shpr1, 0x40); // MemManage
        set_special(sysm_basepri, 0x40);
        set(mpu_ctrl, 5);
        region(0, data, for_all(12, 0));
        state.r[pc] = program;
        fault_of_read(data);
        EXPECT_EQ(executing(), exception::hard_fault) << "0x40 does not preempt 0x40";
    });
}

TEST_F(exceptions_of_armv7m, a_wrong_exc_return_is_a_usage_fault_in_place_of_the_return)
{
    on_core([this] {
        set(shcsr, faults_on);
        set(shpr2, 0x80U << 24U);
        state.r[pc] = program;
        system->svc(0);
        const std::uint32_t stack = state.r[sp];
        EXPECT_TRUE(system->exception_return(0xFFFFFFF5));
        EXPECT_EQ(executing(), exception::usage_fault);
        EXPECT_EQ(get(status), cfsr::invpc);
        EXPECT_EQ(state.r[lr], 0xFFFFFFF5U);
        EXPECT_EQ(state.r[sp], stack) << "no frame was read or stored";
    });
}

TEST_F(exceptions_of_armv7m, a_return_to_a_thread_must_be_of_the_last_active_handler)
{
    on_core([this] {
        set(shcsr, faults_on);
        set(shpr2, 0x80U << 24U);
        state.r[pc] = program;
        system->svc(0);
        system->undefined(0xDE00);
        EXPECT_EQ(executing(), exception::usage_fault);
        EXPECT_EQ(state.r[lr], to_handler);
        EXPECT_TRUE(system->exception_return(to_thread_main));
        EXPECT_EQ(executing(), exception::usage_fault) << "again, by INVPC";
        EXPECT_NE(get(status) & cfsr::invpc, 0U);
        EXPECT_TRUE(system->exception_return(to_handler));
        EXPECT_EQ(executing(), exception::svcall);
        set(scb_ccr, ccr_bit::nonbasethrdena);
        system->undefined(0xDE00);
        put(state.r[sp] + 28, 1U << 24U); // a thread's frame
        EXPECT_TRUE(system->exception_return(to_thread_main));
        EXPECT_EQ(executing(), exception::none);
    });
}

TEST_F(exceptions_of_armv7m, a_frame_of_the_wrong_mode_is_a_usage_fault)
{
    on_core([this] {
        set(shcsr, faults_on);
        state.r[pc] = program;
        system->svc(0);
        put(state.r[sp] + 28, 1U << 24U | exception::svcall);
        EXPECT_EQ(executing(), exception::svcall);
        EXPECT_TRUE(system->exception_return(to_thread_main));
        EXPECT_NE(get(status) & cfsr::invpc, 0U);
        EXPECT_EQ(executing(), exception::usage_fault);
    });
}

TEST_F(exceptions_of_armv7m, what_is_pending_at_a_return_is_entered_without_touching_the_stack)
{
    wanted.entry_cycles = 12;
    wanted.exit_cycles = 10;
    wanted.tail_chain_cycles = 6;
    on_core([this] {
        constexpr std::uint64_t cycle_ps = 5000;
        set(scb_ccr, ccr_bit::data_cache);
        state.r[pc] = program;
        system->svc(0); // lines of stack and vectors are in the cache
        EXPECT_TRUE(system->exception_return(to_thread_main));
        const picoseconds before = own->clock();
        system->svc(0);
        EXPECT_EQ((own->clock() - before).value, 12 * cycle_ps);
        set(icsr, 1U << 28U); // PendSV
        const std::uint32_t frame = state.r[sp];
        const picoseconds at_return = own->clock();
        EXPECT_TRUE(system->exception_return(to_thread_main));
        EXPECT_EQ((own->clock() - at_return).value, 6 * cycle_ps);
        EXPECT_EQ(executing(), exception::pendsv);
        EXPECT_EQ(state.r[sp], frame);
        EXPECT_EQ(state.r[lr], to_thread_main);
        const picoseconds at_last = own->clock();
        EXPECT_TRUE(system->exception_return(to_thread_main));
        EXPECT_EQ((own->clock() - at_last).value, 10 * cycle_ps);
        EXPECT_EQ(system->entered()[exception::svcall], 2U);
    });
}

TEST_F(exceptions_of_armv7m, a_more_urgent_one_that_arrives_during_stacking_takes_the_frame)
{
    on_core([this] {
        set(shpr2, 0x80U << 24U);
        state.r[pc] = program;
        state.r[sp] = slow + slow_bytes;
        set(nvic_iser, 1U << 3U);
        whole->timeline().at(own->clock() + picoseconds{250'000}, [this] { system->set_interrupt(3, true); });
        system->svc(0); // its frame takes eight times 100 ns
        EXPECT_EQ(executing(), exception::first_interrupt + 3);
        EXPECT_EQ(state.r[sp], slow + slow_bytes - 32);
        EXPECT_EQ(state.r[lr], to_thread_main);
        EXPECT_NE(get(shcsr) & 1U << 15U, 0U) << "SVCall is pending";
    });
}

TEST_F(exceptions_of_armv7m, masks_keep_interrupts_away_and_groups_of_priority_do_not_preempt_themselves)
{
    on_core([this] {
        set(nvic_iser, 3);
        set(nvic_ipr, 0x6040); // interrupt 0: 0x40, 1: 0x60
        set_special(sysm_basepri, 0x50);
        set(nvic_ispr, 2);
        system->attend();
        EXPECT_EQ(executing(), exception::none) << "0x60 is masked by 0x50";
        set_special(sysm_basepri_max, 0x80);
        EXPECT_EQ(special(sysm_basepri), 0x50U) << "BASEPRI_MAX does not lower it";
        set_special(sysm_basepri, 0);
        set_special(sysm_primask, 1);
        system->attend();
        EXPECT_EQ(executing(), exception::none);
        set_special(sysm_primask, 0);
        set(aircr, 0x05FA0000 | 6U << 8U); // bit 7 alone is the group
        system->attend();
        EXPECT_EQ(executing(), exception::first_interrupt + 1);
        set(nvic_ispr, 1);
        system->attend();
        EXPECT_EQ(executing(), exception::first_interrupt + 1) << "0x40 and 0x60 are one group";
        set(aircr, 0x05FA0000);
        system->attend();
        EXPECT_EQ(executing(), exception::first_interrupt);
    });
}

TEST_F(exceptions_of_armv7m, of_equal_priorities_the_lower_number_is_taken)
{
    on_core([this] {
        set(nvic_iser, 0xF0);
        set(nvic_ispr, 0xF0);
        system->attend();
        EXPECT_EQ(executing(), exception::first_interrupt + 4);
        EXPECT_EQ(get(icsr) >> 12U & 0x1FFU, exception::first_interrupt + 5) << "VECTPENDING";
    });
}

TEST_F(exceptions_of_armv7m, an_input_that_stays_high_interrupts_again_after_the_return)
{
    on_core([this] {
        state.r[pc] = program;
        set(nvic_iser, 1);
        system->set_interrupt(0, true);
        system->attend();
        EXPECT_EQ(executing(), exception::first_interrupt);
        EXPECT_EQ(get(nvic_ispr), 0U);
        EXPECT_TRUE(system->exception_return(to_thread_main));
        EXPECT_EQ(executing(), exception::first_interrupt);
        system->set_interrupt(0, false);
        EXPECT_TRUE(system->exception_return(to_thread_main));
        EXPECT_EQ(executing(), exception::none);
    });
}

TEST_F(exceptions_of_armv7m, faultmask_ends_with_the_handler_and_is_not_for_hard_fault)
{
    on_core([this] {
        state.r[pc] = program;
        system->svc(0);
        set_special(sysm_faultmask, 1);
        EXPECT_EQ(special(sysm_faultmask), 1U);
        EXPECT_TRUE(system->exception_return(to_thread_main));
        EXPECT_EQ(special(sysm_faultmask), 0U);
        system->breakpoint(0);
        EXPECT_EQ(executing(), exception::hard_fault);
        EXPECT_EQ(get(hard_status), hfsr::debugevt);
        set_special(sysm_faultmask, 1);
        EXPECT_EQ(special(sysm_faultmask), 0U) << "its priority is HardFault's already";
    });
}

TEST_F(exceptions_of_armv7m, special_registers_are_for_privileged_code)
{
    on_core([this] {
        set_special(sysm_psp, thread_stack);
        set_special(sysm_control, 1);
        EXPECT_EQ(special(sysm_psp), 0U);
        EXPECT_EQ(special(sysm_control), 1U);
        set_special(sysm_control, 0);
        set_special(sysm_primask, 1);
        EXPECT_TRUE(system->cps({.disable = true, .i = true, .f = true, .mode = {}}));
        EXPECT_EQ(special(sysm_control), 1U) << "a thread does not give itself privilege";
        EXPECT_FALSE(system->system().masks.primask);
        EXPECT_FALSE(system->system().masks.faultmask);
        EXPECT_FALSE(system->mrs(10)) << "there is no such register";
    });
}

TEST_F(exceptions_of_armv7m, the_core_halts_where_nothing_can_wake_it)
{
    on_core([this] {
        set(nvic_iser, 1);
        state.r[pc] = program;
        system->svc(0); // at priority 0, as the interrupt
        system->wfi();
        EXPECT_EQ(system->end(), core_end::halted);
    });
}

TEST_F(exceptions_of_armv7m, a_masked_interrupt_wakes_the_core)
{
    on_core([this] {
        set(nvic_iser, 1);
        set_special(sysm_primask, 1);
        const picoseconds later = own->clock() + picoseconds{1'000'000};
        whole->timeline().at(later, [this] { system->set_interrupt(0, true); });
        system->wfi();
        EXPECT_EQ(system->end(), core_end::none);
        EXPECT_GE(own->clock(), later);
        EXPECT_EQ(executing(), exception::none);
    });
}

TEST_F(exceptions_of_armv7m, coprocessors_are_absent)
{
    on_core([this] {
        set(shcsr, faults_on);
        state.r[pc] = program;
        system->undefined(0xEE000A10); // VMOV: coprocessor 10
        EXPECT_EQ(get(status), cfsr::nocp);
        set(0xE000ED88, 0xF00000); // CPACR
        EXPECT_EQ(get(0xE000ED88), 0U);
    });
}

} // namespace
} // namespace bulkhead::machine::armv7::m_profile::test::exception_flow_test
