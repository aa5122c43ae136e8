// SPDX-License-Identifier: Apache-2.0
// The registers that instructions of an Armv7 core use in every mode: r0 to r15 and the application program
// status (Arm DDI 0406C.d A2.3, A2.4; DDI 0403E.e B1.4). Banked registers, modes and masks belong to the
// profile, which exchanges r[13] and r[14] itself if they are banked.
#pragma once

#include <array>
#include <cstdint>

namespace bulkhead::machine::armv7 {

inline constexpr std::uint32_t sp = 13;
inline constexpr std::uint32_t lr = 14;
inline constexpr std::uint32_t pc = 15;

struct registers {
    std::array<std::uint32_t, 16> r{};
    // N is bit 31 of one word; Z is set if the other word is zero. An instruction that sets both stores its
    // result twice, without a branch. Use n(), z() and set_apsr().
    std::uint32_t negative_word = 0;
    std::uint32_t zero_word = 1;
    bool c = false;
    bool v = false;
    bool q = false;
    std::uint8_t ge = 0; // GE[3:0]
    // ITSTATE with the bit numbers of DDI 0406C.d A2.5.2; 0 outside of an IT block. Valid when the profile is
    // called and between two instructions.
    std::uint8_t it = 0;
    bool thumb = false; // true: T32; false: A32

    [[nodiscard]] bool n() const { return (negative_word >> 31U) != 0; }
    [[nodiscard]] bool z() const { return zero_word == 0; }

    // N, Z, C, V, Q in bits 31 to 27 and GE in bits 19 to 16, as in APSR, CPSR and xPSR.
    static constexpr std::uint32_t apsr_mask = 0xF80F0000;
    static constexpr std::uint32_t apsr_nzcvq = 0xF8000000;
    static constexpr std::uint32_t apsr_ge = 0x000F0000;
    [[nodiscard]] std::uint32_t apsr() const
    {
        return (n() ? 1U << 31U : 0) | (z() ? 1U << 30U : 0) | (c ? 1U << 29U : 0) | (v ? 1U << 28U : 0) |
               (q ? 1U << 27U : 0) | static_cast<std::uint32_t>(ge) << 16U;
    }
    // Sets the bits in `mask` from `value`: apsr_nzcvq, apsr_ge or both; all others stay.
    void set_apsr(std::uint32_t value, std::uint32_t mask = apsr_mask)
    {
        if ((mask & apsr_nzcvq) != 0) {
            set_nzcv(value);
            q = (value & 1U << 27U) != 0;
        }
        if ((mask & apsr_ge) != 0) {
            ge = static_cast<std::uint8_t>(value >> 16U & 0xFU);
        }
    }
    void set_nzcv(std::uint32_t value)
    {
        negative_word = value;
        zero_word = (value & 1U << 30U) != 0 ? 0 : 1;
        c = (value & 1U << 29U) != 0;
        v = (value & 1U << 28U) != 0;
    }

    // ITSTATE at its position in EPSR and CPSR: [7:2] in bits 15 to 10, [1:0] in bits 26 and 25.
    static constexpr std::uint32_t it_mask = 0x0600FC00;
    [[nodiscard]] std::uint32_t it_bits() const
    {
        return static_cast<std::uint32_t>(it >> 2U) << 10U | static_cast<std::uint32_t>(it & 3U) << 25U;
    }
    void set_it_bits(std::uint32_t psr)
    {
        it = static_cast<std::uint8_t>((psr >> 10U & 0x3FU) << 2U | (psr >> 25U & 3U));
    }
};

} // namespace bulkhead::machine::armv7
