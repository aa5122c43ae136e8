// SPDX-License-Identifier: Apache-2.0
// A Cortex-M7 for tests of its system level: 64 KiB of code from 0 with a vector table, of which handler n is
// at handler(n), 64 KiB of data from 0x20000000, and slow memory. Tests run on the core's fiber.
#pragma once

#include <cstring>
#include <functional>
#include <memory>

#include <gtest/gtest.h>

#include "machine/armv7/m_profile/fault_status.h"
#include "machine/armv7/m_profile/m_profile.h"
#include "tests/machine/machine_make.h"

namespace bulkhead::machine::armv7::m_profile::test {

inline constexpr std::uint32_t code_bytes = 0x10000;
inline constexpr std::uint32_t data = 0x20000000;
inline constexpr std::uint32_t data_bytes = 0x10000;
inline constexpr std::uint32_t main_stack = data + data_bytes;
inline constexpr std::uint32_t program = 0x4000;
inline constexpr std::uint32_t slow = 0x28000000; // memory beyond the DRAM: the core waits for each access
inline constexpr std::uint32_t slow_bytes = 0x1000;

// Registers of the system control space.
inline constexpr std::uint32_t syst_csr = 0xE000E010, syst_rvr = 0xE000E014, syst_cvr = 0xE000E018;
inline constexpr std::uint32_t nvic_iser = 0xE000E100, nvic_ispr = 0xE000E200, nvic_ipr = 0xE000E400;
inline constexpr std::uint32_t icsr = 0xE000ED04, aircr = 0xE000ED0C, scb_scr = 0xE000ED10,
                               scb_ccr = 0xE000ED14;
inline constexpr std::uint32_t shpr1 = 0xE000ED18, shpr2 = 0xE000ED1C, shpr3 = 0xE000ED20;
inline constexpr std::uint32_t shcsr = 0xE000ED24, status = 0xE000ED28, hard_status = 0xE000ED2C;
inline constexpr std::uint32_t mmfar = 0xE000ED34, bfar = 0xE000ED38;
inline constexpr std::uint32_t ccsidr = 0xE000ED80, csselr = 0xE000ED84;
inline constexpr std::uint32_t mpu_ctrl = 0xE000ED94, mpu_rbar = 0xE000ED9C, mpu_rasr = 0xE000EDA0;
inline constexpr std::uint32_t demcr = 0xE000EDFC, dwt_ctrl = 0xE0001000, dwt_cyccnt = 0xE0001004;
inline constexpr std::uint32_t dccisw = 0xE000EF74;

inline constexpr std::uint32_t faults_on = 7U << 16U; // SHCSR: MemManage, BusFault, UsageFault
inline constexpr std::uint32_t mpu_on = 1, mpu_on_with_background = 5;
// SYSm of MRS and MSR.
inline constexpr std::uint32_t sysm_ipsr = 5, sysm_msp = 8, sysm_psp = 9, sysm_primask = 16,
                               sysm_basepri = 17, sysm_basepri_max = 18, sysm_faultmask = 19,
                               sysm_control = 20;

inline constexpr std::uint32_t handler(std::uint32_t number)
{
    return 0x1000 + number * 0x20;
}

// RASR: enabled, all may read and write Normal memory, size 2^bits.
inline constexpr std::uint32_t for_all(std::uint32_t bits, std::uint32_t ap = 3, bool execute_never = true)
{
    return (execute_never ? 1U << 28U : 0) | ap << 24U | 0xBU << 16U | (bits - 1) << 1U | 1U;
}

class cortex_m7 : public testing::Test {
protected:
    m_profile_settings wanted{.interrupts = 40, .priority_bits = 4, .caches = true};

    void on_core(const std::function<void()> &what)
    {
        settings hardware = machine::test::small_machine(1);
        hardware.cores[0].frequency_hz = 200'000'000; // 5 ns
        hardware.cores[0].width = 1;
        hardware.cores[0].l1i = hardware.cores[0].l1d;
        hardware.dram.bytes = slow;
        whole = machine::test::make_machine(hardware);
        const std::vector<memory_range> ranges{{phys_addr{0}, byte_count{code_bytes}},
                                               {phys_addr{data}, byte_count{data_bytes}},
                                               {phys_addr{slow}, byte_count{slow_bytes}}};
        memory = std::make_unique<ram>(machine::test::expect_made(ram::make(ranges)));
        bus = std::make_unique<physical_bus>(*memory, ranges);
        put(0, main_stack);
        put(4, program | 1U);
        for (std::uint32_t number = 2; number < 60; ++number) {
            put(4 * number, handler(number) | 1U);
        }
        whole->core_at({0}).start([&](core &on) {
            own = &on;
            system = std::make_unique<m_profile>(on, state, *bus, whole->timeline(), whole->ram(), wanted);
            cpu = std::make_unique<interpreter>(on, state, *system);
            ASSERT_TRUE(system->reset(0));
            what();
            whole->timeline().stop(); // SysTick would continue for ever
            cpu.reset();
        });
        whole->timeline().run(machine::test::for_ever);
    }

    // --- Memory, without time or checks ---

    void put(std::uint32_t address, std::uint32_t word)
    {
        std::memcpy(bus->memory(address, 4), &word, sizeof word);
    }
    void put_code(std::uint32_t address, std::initializer_list<std::uint16_t> halfwords)
    {
        for (const std::uint16_t each : halfwords) {
            std::memcpy(bus->memory(address, 2), &each, sizeof each);
            address += 2;
        }
    }
    [[nodiscard]] std::uint32_t word(std::uint32_t address) const
    {
        std::uint32_t value = 0;
        std::memcpy(&value, bus->memory(address, 4), sizeof value);
        return value;
    }

    // --- Registers, as the core's software accesses them ---

    [[nodiscard]] std::uint32_t get(std::uint32_t address)
    {
        return system->read({.address = address}).value_or(0xDEAD);
    }
    void set(std::uint32_t address, std::uint32_t value)
    {
        ASSERT_TRUE(system->write({.address = address}, value));
    }
    [[nodiscard]] std::uint32_t special(std::uint32_t which) { return system->mrs(which).value_or(0xDEAD); }
    void set_special(std::uint32_t which, std::uint32_t value) { ASSERT_TRUE(system->msr(which, 2, value)); }
    [[nodiscard]] std::uint32_t executing() { return special(sysm_ipsr); }

    void region(std::uint32_t number, std::uint32_t base, std::uint32_t rasr)
    {
        set(mpu_rbar, base | 1U << 4U | number);
        set(mpu_rasr, rasr);
    }
    // An unprivileged thread on its own stack, with code and data in regions 0 and 1; everything else is not
    // accessible to it.
    void be_a_thread(std::uint32_t stack)
    {
        set(shcsr, faults_on);
        set(shpr2, 0x80U << 24U);
        region(0, 0, for_all(16, 6, false));
        region(1, data, for_all(12));
        set(mpu_ctrl, mpu_on_with_background);
        set_special(sysm_psp, stack);
        set_special(sysm_control, 3);
    }
    void fault_of_read(std::uint32_t address)
    {
        ASSERT_FALSE(system->read({.address = address}));
        system->take_fault();
    }

    registers state;
    core *own = nullptr;
    std::unique_ptr<simulated_machine> whole;
    std::unique_ptr<ram> memory;
    std::unique_ptr<physical_bus> bus;
    std::unique_ptr<m_profile> system;
    std::unique_ptr<interpreter> cpu;
};

} // namespace bulkhead::machine::armv7::m_profile::test
