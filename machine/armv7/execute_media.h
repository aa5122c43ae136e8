// SPDX-License-Identifier: Apache-2.0
// Multiplications, divisions, saturation, extension, and the operations on bytes and halfwords of registers
// (the DSP extension of v7-M, DDI 0406C.d A4.4.3 to A4.4.6).
#pragma once

#include "machine/armv7/execute.h"

namespace bulkhead::machine::armv7 {

template <bool flags> outcome multiply(interpreter &on, const operation &what)
{
    registers &state = on.state();
    const std::uint32_t result = state.r[what.n] * state.r[what.m];
    state.r[what.d] = result;
    if constexpr (flags) {
        state.negative_word = state.zero_word = result;
    }
    return outcome::next;
}

template <bool flags> outcome multiply_add(interpreter &on, const operation &what)
{
    registers &state = on.state();
    const std::uint32_t result = state.r[what.n] * state.r[what.m] + state.r[what.a];
    state.r[what.d] = result;
    if constexpr (flags) {
        state.negative_word = state.zero_word = result;
    }
    return outcome::next;
}

// SMULL and UMULL; with accumulation SMLAL and UMLAL.
template <bool is_signed, bool accumulate, bool flags>
outcome multiply_long(interpreter &on, const operation &what)
{
    registers &state = on.state();
    const std::uint32_t x = state.r[what.n];
    const std::uint32_t y = state.r[what.m];
    std::uint64_t result = is_signed ? static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(x)} *
                                                                  static_cast<std::int32_t>(y))
                                     : std::uint64_t{x} * y;
    if constexpr (accumulate) {
        result += std::uint64_t{state.r[what.a]} << 32U | state.r[what.d];
    }
    state.r[what.d] = static_cast<std::uint32_t>(result);
    state.r[what.a] = static_cast<std::uint32_t>(result >> 32U);
    if constexpr (flags) {
        state.negative_word = state.r[what.a];
        state.zero_word = state.r[what.a] | state.r[what.d];
    }
    return outcome::next;
}

outcome multiply_subtract(interpreter &on, const operation &what);
outcome multiply_add_add(interpreter &on, const operation &what); // UMAAL
outcome signed_divide(interpreter &on, const operation &what);
outcome unsigned_divide(interpreter &on, const operation &what);

// `top_n`, `top_m`: the upper halves are used.
outcome multiply_halves(interpreter &on, const operation &what);          // SMULxy
outcome multiply_halves_add(interpreter &on, const operation &what);      // SMLAxy
outcome multiply_halves_add_long(interpreter &on, const operation &what); // SMLALxy
outcome multiply_word_half(interpreter &on, const operation &what);       // SMULWy
outcome multiply_word_half_add(interpreter &on, const operation &what);   // SMLAWy

// `top_m`: the halves of m are exchanged (X); in the last three functions, the result is rounded (R).
outcome dual_add(interpreter &on, const operation &what);                 // SMUAD
outcome dual_add_accumulate(interpreter &on, const operation &what);      // SMLAD
outcome dual_subtract(interpreter &on, const operation &what);            // SMUSD
outcome dual_subtract_accumulate(interpreter &on, const operation &what); // SMLSD
outcome dual_add_long(interpreter &on, const operation &what);            // SMLALD
outcome dual_subtract_long(interpreter &on, const operation &what);       // SMLSLD
outcome multiply_top(interpreter &on, const operation &what);             // SMMUL
outcome multiply_top_add(interpreter &on, const operation &what);         // SMMLA
outcome multiply_top_subtract(interpreter &on, const operation &what);    // SMMLS

outcome sum_of_differences(interpreter &on, const operation &what);     // USAD8
outcome sum_of_differences_add(interpreter &on, const operation &what); // USADA8

