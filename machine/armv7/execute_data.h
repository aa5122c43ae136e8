// SPDX-License-Identifier: Apache-2.0
// Data processing: each operation with the three forms of its second operand, with and without flags; shifts
// are moves. Bit fields, counts and reversals are here too.
#pragma once

#include "machine/armv7/execute.h"

namespace bulkhead::machine::armv7 {

enum class alu : std::uint8_t {
    and_,
    eor,
    sub,
    rsb,
    add,
    adc,
    sbc,
    rsc,
    tst,
    teq,
    cmp,
    cmn,
    orr,
    mov,
    bic,
    mvn,
    orn
};
enum class operand2 : std::uint8_t { immediate, shifted, by_register };

template <operand2 form>
[[nodiscard]] inline with_carry second_operand(const registers &state, const operation &what)
{
    if constexpr (form == operand2::immediate) {
        return {what.imm, what.carry == no_carry ? state.c : what.carry != 0};
    } else if constexpr (form == operand2::shifted) {
        return shifted(state.r[what.m], what.shift, what.amount, state.c);
    } else {
        return shifted(state.r[what.m], what.shift, state.r[what.a] & 0xFFU, state.c);
    }
}

[[nodiscard]] constexpr bool is_arithmetic(alu operation)
{
    switch (operation) {
    case alu::sub:
    case alu::rsb:
    case alu::add:
    case alu::adc:
    case alu::sbc:
    case alu::rsc:
    case alu::cmp:
    case alu::cmn:
        return true;
    default:
        return false;
    }
}
[[nodiscard]] constexpr bool has_result(alu operation)
{
    return operation != alu::tst && operation != alu::teq && operation != alu::cmp && operation != alu::cmn;
}

template <alu operation> [[nodiscard]] inline sum arithmetic(std::uint32_t x, std::uint32_t y, bool carry)
{
    switch (operation) {
    case alu::sub:
    case alu::cmp:
        return add_with_carry(x, ~y, true);
    case alu::rsb:
        return add_with_carry(~x, y, true);
    case alu::adc:
        return add_with_carry(x, y, carry);
    case alu::sbc:
        return add_with_carry(x, ~y, carry);
    case alu::rsc:
        return add_with_carry(~x, y, carry);
    default:
        return add_with_carry(x, y, false);
    }
}

template <alu operation> [[nodiscard]] inline std::uint32_t logical(std::uint32_t x, std::uint32_t y)
{
    switch (operation) {
    case alu::and_:
    case alu::tst:
        return x & y;
    case alu::eor:
    case alu::teq:
        return x ^ y;
    case alu::orr:
        return x | y;
    case alu::bic:
        return x & ~y;
    case alu::mvn:
        return ~y;
    case alu::orn:
        return x | ~y;
    default:
        return y;
    }
}

template <alu operation, operand2 form, bool flags>
outcome data_processing(interpreter &on, const armv7::operation &what)
{
    registers &state = on.state();
    const with_carry second = second_operand<form>(state, what);
    sum result{};
    if constexpr (is_arithmetic(operation)) {
        result = arithmetic<operation>(state.r[what.n], second.value, state.c);
    } else {
        result = {logical<operation>(state.r[what.n], second.value), second.carry, state.v};
    }
    if constexpr (has_result(operation)) {
        if (what.d == pc) [[unlikely]] {
            if constexpr (flags) {
                return return_with_spsr(on, what, result.value);
            }
            return result_to_pc(on, result.value);
        }
        state.r[what.d] = result.value;
    }
    if constexpr (flags) {
        state.negative_word = state.zero_word = result.value;
        state.c = result.carry;
        state.v = result.overflow;
    }
    return outcome::next;
}

// ADR: the aligned pc plus a distance.
outcome address_of(interpreter &on, const operation &what);
// MOVT: writes the upper halfword.
outcome move_top(interpreter &on, const operation &what);

// Fields begin at bit `amount`: BFI and BFC end at bit `extra`; SBFX and UBFX have `extra` + 1 bits.
outcome bit_field_insert(interpreter &on, const operation &what);
outcome bit_field_clear(interpreter &on, const operation &what);
outcome signed_bit_field(interpreter &on, const operation &what);
outcome unsigned_bit_field(interpreter &on, const operation &what);

outcome count_leading_zeros(interpreter &on, const operation &what);
outcome reverse_bits(interpreter &on, const operation &what);
outcome reverse_bytes(interpreter &on, const operation &what);
outcome reverse_halfwords(interpreter &on, const operation &what);
outcome reverse_signed_halfword(interpreter &on, const operation &what);

} // namespace bulkhead::machine::armv7
