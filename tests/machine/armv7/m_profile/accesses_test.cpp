// SPDX-License-Identifier: Apache-2.0
// Accesses and fetches of a Cortex-M7: each is checked at its exact addresses, and takes the time of the
// memory or device there (DDI 0403E.e A3.2, B2.3, B3.5).
#include "tests/machine/armv7/m_profile/cortex_m7.h"

namespace bulkhead::machine::armv7::m_profile::test::accesses_test {
namespace {

using accesses_of_armv7m = cortex_m7;

constexpr std::uint32_t thread_stack = data + 0x800;
constexpr std::uint32_t border = data + 0x1000; // the thread's region ends here

TEST_F(accesses_of_armv7m, an_access_across_two_regions_needs_both)
{
    on_core([this] {
        be_a_thread(thread_stack);
        EXPECT_TRUE(system->read({.address = border - 4}));
        EXPECT_FALSE(system->read({.address = border - 2}));
        put(border - 4, 0x11111111);
        EXPECT_FALSE(system->write({.address = border - 1, .bytes = 2}, 0x2222));
        EXPECT_EQ(word(border - 4), 0x11111111U) << "no byte was written";
        system->take_fault();
        EXPECT_EQ(get(mmfar), border) << "the first byte that may not be accessed";
        EXPECT_EQ(get(status), cfsr::daccviol | cfsr::mmarvalid);
        region(2, border, for_all(5));
        set_special(sysm_control, 1);
        EXPECT_TRUE(system->exception_return(0xFFFFFFFD));
        EXPECT_TRUE(system->read({.address = border - 2}));
        EXPECT_TRUE(system->write({.address = border - 1, .bytes = 2}, 0x2222));
        EXPECT_EQ(word(border) & 0xFFU, 0x22U);
    });
}

// STMIA and LDMIA: each word is an access, the base register stays, and the instruction executes again.
TEST_F(accesses_of_armv7m, each_word_of_a_multiple_access_is_checked)
{
    on_core([this] {
        put_code(program, {0xC006, 0xE7FE}); // stmia r0!, {r1, r2}; b .
        be_a_thread(thread_stack);
        state.r[0] = border - 4;
        state.r[1] = 1;
        state.r[2] = 2;
        state.r[pc] = program;
        EXPECT_EQ(cpu->run(1), 1U) << "of the handler";
        EXPECT_EQ(executing(), exception::mem_manage);
        EXPECT_EQ(get(mmfar), border);
        EXPECT_EQ(word(special(sysm_psp)), border - 4) << "r0 in the frame";
        EXPECT_EQ(word(special(sysm_psp) + 24), program);
        region(2, border, for_all(5));
        EXPECT_TRUE(system->exception_return(0xFFFFFFFD));
        EXPECT_EQ(cpu->run(1), 1U);
        EXPECT_EQ(state.r[0], border + 4);
        EXPECT_EQ(word(border - 4), 1U);
        EXPECT_EQ(word(border), 2U);
        EXPECT_EQ(system->mpu_misses().faults, 1U);
        EXPECT_EQ(system->mpu_misses().misses, 1U) << "a region was loaded, and the instruction repeated";
    });
}

TEST_F(accesses_of_armv7m, a_fault_after_which_another_instruction_goes_on_is_no_miss)
{
    on_core([this] {
        be_a_thread(thread_stack);
        state.r[pc] = program;
        fault_of_read(border);
        put(special(sysm_psp) + 24, program + 4);
        EXPECT_TRUE(system->exception_return(0xFFFFFFFD));
        EXPECT_EQ(system->mpu_misses().faults, 1U);
        EXPECT_EQ(system->mpu_misses().misses, 0U);
    });
}

TEST_F(accesses_of_armv7m, unprivileged_loads_of_privileged_code_have_a_thread_s_rights)
{
    on_core([this] {
        set(shcsr, faults_on);
        region(0, data, for_all(12, 1));
        set(mpu_ctrl, mpu_on_with_background);
        EXPECT_TRUE(system->read({.address = data}));
        EXPECT_FALSE(system->read({.address = data, .unprivileged = true}));
    });
}

TEST_F(accesses_of_armv7m, alignment_is_checked_where_the_instruction_the_trap_or_the_memory_demands_it)
{
    on_core([this] {
        set(shcsr, faults_on);
        EXPECT_TRUE(system->read({.address = data + 2}));
        EXPECT_FALSE(system->read({.address = data + 2, .alignment = 4}));
        region(0, data, (for_all(12) & ~(0x3FU << 16U)) | 1U << 16U); // Device
        set(mpu_ctrl, mpu_on_with_background);
        EXPECT_FALSE(system->read({.address = data + 2}));
        set(mpu_ctrl, 0);
        set(scb_ccr, ccr_bit::unalign_trp);
        EXPECT_FALSE(system->read({.address = data + 1, .bytes = 2}));
        state.r[pc] = program;
        system->take_fault();
        EXPECT_EQ(executing(), exception::usage_fault);
        EXPECT_EQ(get(status), cfsr::unaligned);
    });
}

TEST_F(accesses_of_armv7m, code_needs_the_right_to_execute_and_its_fault_has_no_address)
{
    on_core([this] {
        be_a_thread(thread_stack);
        put_code(data + 0x100, {0xBF00});
        state.r[pc] = data + 0x100;
        EXPECT_EQ(cpu->run(1), 1U);
        EXPECT_EQ(executing(), exception::mem_manage);
        EXPECT_EQ(get(status), cfsr::iaccviol);
        EXPECT_EQ(word(special(sysm_psp) + 24), data + 0x100);
    });
}

TEST_F(accesses_of_armv7m, code_outside_of_memory_is_a_bus_error_and_a_device_is_never_executed)
{
    on_core([this] {
        EXPECT_FALSE(system->fetch(0x00800000));
        EXPECT_FALSE(system->fetch(0x40000000));
        set(shcsr, faults_on);
        state.r[pc] = 0x00800000;
        EXPECT_FALSE(system->fetch(0x00800000));
        system->take_fault();
        EXPECT_EQ(executing(), exception::bus_fault);
        EXPECT_EQ(get(status), cfsr::ibuserr);
        EXPECT_TRUE(system->fetch(program));
        EXPECT_EQ(system->fetch(program)->bytes, code_bytes - program);
    });
}

TEST_F(accesses_of_armv7m, loads_of_nothing_are_precise_bus_errors_and_stores_imprecise_ones)
{
    on_core([this] {
        set(shcsr, faults_on);
        state.r[pc] = program;
        EXPECT_TRUE(system->write({.address = 0x50000000}, 1));
        system->attend();
        EXPECT_EQ(executing(), exception::bus_fault);
        EXPECT_EQ(get(status), cfsr::impreciserr);
        set(status, cfsr::impreciserr);
        EXPECT_TRUE(system->exception_return(0xFFFFFFF9));
        fault_of_read(0x50000000);
        EXPECT_EQ(get(status), cfsr::preciserr | cfsr::bfarvalid);
        EXPECT_EQ(get(bfar), 0x50000000U);
    });
}

TEST_F(accesses_of_armv7m, the_private_bus_is_for_privileged_code_whatever_the_mpu_says)
{
    on_core([this] {
        region(0, 0, for_all(32));
        be_a_thread(thread_stack);
        state.r[pc] = program;
        EXPECT_FALSE(system->read({.address = icsr}));
        EXPECT_FALSE(system->write({.address = system_registers::stir}, 3));
        system->take_fault();
        EXPECT_EQ(get(status), cfsr::preciserr | cfsr::bfarvalid);
        EXPECT_EQ(get(bfar), system_registers::stir);
        set(scb_ccr, ccr_bit::usersetmpend);
        EXPECT_TRUE(system->exception_return(0xFFFFFFFD));
        EXPECT_TRUE(system->write({.address = system_registers::stir}, 3));
        EXPECT_TRUE(system->events().is_pending(exception::first_interrupt + 3));
    });
}

TEST_F(accesses_of_armv7m, devices_are_asked_by_words_at_the_time_of_the_access)
{
    on_core([this] {
        std::uint32_t kept = 0x44332211;
        bus->add({0x40001000, 0x10, [&](std::uint32_t) { return kept; },
                  [&](std::uint32_t offset, std::uint32_t value) { kept = offset + value; }});
        const picoseconds before = own->clock();
        EXPECT_EQ(system->read({.address = 0x40001006, .bytes = 1}), 0x33U);
        EXPECT_EQ((own->clock() - before).value, whole->made_from().device_ps);
        EXPECT_TRUE(system->write({.address = 0x40001008}, 5));
        EXPECT_EQ(kept, 13U);
    });
}

TEST_F(accesses_of_armv7m, caches_are_off_until_they_are_turned_on)
{
    on_core([this] {
        const auto past_caches = [this] { return own->count_of(core_event::uncached); };
        EXPECT_TRUE(system->read({.address = data}));
        EXPECT_EQ(past_caches(), 1U);
        EXPECT_FALSE(system->fetch(program)->cached);
        set(scb_ccr, ccr_bit::data_cache | ccr_bit::instruction_cache);
        EXPECT_TRUE(system->fetch(program)->cached);
        EXPECT_TRUE(system->read({.address = data}));
        EXPECT_TRUE(system->read({.address = data + 4}));
        EXPECT_EQ(past_caches(), 1U);
        EXPECT_EQ(own->count_of(core_event::l1d_refill), 1U);
        region(0, data, (for_all(12) & ~(0x3FU << 16U)) | 1U << 19U); // Normal, not cacheable
        set(mpu_ctrl, mpu_on_with_background);
        EXPECT_TRUE(system->read({.address = data}));
        EXPECT_EQ(past_caches(), 2U);
    });
}

TEST_F(accesses_of_armv7m, lines_are_cleaned_by_set_and_way)
{
    on_core([this] {
        set(scb_ccr, ccr_bit::data_cache);
        set(data + 64, 7);
        EXPECT_TRUE(own->holds(phys_addr{data + 64}));
        set(csselr, 0);
        const std::uint32_t id = get(ccsidr);
        const std::uint32_t sets = (id >> 13U & 0x7FFFU) + 1, ways = (id >> 3U & 0x3FFU) + 1;
        EXPECT_EQ(sets * ways * 16U << (id & 7U), 32U * 1024U) << "bytes";
        for (std::uint32_t way = 0; way < ways; ++way) {
            set(dccisw, way << 30U | 1U << ((id & 7U) + 4));
        }
        EXPECT_FALSE(own->holds(phys_addr{data + 64}));
    });
}

} // namespace
} // namespace bulkhead::machine::armv7::m_profile::test::accesses_test
