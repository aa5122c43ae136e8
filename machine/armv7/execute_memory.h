// SPDX-License-Identifier: Apache-2.0
// Loads and stores: single, double, multiple, exclusive, and hints. An instruction whose access faults
// changes no register, so it can be executed again.
#pragma once

#include "machine/armv7/execute.h"

namespace bulkhead::machine::armv7 {

enum class datum : std::uint8_t { u8, s8, u16, s16, word };

[[nodiscard]] constexpr std::uint8_t bytes_of(datum what)
{
    return what == datum::word ? 4 : what == datum::u16 || what == datum::s16 ? 2 : 1;
}
[[nodiscard]] inline std::uint32_t widened(datum what, std::uint32_t value)
{
    return what == datum::s8 ? extended(value, 8) : what == datum::s16 ? extended(value, 16) : value;
}

// The address and the new base. The offset is an immediate or the shifted register m.
struct place {
    std::uint32_t address;
    std::uint32_t base;
};
template <bool by_register> [[nodiscard]] inline place place_of(const registers &state, const operation &what)
{
    const std::uint32_t base = what.n == pc ? what.pc_value & ~3U : state.r[what.n];
    std::uint32_t offset = what.imm;
    if constexpr (by_register) {
        offset = shifted(state.r[what.m], what.shift, what.amount, state.c).value;
    }
    const std::uint32_t moved = what.add ? base + offset : base - offset;
    return {what.index ? moved : base, moved};
}

template <datum type, bool by_register> outcome load(interpreter &on, const operation &what)
{
    registers &state = on.state();
    const place at = place_of<by_register>(state, what);
    const auto value = on.system().read({.address = at.address,
                                         .bytes = bytes_of(type),
                                         .alignment = 1,
                                         .unprivileged = what.unprivileged,
                                         .dependent = what.dependent,
                                         .exclusive = false});
    if (!value) [[unlikely]] {
        return outcome::abandoned;
    }
    if (what.writeback) {
        state.r[what.n] = at.base;
    }
    if (what.d == pc) [[unlikely]] {
        return exchange_to(on, what, *value);
    }
    state.r[what.d] = widened(type, *value);
    return outcome::next;
}

template <datum type, bool by_register> outcome store(interpreter &on, const operation &what)
{
    registers &state = on.state();
    const place at = place_of<by_register>(state, what);
    constexpr std::uint8_t bytes = bytes_of(type);
    const std::uint32_t value = state.r[what.d] & (~0U >> (32U - 8U * bytes));
    if (!on.system().write({.address = at.address,
                            .bytes = bytes,
                            .alignment = 1,
                            .unprivileged = what.unprivileged,
                            .dependent = false,
                            .exclusive = false},
                           value)) [[unlikely]] {
        return outcome::abandoned;
    }
    if (what.writeback) {
        state.r[what.n] = at.base;
    }
    return outcome::next;
}

template <bool by_register> outcome load_double(interpreter &on, const operation &what)
{
    registers &state = on.state();
    const place at = place_of<by_register>(state, what);
    access_request one{.address = at.address, .bytes = 4, .alignment = 4};
    const auto first = on.system().read(one);
    if (!first) {
        return outcome::abandoned;
    }
    one.address += 4;
    one.dependent = what.dependent;
    const auto second = on.system().read(one);
    if (!second) {
        return outcome::abandoned;
    }
    if (what.writeback) {
        state.r[what.n] = at.base;
    }
    on.moved(2);
    state.r[what.d] = *first;
    state.r[what.a] = *second;
    return outcome::next;
}

template <bool by_register> outcome store_double(interpreter &on, const operation &what)
{
    registers &state = on.state();
    const place at = place_of<by_register>(state, what);
    access_request one{.address = at.address, .bytes = 4, .alignment = 4};
    if (!on.system().write(one, state.r[what.d])) {
        return outcome::abandoned;
    }
    one.address += 4;
    if (!on.system().write(one, state.r[what.a])) {
        return outcome::abandoned;
    }
    on.moved(2);
    if (what.writeback) {
        state.r[what.n] = at.base;
    }
    return outcome::next;
}

// The registers in the list `imm`, the lowest at the lowest address; `index`: before, `add`: upwards.
outcome load_multiple(interpreter &on, const operation &what);
outcome store_multiple(interpreter &on, const operation &what);
// With ^: the registers of User mode, or, with the pc in the list, an exception return.
outcome load_multiple_user(interpreter &on, const operation &what);
outcome store_multiple_user(interpreter &on, const operation &what);
outcome load_multiple_return(interpreter &on, const operation &what);

// `extra`: bytes; with 8, the double word is in d and a, or, for a store, in a and m; d of a store is the
// status.
outcome load_exclusive(interpreter &on, const operation &what);
outcome store_exclusive(interpreter &on, const operation &what);
outcome clear_exclusive(interpreter &on, const operation &what);

// TBB, TBH: `extra` is the number of bytes.
outcome table_branch(interpreter &on, const operation &what);

// RFE, SRS: like LDM and STM of two words; `imm` of SRS is the mode whose stack is used.
outcome return_from_stack(interpreter &on, const operation &what);
outcome store_return_state(interpreter &on, const operation &what);

} // namespace bulkhead::machine::armv7
