// SPDX-License-Identifier: Apache-2.0
// The loop over blocks and their instructions; see the header.
#include "machine/armv7/interpreter.h"

#include <limits>
#include <utility>

#include "machine/armv7/arithmetic.h"
#include "machine/armv7/blocks.h"

namespace bulkhead::machine::armv7 {

interpreter::interpreter(core &on, registers &state, profile &system)
    : on_(on), state_(state), system_(system), m_profile_(system.has().m_profile),
      words_per_cycle_(system.has().words_per_cycle), blocks_(std::make_unique<blocks>(on, system.has()))
{
    system.attach(*this);
    on.set_attend([this] { attention_ |= wants_interrupts; });
}

interpreter::~interpreter()
{
    on_.set_attend({});
}

std::uint64_t interpreter::blocks_decoded() const
{
    return blocks_->decoded();
}

bool interpreter::code_at(phys_addr where) const
{
    return blocks_->in_page(where.value >> blocks::page_bits);
}

void interpreter::code_changed(phys_addr where, std::uint32_t bytes)
{
    if (blocks_->end(where, bytes)) {
        attention_ |= wants_lookup;
    }
}

void interpreter::forget_code()
{
    blocks_->end_all();
    attention_ |= wants_lookup;
}

void interpreter::report_not_implemented(std::string_view name, std::uint32_t word)
{
    if (reported_.emplace(name).second) {
        system_.not_implemented(name, word);
    }
}

void interpreter::run()
{
    (void)run(std::numeric_limits<std::uint64_t>::max());
}

std::uint64_t interpreter::run(std::uint64_t instructions)
{
    left_ = instructions;
    block *now = nullptr;
    while (left_ > 0 && (attention_ & wants_stop) == 0) {
        if (attention_ != 0 || blocks_->has_ended_ones()) {
            take_attention();
            now = nullptr;
        } else if (now == nullptr) {
            // fetch() may itself evict a block's TLB entry. That entry is looked up again after this block:
            // otherwise two blocks that evict each other would never execute.
            now = look_up();
            if (now != nullptr) {
                attention_ &= ~wants_lookup;
            }
        } else {
            now = execute(*now);
        }
    }
    attention_ &= ~wants_stop;
    const std::uint64_t done = instructions - left_;
    executed_ += done;
    return done;
}

// Called between two instructions; r[15] and `it` are those of the next one.
void interpreter::take_attention()
{
    if (blocks_->has_ended_ones()) {
        recent_.fill(nullptr);
        blocks_->collect();
    }
    const std::uint32_t wanted = std::exchange(attention_, 0);
    if ((wanted & wants_interrupts) != 0) {
        system_.attend();
    }
}

bool interpreter::fits(const block &one) const
{
    return one.place.address == state_.r[pc] && one.place.it == state_.it &&
           one.place.thumb == state_.thumb && one.allowed_in[privileged_ ? 1 : 0] == epoch_;
}

// Returns null if there is no code; the profile has then taken the fault.
block *interpreter::look_up()
{
    block *&recent = recent_[state_.r[pc] >> 1U & (recent_size - 1)];
    if (recent == nullptr || !fits(*recent)) {
        block *const found = find_block();
        if (found == nullptr) {
            return nullptr;
        }
        recent = found;
    }
    return recent;
}

block *interpreter::find_block()
{
    if (m_profile_ && !state_.thumb) {
        system_.invalid_state();
        return nullptr;
    }
    const block_place place{state_.r[pc], state_.it, state_.thumb};
    const std::uint64_t epoch = epoch_;
    const auto span = system_.fetch(place.address);
    if (!span) {
        system_.take_fault();
        return nullptr;
    }
    blocks::code code{*span, std::nullopt};
    if (place.thumb && blocks::goes_beyond(*span)) {
        code.rest = system_.fetch(place.address + span->bytes);
        if (!code.rest) {
            system_.take_fault();
            return nullptr;
        }
    }
    block *found = blocks_->find(place, code);
    if (found == nullptr) {
        found = &blocks_->decode(place, code);
    }
    found->allowed_in[privileged_ ? 1 : 0] = epoch;
    return found;
}

// Without a cache, each line is read when it is entered, as a prefetch buffer of one line does.
void interpreter::enter_line(code_line &line)
{
    if (line.cached) {
        line.present = true; // set first, since the fetch may evict this line itself
        on_.fetch(line.where, blocks_->lines(), line.address);
    } else {
        on_.past_caches(line.where, blocks_->lines()->line_bytes(), access_kind::read);
    }
}

// Returns the next block; null: look up the block at r[15].
block *interpreter::execute(block &one)
{
    if (one.line != nullptr && !one.line->present) [[unlikely]] {
        enter_line(*one.line);
    }
    const operation *what = one.operations.data();
    const operation *const end = what + one.operations.size();
    outcome how = outcome::next;
    for (;;) {
        if (what->line != nullptr && !what->line->present) [[unlikely]] {
            enter_line(*what->line);
        }
        state_.r[pc] = what->pc_value;
        if (what->condition == always || passes(what->condition, state_)) [[likely]] {
            how = what->execute(*this, *what);
            if (how == outcome::abandoned) [[unlikely]] {
                break; // it has not been executed, and does not count as an instruction
            }
        }
        on_.instructions(1);
        --left_;
        if (how != outcome::next) {
            break;
        }
        if (what + 1 == end || attention_ != 0 || left_ == 0) [[unlikely]] {
            state_.r[pc] = what->address + what->bytes;
            break;
        }
        ++what;
    }
    switch (how) {
    case outcome::next:
    case outcome::jumped:
        state_.it = what->next_it;
        break;
    case outcome::abandoned:
        state_.r[pc] = what->address;
        state_.it = what->it;
        system_.take_fault();
        return nullptr;
    case outcome::left:
        return nullptr;
    }
    if (attention_ != 0 || left_ == 0) {
        return nullptr;
    }
    block *const before = one.followers[how == outcome::jumped ? 1 : 0];
    if (before != nullptr && fits(*before)) [[likely]] {
        return before;
    }
    block *const after = look_up();
    one.followers[how == outcome::jumped ? 1 : 0] = after;
    return after;
}

} // namespace bulkhead::machine::armv7
