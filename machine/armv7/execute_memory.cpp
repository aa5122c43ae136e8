// SPDX-License-Identifier: Apache-2.0
// Multiple and exclusive accesses; see the header.
#include "machine/armv7/execute_memory.h"

#include <bit>

namespace bulkhead::machine::armv7 {

namespace {

constexpr std::uint32_t user_mode = 0x10;

// The lowest address of `words`, and the base after them.
place place_of_words(std::uint32_t base, std::uint32_t words, const operation &what)
{
    const std::uint32_t bytes = 4 * words;
    if (what.add) {
        return {base + (what.index ? 4 : 0), base + bytes};
    }
    return {base - bytes + (what.index ? 0 : 4), base - bytes};
}

struct loaded {
    std::array<std::uint32_t, 16> words{};
    std::uint32_t base = 0;
};

// Loads all words before any register changes, so that a fault leaves the registers as they were.
std::optional<loaded> load_list(interpreter &on, const operation &what)
{
    const auto count = static_cast<std::uint32_t>(std::popcount(what.imm));
    const place at = place_of_words(on.state().r[what.n], count, what);
    loaded all{.words = {}, .base = at.base};
    access_request one{.address = at.address, .bytes = 4, .alignment = 4};
    for (std::uint32_t left = what.imm; left != 0; left &= left - 1) {
        one.dependent = what.dependent && (left & (left - 1)) == 0;
        const auto value = on.system().read(one);
        if (!value) {
            return {};
        }
        all.words[static_cast<std::size_t>(std::countr_zero(left))] = *value;
        one.address += 4;
    }
    on.moved(count);
    return all;
}

void set_list(registers &state, std::uint32_t list, const loaded &all)
{
    for (std::uint32_t left = list; left != 0; left &= left - 1) {
        const auto number = static_cast<std::size_t>(std::countr_zero(left));
        state.r[number] = all.words[number];
    }
}

constexpr std::uint32_t pc_in_list = 1U << pc;

} // namespace

outcome load_multiple(interpreter &on, const operation &what)
{
    registers &state = on.state();
    const auto all = load_list(on, what);
    if (!all) [[unlikely]] {
        return outcome::abandoned;
    }
    if (what.writeback) {
        state.r[what.n] = all->base;
    }
    set_list(state, what.imm & ~pc_in_list, *all);
    return (what.imm & pc_in_list) != 0 ? exchange_to(on, what, all->words[pc]) : outcome::next;
}

// A base register in the list is stored with its old value. Armv7-A leaves open what is stored for a base
// that is not the first of the list.
outcome store_multiple(interpreter &on, const operation &what)
{
    registers &state = on.state();
    const auto count = static_cast<std::uint32_t>(std::popcount(what.imm));
    const place at = place_of_words(state.r[what.n], count, what);
    access_request one{.address = at.address, .bytes = 4, .alignment = 4};
    for (std::uint32_t left = what.imm; left != 0; left &= left - 1) {
        const auto number = static_cast<std::size_t>(std::countr_zero(left));
        const std::uint32_t value = number == pc ? what.pc_value : state.r[number];
        if (!on.system().write(one, value)) [[unlikely]] {
            return outcome::abandoned;
        }
        one.address += 4;
    }
    on.moved(count);
    if (what.writeback) {
        state.r[what.n] = at.base;
    }
    return outcome::next;
}

outcome load_multiple_user(interpreter &on, const operation &what)
{
    if (!at_instruction(on, what).spsr()) {
        return undefined_instruction(on, what);
    }
    const auto all = load_list(on, what);
    if (!all) {
        return outcome::abandoned;
    }
    for (std::uint32_t left = what.imm; left != 0; left &= left - 1) {
        const auto number = static_cast<std::uint32_t>(std::countr_zero(left));
        on.system().set_banked(user_mode, number, all->words[number]);
    }
    return outcome::next;
}

outcome store_multiple_user(interpreter &on, const operation &what)
{
    if (!at_instruction(on, what).spsr()) {
        return undefined_instruction(on, what);
    }
    const auto count = static_cast<std::uint32_t>(std::popcount(what.imm));
    access_request one{
        .address = place_of_words(on.state().r[what.n], count, what).address, .bytes = 4, .alignment = 4};
    for (std::uint32_t left = what.imm; left != 0; left &= left - 1) {
        const auto number = static_cast<std::uint32_t>(std::countr_zero(left));
        const std::uint32_t value = number == pc ? what.pc_value : on.system().banked(user_mode, number);
        if (!on.system().write(one, value)) {
            return outcome::abandoned;
        }
        one.address += 4;
    }
    on.moved(count);
    return outcome::next;
}

outcome load_multiple_return(interpreter &on, const operation &what)
{
    registers &state = on.state();
    const auto psr = at_instruction(on, what).spsr();
    if (!psr) {
        return undefined_instruction(on, what);
    }
    const auto all = load_list(on, what);
    if (!all) {
        return outcome::abandoned;
    }
    if (what.writeback) {
        state.r[what.n] = all->base;
    }
    set_list(state, what.imm & ~pc_in_list, *all);
    on.system().return_from_exception(all->words[pc], *psr);
    return outcome::left;
}

outcome load_exclusive(interpreter &on, const operation &what)
{
    registers &state = on.state();
    const std::uint32_t address = state.r[what.n] + what.imm;
    access_request one{.address = address,
                       .bytes = static_cast<std::uint8_t>(what.extra == 8 ? 4 : what.extra),
                       .alignment = what.extra,
                       .unprivileged = false,
                       .dependent = what.dependent,
                       .exclusive = true};
    const auto first = on.system().read(one);
    if (!first) {
        return outcome::abandoned;
    }
    if (what.extra == 8) {
        one.address += 4;
        one.alignment = 4;
        const auto second = on.system().read(one);
        if (!second) {
            return outcome::abandoned;
        }
        state.r[what.a] = *second;
    }
    state.r[what.d] = *first;
    on.set_exclusive({address, what.extra});
    return outcome::next;
}

// A misaligned access faults whether the monitor is open or not.
outcome store_exclusive(interpreter &on, const operation &what)
{
    registers &state = on.state();
    const std::uint32_t address = state.r[what.n] + what.imm;
    if (!on.take_exclusive({address, what.extra}) && address % what.extra == 0) {
        state.r[what.d] = 1;
        return outcome::next;
    }
    const std::uint8_t bytes = static_cast<std::uint8_t>(what.extra == 8 ? 4 : what.extra);
    access_request one{.address = address,
                       .bytes = bytes,
                       .alignment = what.extra,
                       .unprivileged = false,
                       .dependent = false,
                       .exclusive = true};
    if (!on.system().write(one, state.r[what.a] & (~0U >> (32U - 8U * bytes)))) {
        return outcome::abandoned;
    }
    if (what.extra == 8) {
        one.address += 4;
        one.alignment = 4;
        if (!on.system().write(one, state.r[what.m])) {
            return outcome::abandoned;
        }
    }
    state.r[what.d] = 0;
    return outcome::next;
}

outcome clear_exclusive(interpreter &on, const operation & /*what*/)
{
    on.clear_exclusive();
    return outcome::next;
}

outcome table_branch(interpreter &on, const operation &what)
{
    registers &state = on.state();
    const std::uint32_t base = what.n == pc ? what.pc_value : state.r[what.n];
    const auto value =
        on.system().read({.address = base + state.r[what.m] * what.extra, .bytes = what.extra});
    if (!value) {
        return outcome::abandoned;
    }
    return branch_to(on, what.pc_value + 2 * *value);
}

outcome return_from_stack(interpreter &on, const operation &what)
{
    registers &state = on.state();
    if (!at_instruction(on, what).privileged()) {
        return undefined_instruction(on, what);
    }
    const place at = place_of_words(state.r[what.n], 2, what);
    const auto address = on.system().read({.address = at.address, .bytes = 4, .alignment = 4});
    if (!address) {
        return outcome::abandoned;
    }
    const auto psr = on.system().read({.address = at.address + 4, .bytes = 4, .alignment = 4});
    if (!psr) {
        return outcome::abandoned;
    }
    if (what.writeback) {
        state.r[what.n] = at.base;
    }
    on.system().return_from_exception(*address, *psr);
    return outcome::left;
}

outcome store_return_state(interpreter &on, const operation &what)
{
    profile &system = at_instruction(on, what);
    const auto psr = system.spsr();
    if (!psr) {
        return undefined_instruction(on, what);
    }
    const place at = place_of_words(system.banked(what.imm, sp), 2, what);
    if (!system.write({.address = at.address, .bytes = 4, .alignment = 4}, on.state().r[lr]) ||
        !system.write({.address = at.address + 4, .bytes = 4, .alignment = 4}, *psr)) {
        return outcome::abandoned;
    }
    if (what.writeback) {
        system.set_banked(what.imm, sp, at.base);
    }
    return outcome::next;
}

} // namespace bulkhead::machine::armv7
