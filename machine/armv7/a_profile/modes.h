// SPDX-License-Identifier: Apache-2.0
// The modes of Armv7-A without the security extensions' Monitor mode (DDI 0406C, B1.3): the banked registers
// of each, and the status registers. When the mode changes, it exchanges r8 to r14 of the registers that
// instructions see. It takes no exceptions and does not know memory.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "machine/armv7/registers.h"

namespace bulkhead::machine::armv7::a_profile {

// M[4:0] of CPSR.
enum class mode : std::uint8_t {
    user = 0x10,
    fiq = 0x11,
    irq = 0x12,
    supervisor = 0x13,
    abort = 0x17,
    undefined = 0x1B,
    system = 0x1F
};
[[nodiscard]] std::optional<mode> mode_from(std::uint32_t bits);

// Bits of CPSR in addition to those in machine/armv7/registers.h.
inline constexpr std::uint32_t psr_mode = 0x1F, psr_t = 1U << 5U, psr_f = 1U << 6U, psr_i = 1U << 7U;
inline constexpr std::uint32_t psr_a = 1U << 8U, psr_e = 1U << 9U, psr_j = 1U << 24U;

class modes {
public:
    // Supervisor mode with all exceptions masked, as after reset.
    explicit modes(registers &state) : state_(state) {}

    [[nodiscard]] mode current() const { return current_; }
    [[nodiscard]] bool privileged() const { return current_ != mode::user; }
    [[nodiscard]] bool masks_irq() const { return (masks_ & psr_i) != 0; }
    [[nodiscard]] bool big_endian() const { return (masks_ & psr_e) != 0; }

    [[nodiscard]] std::uint32_t cpsr() const;
    // Sets all bits, as an exception return does. If the mode does not exist, the present one stays.
    void set_cpsr(std::uint32_t value);
    // Sets the bits in `mask`, except ITSTATE, T and J.
    void change_cpsr(std::uint32_t value, std::uint32_t mask);

    [[nodiscard]] bool has_spsr() const { return current_ != mode::user && current_ != mode::system; }
    [[nodiscard]] std::uint32_t spsr() const { return spsr_[bank_of(current_)]; }
    void set_spsr(std::uint32_t value) { spsr_[bank_of(current_)] = value; }

    // A register as another mode sees it.
    [[nodiscard]] std::uint32_t banked(mode of, std::uint32_t number) const;
    void set_banked(mode of, std::uint32_t number, std::uint32_t value);

    // Enters a mode for an exception: SPSR gets the old CPSR, ITSTATE is cleared, `masks` are set in addition
    // to the present ones.
    void enter(mode next, std::uint32_t masks, bool thumb, bool big_endian);

private:
    static constexpr std::size_t banks = 6; // banks of r13, r14 and SPSR; User and System share the first
    static constexpr std::uint32_t first_of_fiq = 8, sp = 13, lr = 14;

    static std::size_t bank_of(mode of);
    void change_mode(mode next);

    registers &state_;
    mode current_ = mode::supervisor;
    std::uint32_t masks_ = psr_a | psr_i | psr_f; // A, I, F, E
    std::array<std::array<std::uint32_t, 2>, banks> sp_lr_{};
    std::array<std::uint32_t, banks> spsr_{};
    std::array<std::uint32_t, 5> fiq_{};  // r8 to r12 of FIQ mode, while another mode is active
    std::array<std::uint32_t, 5> rest_{}; // r8 to r12 of all other modes, while FIQ mode is active
};

} // namespace bulkhead::machine::armv7::a_profile
