// SPDX-License-Identifier: Apache-2.0
// Which exceptions of Armv7-M are pending, active and enabled, their priorities, and which is taken next (Arm
// DDI 0403E.e B1.5). The registers of the NVIC and of the system handlers are views of this state
// (system_registers.h); stacking, vectors and timing are in the profile (m_profile.h).
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <optional>

namespace bulkhead::machine::armv7::m_profile {

// Exception numbers, as IPSR has them.
namespace exception {
inline constexpr std::uint32_t none = 0;
inline constexpr std::uint32_t reset = 1;
inline constexpr std::uint32_t nmi = 2;
inline constexpr std::uint32_t hard_fault = 3;
inline constexpr std::uint32_t mem_manage = 4;
inline constexpr std::uint32_t bus_fault = 5;
inline constexpr std::uint32_t usage_fault = 6;
inline constexpr std::uint32_t svcall = 11;
inline constexpr std::uint32_t debug_monitor = 12;
inline constexpr std::uint32_t pendsv = 14;
inline constexpr std::uint32_t systick = 15;
inline constexpr std::uint32_t first_interrupt = 16;
} // namespace exception

// PRIMASK, FAULTMASK and BASEPRI.
struct priority_masks {
    bool primask = false;
    bool faultmask = false;
    std::uint8_t basepri = 0; // 0: masks nothing
};

class exceptions {
public:
    static constexpr std::uint32_t most_interrupts = 240;
    static constexpr std::uint32_t most = exception::first_interrupt + most_interrupts;
    static constexpr int lowest_priority = 256; // of a thread without masks

    // `interrupts`: number of external ones, up to 240; `priority_bits`: number of implemented bits, 3 to 8.
    exceptions(std::uint32_t interrupts, std::uint32_t priority_bits)
        : count_(exception::first_interrupt + interrupts),
          priority_mask_(static_cast<std::uint8_t>(0xFF00U >> priority_bits))
    {
    }

    [[nodiscard]] std::uint32_t count() const { return count_; }

    [[nodiscard]] bool is_pending(std::uint32_t number) const { return pending_[number]; }
    [[nodiscard]] bool is_active(std::uint32_t number) const { return active_[number]; }
    [[nodiscard]] bool any_pending() const { return pending_.any(); }
    [[nodiscard]] std::size_t active_count() const { return active_.count(); }
    // True for exceptions that cannot be disabled.
    [[nodiscard]] bool is_enabled(std::uint32_t number) const
    {
        return !can_be_disabled(number) || enabled_[number];
    }
    void set_pending(std::uint32_t number, bool pending) { pending_[number] = pending; }
    void set_enabled(std::uint32_t number, bool enabled) { enabled_[number] = enabled; }
    // Called for software (SHCSR), and when an exception is entered or left without further effects.
    void set_active(std::uint32_t number, bool active) { active_[number] = active; }
    // Level of an interrupt's input: while it is high, the interrupt is pending whenever it is not active.
    void set_level(std::uint32_t number, bool high);

    // -3 to -1 for Reset, NMI and HardFault.
    [[nodiscard]] int priority(std::uint32_t number) const;
    [[nodiscard]] std::uint8_t priority_byte(std::uint32_t number) const { return priority_[number]; }
    // Bits that are not implemented are dropped.
    void set_priority(std::uint32_t number, std::uint8_t priority)
    {
        priority_[number] = priority & priority_mask_;
    }
    [[nodiscard]] std::uint8_t implemented(std::uint8_t priority) const { return priority & priority_mask_; }
    // AIRCR.PRIGROUP.
    [[nodiscard]] std::uint32_t priority_group() const { return priority_group_; }
    void set_priority_group(std::uint32_t group) { priority_group_ = group & 7U; }
    // The priority without the subpriority, which does not affect preemption.
    [[nodiscard]] int group_priority(int priority) const
    {
        const int group = 2 << priority_group_;
        return priority < 0 ? priority : priority - priority % group;
    }

    // ExecutionPriority() of the manual.
    [[nodiscard]] int execution_priority(const priority_masks &masks) const;
    // Whether the priority is that of HardFault, NMI or FAULTMASK.
    [[nodiscard]] bool is_negative(const priority_masks &masks) const
    {
        return masks.faultmask || active_[exception::hard_fault] || active_[exception::nmi];
    }

    // The pending and enabled exception with the highest urgency; among equal ones, that with the lowest
    // number.
    [[nodiscard]] std::optional<std::uint32_t> most_urgent() const;
    // The same, if it preempts code that executes with `priority`.
    [[nodiscard]] std::optional<std::uint32_t> preempting(int priority) const;
    // Whether an exception that can become pending without software, now or later, would preempt `priority`:
    // an enabled interrupt, or SysTick.
    [[nodiscard]] bool can_wake(int priority, bool systick_counts) const;

    // The exception is entered: it becomes active and is no longer pending.
    void enter(std::uint32_t number)
    {
        pending_[number] = false;
        active_[number] = true;
    }
    // Its handler has returned. If its input is still high, it is pending again.
    void leave(std::uint32_t number)
    {
        active_[number] = false;
        pending_[number] = pending_[number] || level_[number];
    }

private:
    static bool can_be_disabled(std::uint32_t number)
    {
        return number >= exception::first_interrupt ||
               (number >= exception::mem_manage && number <= exception::usage_fault) ||
               number == exception::debug_monitor;
    }

    std::uint32_t count_;
    std::uint8_t priority_mask_;
    std::uint32_t priority_group_ = 0;
    std::bitset<most> pending_;
    std::bitset<most> active_;
    std::bitset<most> enabled_;
    std::bitset<most> level_;
    std::array<std::uint8_t, most> priority_{};
};

} // namespace bulkhead::machine::armv7::m_profile