outcome saturating_add(interpreter &on, const operation &what);             // QADD: m + n
outcome saturating_subtract(interpreter &on, const operation &what);        // QSUB: m - n
outcome saturating_double_add(interpreter &on, const operation &what);      // QDADD
outcome saturating_double_subtract(interpreter &on, const operation &what); // QDSUB
outcome saturate_signed(interpreter &on, const operation &what);            // SSAT: to `extra` + 1 bits
outcome saturate_unsigned(interpreter &on, const operation &what);          // USAT: to `extra` bits
outcome saturate_signed_halves(interpreter &on, const operation &what);     // SSAT16
outcome saturate_unsigned_halves(interpreter &on, const operation &what);   // USAT16

outcome pack_bottom_top(interpreter &on, const operation &what); // PKHBT
outcome pack_top_bottom(interpreter &on, const operation &what); // PKHTB
outcome select_bytes(interpreter &on, const operation &what);    // SEL

// SXTB and similar: `extra` is the rotation in bytes; with or without addition of n.
enum class part : std::uint8_t { byte, halfword, two_bytes };
template <part what_part, bool is_signed, bool accumulate>
outcome extend(interpreter &on, const operation &what)
{
    registers &state = on.state();
    const std::uint32_t rotated = std::rotr(state.r[what.m], 8 * what.extra);
    const std::uint32_t base = accumulate ? state.r[what.n] : 0;
    if constexpr (what_part == part::two_bytes) {
        const auto half = [](std::uint32_t byte) { return is_signed ? extended(byte, 8) : byte; };
        const std::uint32_t low = (base + half(rotated & 0xFFU)) & 0xFFFFU;
        const std::uint32_t high = (base >> 16U) + half(rotated >> 16U & 0xFFU);
        state.r[what.d] = high << 16U | low;
    } else {
        constexpr std::uint32_t bits = what_part == part::byte ? 8 : 16;
        const std::uint32_t value = rotated & ((1U << bits) - 1);
        state.r[what.d] = base + (is_signed ? extended(value, bits) : value);
    }
    return outcome::next;
}

// SADD16 and similar: the operation on the parts, and the processing of their results.
enum class parallel : std::uint8_t { add16, asx, sax, sub16, add8, sub8 };
enum class parallel_result : std::uint8_t { flags, saturates, halves };

template <parallel operation, parallel_result result, bool is_signed>
outcome parallel_arithmetic(interpreter &on, const armv7::operation &what)
{
    constexpr bool bytes = operation == parallel::add8 || operation == parallel::sub8;
    constexpr bool crossed = operation == parallel::asx || operation == parallel::sax;
    constexpr std::uint32_t bits = bytes ? 8 : 16;
    constexpr std::uint32_t mask = (1U << bits) - 1;
    registers &state = on.state();
    std::uint32_t value = 0;
    std::uint32_t ge = 0;
    for (std::uint32_t i = 0; i < 32 / bits; ++i) {
        const bool adds = operation == parallel::add16 || operation == parallel::add8 ||
                          (operation == parallel::asx && i == 1) || (operation == parallel::sax && i == 0);
        const auto part_of = [&](std::uint32_t word, std::uint32_t number) {
            const std::uint32_t one = word >> number * bits & mask;
            return is_signed ? static_cast<std::int32_t>(extended(one, bits))
                             : static_cast<std::int32_t>(one);
        };
        const std::int32_t x = part_of(state.r[what.n], i);
        const std::int32_t y = part_of(state.r[what.m], crossed ? 1 - i : i);
        std::int32_t one = adds ? x + y : x - y;
        if constexpr (result == parallel_result::flags) {
            const bool set = is_signed || !adds ? one >= 0 : one > static_cast<std::int32_t>(mask);
            ge |= set ? (bytes ? 1U : 3U) << i * (bytes ? 1 : 2) : 0;
        } else if constexpr (result == parallel_result::saturates) {
            one = static_cast<std::int32_t>(
                (is_signed ? signed_saturate(one, bits) : unsigned_saturate(one, bits)).value);
        } else {
            one >>= 1;
        }
        value |= (static_cast<std::uint32_t>(one) & mask) << i * bits;
    }
    state.r[what.d] = value;
    if constexpr (result == parallel_result::flags) {
        state.ge = static_cast<std::uint8_t>(ge);
    }
    return outcome::next;
}

} // namespace bulkhead::machine::armv7
