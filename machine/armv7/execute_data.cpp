// SPDX-License-Identifier: Apache-2.0
// Constants, bit fields, counts and reversals; see the header.
#include "machine/armv7/execute_data.h"

namespace bulkhead::machine::armv7 {

outcome address_of(interpreter &on, const operation &what)
{
    const std::uint32_t base = what.pc_value & ~3U;
    const std::uint32_t result = what.add ? base + what.imm : base - what.imm;
    if (what.d == pc) {
        return result_to_pc(on, result);
    }
    on.state().r[what.d] = result;
    return outcome::next;
}

outcome move_top(interpreter &on, const operation &what)
{
    std::uint32_t &to = on.state().r[what.d];
    to = (to & 0xFFFFU) | what.imm << 16U;
    return outcome::next;
}

namespace {

// Bits `low` to `high`.
std::uint32_t mask_of(std::uint32_t low, std::uint32_t high)
{
    return ~0U >> (31 - high) & ~0U << low;
}

} // namespace

outcome bit_field_insert(interpreter &on, const operation &what)
{
    registers &state = on.state();
    const std::uint32_t mask = mask_of(what.amount, what.extra);
    state.r[what.d] = (state.r[what.d] & ~mask) | (state.r[what.n] << what.amount & mask);
    return outcome::next;
}

outcome bit_field_clear(interpreter &on, const operation &what)
{
    on.state().r[what.d] &= ~mask_of(what.amount, what.extra);
    return outcome::next;
}

outcome signed_bit_field(interpreter &on, const operation &what)
{
    registers &state = on.state();
    state.r[what.d] = extended(state.r[what.n] >> what.amount, what.extra + 1U);
    return outcome::next;
}

outcome unsigned_bit_field(interpreter &on, const operation &what)
{
    registers &state = on.state();
    state.r[what.d] = state.r[what.n] >> what.amount & mask_of(0, what.extra);
    return outcome::next;
}

outcome count_leading_zeros(interpreter &on, const operation &what)
{
    registers &state = on.state();
    state.r[what.d] = static_cast<std::uint32_t>(std::countl_zero(state.r[what.m]));
    return outcome::next;
}

outcome reverse_bytes(interpreter &on, const operation &what)
{
    registers &state = on.state();
    state.r[what.d] = __builtin_bswap32(state.r[what.m]);
    return outcome::next;
}

outcome reverse_halfwords(interpreter &on, const operation &what)
{
    registers &state = on.state();
    state.r[what.d] = std::rotr(__builtin_bswap32(state.r[what.m]), 16);
    return outcome::next;
}

outcome reverse_signed_halfword(interpreter &on, const operation &what)
{
    registers &state = on.state();
    state.r[what.d] = extended(std::rotr(__builtin_bswap32(state.r[what.m]), 16) & 0xFFFFU, 16);
    return outcome::next;
}

outcome reverse_bits(interpreter &on, const operation &what)
{
    registers &state = on.state();
    std::uint32_t value = __builtin_bswap32(state.r[what.m]);
    value = (value & 0x0F0F0F0FU) << 4U | (value >> 4U & 0x0F0F0F0FU);
    value = (value & 0x33333333U) << 2U | (value >> 2U & 0x33333333U);
    state.r[what.d] = (value & 0x55555555U) << 1U | (value >> 1U & 0x55555555U);
    return outcome::next;
}

} // namespace bulkhead::machine::armv7
