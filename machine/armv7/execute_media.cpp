// SPDX-License-Identifier: Apache-2.0
// Multiplications, saturation and the other media instructions that are not templates; see the header.
#include "machine/armv7/execute_media.h"

#include <utility>

namespace bulkhead::machine::armv7 {

namespace {

std::int64_t as_signed(std::uint32_t value)
{
    return static_cast<std::int32_t>(value);
}
std::int64_t half_of(std::uint32_t value, bool top)
{
    return static_cast<std::int16_t>(top ? value >> 16U : value);
}
std::uint32_t low_word(std::int64_t value)
{
    return static_cast<std::uint32_t>(value);
}
// The sum, which sets Q if it does not fit into 32 bits.
void accumulate_q(registers &state, const operation &what, std::int64_t value)
{
    state.q = state.q || value != static_cast<std::int32_t>(value);
    state.r[what.d] = low_word(value);
}
std::int64_t long_of(const registers &state, const operation &what)
{
    return static_cast<std::int64_t>(std::uint64_t{state.r[what.a]} << 32U | state.r[what.d]);
}
void set_long(registers &state, const operation &what, std::uint64_t value)
{
    state.r[what.d] = static_cast<std::uint32_t>(value);
    state.r[what.a] = static_cast<std::uint32_t>(value >> 32U);
}

} // namespace

outcome multiply_subtract(interpreter &on, const operation &what)
{
    registers &state = on.state();
    state.r[what.d] = state.r[what.a] - state.r[what.n] * state.r[what.m];
    return outcome::next;
}

outcome multiply_add_add(interpreter &on, const operation &what)
{
    registers &state = on.state();
    set_long(state, what,
             std::uint64_t{state.r[what.n]} * state.r[what.m] + state.r[what.a] + state.r[what.d]);
    return outcome::next;
}

outcome signed_divide(interpreter &on, const operation &what)
{
    registers &state = on.state();
    const std::int64_t by = as_signed(state.r[what.m]);
    state.r[what.d] = by == 0 ? 0 : low_word(as_signed(state.r[what.n]) / by);
    return outcome::next;
}

outcome unsigned_divide(interpreter &on, const operation &what)
{
    registers &state = on.state();
    const std::uint32_t by = state.r[what.m];
    state.r[what.d] = by == 0 ? 0 : state.r[what.n] / by;
    return outcome::next;
}

namespace {

std::int64_t product_of_halves(const registers &state, const operation &what)
{
    return half_of(state.r[what.n], what.top_n) * half_of(state.r[what.m], what.top_m);
}
std::int64_t product_of_word(const registers &state, const operation &what)
{
    return as_signed(state.r[what.n]) * half_of(state.r[what.m], what.top_m) >> 16;
}
std::pair<std::int64_t, std::int64_t> two_products(const registers &state, const operation &what)
{
    const std::uint32_t x = state.r[what.n];
    const std::uint32_t y = state.r[what.m];
    return {half_of(x, false) * half_of(y, what.top_m), half_of(x, true) * half_of(y, !what.top_m)};
}
std::uint32_t top_of(const operation &what, std::uint64_t value)
{
    return static_cast<std::uint32_t>((value + (what.top_m ? 0x80000000U : 0)) >> 32U);
}
std::uint64_t product(const registers &state, const operation &what)
{
    return static_cast<std::uint64_t>(as_signed(state.r[what.n]) * as_signed(state.r[what.m]));
}

} // namespace

outcome multiply_halves(interpreter &on, const operation &what)
{
    on.state().r[what.d] = low_word(product_of_halves(on.state(), what));
    return outcome::next;
}
outcome multiply_halves_add(interpreter &on, const operation &what)
{
    registers &state = on.state();
    accumulate_q(state, what, product_of_halves(state, what) + as_signed(state.r[what.a]));
    return outcome::next;
}
outcome multiply_halves_add_long(interpreter &on, const operation &what)
{
    registers &state = on.state();
    set_long(state, what,
             static_cast<std::uint64_t>(long_of(state, what)) +
                 static_cast<std::uint64_t>(product_of_halves(state, what)));
    return outcome::next;
}
outcome multiply_word_half(interpreter &on, const operation &what)
{
    on.state().r[what.d] = low_word(product_of_word(on.state(), what));
    return outcome::next;
}
outcome multiply_word_half_add(interpreter &on, const operation &what)
{
    registers &state = on.state();
    accumulate_q(state, what, product_of_word(state, what) + as_signed(state.r[what.a]));
    return outcome::next;
}

outcome dual_add(interpreter &on, const operation &what)
{
    registers &state = on.state();
    const auto [x, y] = two_products(state, what);
    accumulate_q(state, what, x + y);
    return outcome::next;
}
outcome dual_add_accumulate(interpreter &on, const operation &what)
{
    registers &state = on.state();
    const auto [x, y] = two_products(state, what);
    accumulate_q(state, what, x + y + as_signed(state.r[what.a]));
    return outcome::next;
}
outcome dual_subtract(interpreter &on, const operation &what)
{
    registers &state = on.state();
    const auto [x, y] = two_products(state, what);
    state.r[what.d] = low_word(x - y);
    return outcome::next;
}
outcome dual_subtract_accumulate(interpreter &on, const operation &what)
{
    registers &state = on.state();
    const auto [x, y] = two_products(state, what);
    accumulate_q(state, what, x - y + as_signed(state.r[what.a]));
    return outcome::next;
}
outcome dual_add_long(interpreter &on, const operation &what)
{
    registers &state = on.state();
    const auto [x, y] = two_products(state, what);
    set_long(state, what,
             static_cast<std::uint64_t>(long_of(state, what)) + static_cast<std::uint64_t>(x + y));
    return outcome::next;
}
outcome dual_subtract_long(interpreter &on, const operation &what)
{
    registers &state = on.state();
    const auto [x, y] = two_products(state, what);
    set_long(state, what,
             static_cast<std::uint64_t>(long_of(state, what)) + static_cast<std::uint64_t>(x - y));
    return outcome::next;
}
outcome multiply_top(interpreter &on, const operation &what)
{
    registers &state = on.state();
    state.r[what.d] = top_of(what, product(state, what));
    return outcome::next;
}
outcome multiply_top_add(interpreter &on, const operation &what)
{
    registers &state = on.state();
    state.r[what.d] = top_of(what, (std::uint64_t{state.r[what.a]} << 32U) + product(state, what));
    return outcome::next;
}
outcome multiply_top_subtract(interpreter &on, const operation &what)
{
    registers &state = on.state();
    state.r[what.d] = top_of(what, (std::uint64_t{state.r[what.a]} << 32U) - product(state, what));
    return outcome::next;
}

namespace {

std::uint32_t differences(std::uint32_t x, std::uint32_t y)
{
    std::uint32_t total = 0;
    for (std::uint32_t i = 0; i < 32; i += 8) {
        const std::uint32_t one = x >> i & 0xFFU;
        const std::uint32_t other = y >> i & 0xFFU;
        total += one > other ? one - other : other - one;
    }
    return total;
}

std::uint32_t clipped(registers &state, saturated value)
{
    state.q = state.q || value.clipped;
    return low_word(value.value);
}

} // namespace

outcome sum_of_differences(interpreter &on, const operation &what)
{
    registers &state = on.state();
    state.r[what.d] = differences(state.r[what.n], state.r[what.m]);
    return outcome::next;
}
outcome sum_of_differences_add(interpreter &on, const operation &what)
{
    registers &state = on.state();
    state.r[what.d] = differences(state.r[what.n], state.r[what.m]) + state.r[what.a];
    return outcome::next;
}

outcome saturating_add(interpreter &on, const operation &what)
{
    registers &s = on.state();
    s.r[what.d] = clipped(s, signed_saturate(as_signed(s.r[what.m]) + as_signed(s.r[what.n]), 32));
    return outcome::next;
}
outcome saturating_subtract(interpreter &on, const operation &what)
{
    registers &s = on.state();
    s.r[what.d] = clipped(s, signed_saturate(as_signed(s.r[what.m]) - as_signed(s.r[what.n]), 32));
    return outcome::next;
}
outcome saturating_double_add(interpreter &on, const operation &what)
{
    registers &s = on.state();
    const std::int64_t twice = as_signed(clipped(s, signed_saturate(2 * as_signed(s.r[what.n]), 32)));
    s.r[what.d] = clipped(s, signed_saturate(as_signed(s.r[what.m]) + twice, 32));
    return outcome::next;
}
outcome saturating_double_subtract(interpreter &on, const operation &what)
{
    registers &s = on.state();
    const std::int64_t twice = as_signed(clipped(s, signed_saturate(2 * as_signed(s.r[what.n]), 32)));
    s.r[what.d] = clipped(s, signed_saturate(as_signed(s.r[what.m]) - twice, 32));
    return outcome::next;
}
outcome saturate_signed(interpreter &on, const operation &what)
{
    registers &s = on.state();
    const std::uint32_t value = shifted(s.r[what.n], what.shift, what.amount, false).value;
    s.r[what.d] = clipped(s, signed_saturate(as_signed(value), what.extra + 1U));
    return outcome::next;
}
outcome saturate_unsigned(interpreter &on, const operation &what)
{
    registers &s = on.state();
    const std::uint32_t value = shifted(s.r[what.n], what.shift, what.amount, false).value;
    s.r[what.d] = clipped(s, unsigned_saturate(as_signed(value), what.extra));
    return outcome::next;
}
outcome saturate_signed_halves(interpreter &on, const operation &what)
{
    registers &s = on.state();
    const std::uint32_t low = clipped(s, signed_saturate(half_of(s.r[what.n], false), what.extra + 1U));
    const std::uint32_t high = clipped(s, signed_saturate(half_of(s.r[what.n], true), what.extra + 1U));
    s.r[what.d] = high << 16U | (low & 0xFFFFU);
    return outcome::next;
}
outcome saturate_unsigned_halves(interpreter &on, const operation &what)
{
    registers &s = on.state();
    const std::uint32_t low = clipped(s, unsigned_saturate(half_of(s.r[what.n], false), what.extra));
    const std::uint32_t high = clipped(s, unsigned_saturate(half_of(s.r[what.n], true), what.extra));
    s.r[what.d] = high << 16U | low;
    return outcome::next;
}

outcome pack_bottom_top(interpreter &on, const operation &what)
{
    registers &s = on.state();
    const std::uint32_t second = shifted(s.r[what.m], what.shift, what.amount, false).value;
    s.r[what.d] = (second & 0xFFFF0000U) | (s.r[what.n] & 0xFFFFU);
    return outcome::next;
}
outcome pack_top_bottom(interpreter &on, const operation &what)
{
    registers &s = on.state();
    const std::uint32_t second = shifted(s.r[what.m], what.shift, what.amount, false).value;
    s.r[what.d] = (s.r[what.n] & 0xFFFF0000U) | (second & 0xFFFFU);
    return outcome::next;
}
outcome select_bytes(interpreter &on, const operation &what)
{
    registers &s = on.state();
    std::uint32_t mask = 0;
    for (std::uint32_t i = 0; i < 4; ++i) {
        mask |= (s.ge >> i & 1U) != 0 ? 0xFFU << 8 * i : 0;
    }
    s.r[what.d] = (s.r[what.n] & mask) | (s.r[what.m] & ~mask);
    return outcome::next;
}

} // namespace bulkhead::machine::armv7
