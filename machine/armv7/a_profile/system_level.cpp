// SPDX-License-Identifier: Apache-2.0
// Exception entry and return, and the system instructions; see the header.
#include "machine/armv7/a_profile/system_level.h"

#include <utility>

#include "machine/armv7/interpreter.h"

namespace bulkhead::machine::armv7::a_profile {

namespace {

// DDI 0406C, tables B1-3 and B1-4.
struct entry {
    std::uint32_t vector;
    mode into;
    std::uint32_t masks;
};
constexpr entry entries[] = {
    {0x04, mode::undefined, psr_i},     // undefined
    {0x08, mode::supervisor, psr_i},    // supervisor call
    {0x0C, mode::abort, psr_i | psr_a}, // prefetch abort
    {0x10, mode::abort, psr_i | psr_a}, // data abort
    {0x18, mode::irq, psr_i | psr_a},   // IRQ
};

constexpr std::uint32_t system_coprocessor = 15;
constexpr std::uint32_t debug_event = 2; // FS of a breakpoint

} // namespace

std::string_view name_of(exception which)
{
    constexpr std::array<std::string_view, exception_count> names{"undefined", "supervisor_call",
                                                                  "prefetch_abort", "data_abort", "irq"};
    return names.at(static_cast<std::size_t>(which));
}

system_level::system_level(surroundings around)
    : around_(std::move(around)), modes_(around_.state),
      control_({.on = around_.on,
                .translation = around_.translation,
                .peripherals_at = around_.peripherals_at,
                .translation_changed = [this] { translation_changed(); },
                .missing = around_.missing}),
      memory_({around_.on, around_.translation, control_, modes_, around_.bus})
{
}

void system_level::connect()
{
    memory_.attach(by());
    connected_ = true;
    around_.translation.on_code_dropped([this] { by().translation_changed(); });
}

void system_level::translation_changed()
{
    if (connected_) {
        memory_.forget_pages();
        by().translation_changed();
    }
}

// --- Exceptions ---

void system_level::take(exception which, std::uint32_t link)
{
    const entry &into = entries[static_cast<std::size_t>(which)];
    ++taken_[static_cast<std::size_t>(which)];
    control_.performance().count_exception();
    modes_.enter(into.into, into.masks, control_.exceptions_in_thumb(), control_.exceptions_big_endian());
    around_.state.r[lr] = link;
    around_.state.r[pc] = control_.vectors() + into.vector;
    by().clear_exclusive();
    by().set_privileged(true);
}

void system_level::take_fault()
{
    const std::uint32_t at = around_.state.r[pc];
    if (memory_.was_data()) {
        take(exception::data_abort, at + 8);
    } else {
        take(exception::prefetch_abort, at + 4);
    }
}

void system_level::undefined(std::uint32_t /*word*/)
{
    take(exception::undefined, around_.state.r[pc] + (around_.state.thumb ? 2 : 4));
}

void system_level::svc(std::uint32_t /*immediate*/)
{
    take(exception::supervisor_call, around_.state.r[pc]);
}

void system_level::breakpoint(std::uint32_t /*immediate*/)
{
    control_.record_fetch_fault(debug_event, around_.state.r[pc]);
    take(exception::prefetch_abort, around_.state.r[pc] + 4);
}

// Whether an interrupt can be taken now. An interrupt that arrives later signals the core.
bool system_level::sees_interrupt()
{
    if (around_.irq.is_seen(around_.on.clock())) {
        return true;
    }
    if (around_.irq.seen_from() != engine::never) {
        around_.on.signal(around_.irq.seen_from());
    }
    return false;
}

void system_level::attend()
{
    if (!modes_.masks_irq() && sees_interrupt()) {
        take(exception::irq, around_.state.r[pc] + 4);
    }
}

bool system_level::exception_return(std::uint32_t /*value*/)
{
    return false;
}

// Interrupt masks and the privilege may have changed.
void system_level::state_changed()
{
    by().set_privileged(modes_.privileged());
    if (!modes_.masks_irq()) {
        by().look_for_interrupts();
    }
    if (modes_.big_endian()) {
        around_.missing("big-endian data (CPSR.E)");
    }
}

std::optional<std::uint32_t> system_level::spsr()
{
    return modes_.has_spsr() ? std::optional(modes_.spsr()) : std::nullopt;
}

void system_level::return_from_exception(std::uint32_t address, std::uint32_t cpsr)
{
    modes_.set_cpsr(cpsr);
    around_.state.r[pc] = address & ~(around_.state.thumb ? 1U : 3U);
    by().clear_exclusive();
    state_changed();
}

// --- Registers ---

std::uint32_t system_level::banked(std::uint32_t mode, std::uint32_t number)
{
    return modes_.banked(mode_from(mode).value_or(modes_.current()), number);
}

void system_level::set_banked(std::uint32_t mode, std::uint32_t number, std::uint32_t value)
{
    modes_.set_banked(mode_from(mode).value_or(modes_.current()), number, value);
}

std::optional<std::uint32_t> system_level::mrs(std::uint32_t which)
{
    if (which == 0) { // without T, J and ITSTATE
        return modes_.cpsr() & ~(psr_t | psr_j | registers::it_mask);
    }
    return spsr();
}

bool system_level::msr(std::uint32_t which, std::uint32_t mask, std::uint32_t value)
{
    std::uint32_t bits = 0;
    for (std::uint32_t byte = 0; byte < 4; ++byte) {
        bits |= (mask >> byte & 1U) != 0 ? 0xFFU << (8 * byte) : 0;
    }
    if (which != 0) {
        if (!modes_.has_spsr()) {
            return false;
        }
        modes_.set_spsr((modes_.spsr() & ~bits) | (value & bits));
        return true;
    }
    const std::uint32_t users = registers::apsr_mask | psr_e;
    modes_.change_cpsr(value, modes_.privileged() ? bits : bits & users);
    state_changed();
    return true;
}

bool system_level::cps(const cps_change &what)
{
    if (!modes_.privileged()) {
        return true; // DDI 0406C, B9.3.2: it does nothing in User mode
    }
    const std::uint32_t masks = (what.a ? psr_a : 0) | (what.i ? psr_i : 0) | (what.f ? psr_f : 0);
    if (what.enable || what.disable) {
        modes_.change_cpsr(what.disable ? masks : 0, masks);
    }
    if (what.mode) {
        modes_.change_cpsr(*what.mode, psr_mode);
    }
    state_changed();
    return true;
}

std::optional<std::uint32_t> system_level::mrc(const coprocessor_register &which)
{
    return which.coprocessor == system_coprocessor ? control_.read(which, modes_.privileged()) : std::nullopt;
}

bool system_level::mcr(const coprocessor_register &which, std::uint32_t value)
{
    return which.coprocessor == system_coprocessor && control_.write(which, modes_.privileged(), value);
}

// --- Waiting ---

// Whether the core is in a loop of nothing but WFI with interrupts masked. A pending interrupt ends WFI, but
// it cannot be taken, so that such a loop never ends.
bool system_level::waits_in_vain()
{
    constexpr std::uint64_t loop = 2; // WFI and a branch
    if (!modes_.masks_irq()) {
        return false;
    }
    const std::uint64_t now = around_.on.counts().instructions;
    const std::uint64_t before = std::exchange(waited_at_, now);
    return before != 0 && now - before <= loop;
}

void system_level::wfi()
{
    around_.on.order();
    if (waits_in_vain()) {
        halted_ = true;
        by().stop();
        around_.ended();
        return;
    }
    while (!sees_interrupt()) {
        around_.on.wait();
        around_.on.order();
    }
    by().look_for_interrupts();
}

void system_level::wfe()
{
    around_.on.order();
    while (!event_ && !sees_interrupt()) {
        around_.on.wait();
        around_.on.order();
    }
    event_ = false;
    by().look_for_interrupts();
}

void system_level::sev()
{
    event_ = true;
    around_.on.order();
    around_.send_event();
}

void system_level::barrier(barrier_kind /*which*/) {}

void system_level::not_implemented(std::string_view name, std::uint32_t /*word*/)
{
    around_.missing(name);
}

} // namespace bulkhead::machine::armv7::a_profile
