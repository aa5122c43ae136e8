// SPDX-License-Identifier: Apache-2.0
// Exchanges banked registers; see the header.
#include "machine/armv7/a_profile/modes.h"

#include <algorithm>

namespace bulkhead::machine::armv7::a_profile {

std::optional<mode> mode_from(std::uint32_t bits)
{
    switch (static_cast<mode>(bits & psr_mode)) {
    case mode::user:
    case mode::fiq:
    case mode::irq:
    case mode::supervisor:
    case mode::abort:
    case mode::undefined:
    case mode::system:
        return static_cast<mode>(bits & psr_mode);
    }
    return std::nullopt;
}

std::size_t modes::bank_of(mode of)
{
    switch (of) {
    case mode::fiq:
        return 1;
    case mode::irq:
        return 2;
    case mode::supervisor:
        return 3;
    case mode::abort:
        return 4;
    case mode::undefined:
        return 5;
    case mode::user:
    case mode::system:
        break;
    }
    return 0;
}

void modes::change_mode(mode next)
{
    const std::size_t from = bank_of(current_);
    const std::size_t to = bank_of(next);
    if (from != to) {
        sp_lr_[from] = {state_.r[sp], state_.r[lr]};
        state_.r[sp] = sp_lr_[to][0];
        state_.r[lr] = sp_lr_[to][1];
    }
    if ((current_ == mode::fiq) != (next == mode::fiq)) {
        auto &kept = current_ == mode::fiq ? fiq_ : rest_;
        const auto &found = current_ == mode::fiq ? rest_ : fiq_;
        std::copy_n(state_.r.begin() + first_of_fiq, kept.size(), kept.begin());
        std::ranges::copy(found, state_.r.begin() + first_of_fiq);
    }
    current_ = next;
}

std::uint32_t modes::cpsr() const
{
    return state_.apsr() | state_.it_bits() | (state_.thumb ? psr_t : 0) | masks_ |
           static_cast<std::uint32_t>(current_);
}

void modes::set_cpsr(std::uint32_t value)
{
    state_.set_apsr(value);
    state_.set_it_bits(value);
    state_.thumb = (value & psr_t) != 0;
    masks_ = value & (psr_a | psr_i | psr_f | psr_e);
    change_mode(mode_from(value).value_or(current_));
}

void modes::change_cpsr(std::uint32_t value, std::uint32_t mask)
{
    state_.set_apsr(value, mask & registers::apsr_mask);
    const std::uint32_t masks = mask & (psr_a | psr_i | psr_f | psr_e);
    masks_ = (masks_ & ~masks) | (value & masks);
    if ((mask & psr_mode) != 0) {
        change_mode(mode_from(value).value_or(current_));
    }
}

std::uint32_t modes::banked(mode of, std::uint32_t number) const
{
    if (number >= sp && bank_of(of) != bank_of(current_)) {
        return sp_lr_[bank_of(of)][number - sp];
    }
    if (number >= first_of_fiq && number < sp && (of == mode::fiq) != (current_ == mode::fiq)) {
        return (of == mode::fiq ? fiq_ : rest_)[number - first_of_fiq];
    }
    return state_.r[number];
}

void modes::set_banked(mode of, std::uint32_t number, std::uint32_t value)
{
    if (number >= sp && bank_of(of) != bank_of(current_)) {
        sp_lr_[bank_of(of)][number - sp] = value;
    } else if (number >= first_of_fiq && number < sp && (of == mode::fiq) != (current_ == mode::fiq)) {
        (of == mode::fiq ? fiq_ : rest_)[number - first_of_fiq] = value;
    } else {
        state_.r[number] = value;
    }
}

void modes::enter(mode next, std::uint32_t masks, bool thumb, bool big_endian)
{
    const std::uint32_t before = cpsr();
    change_mode(next);
    spsr_[bank_of(next)] = before;
    masks_ = ((masks_ | masks) & ~psr_e) | (big_endian ? psr_e : 0);
    state_.it = 0;
    state_.thumb = thumb;
}

} // namespace bulkhead::machine::armv7::a_profile
