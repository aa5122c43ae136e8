// SPDX-License-Identifier: Apache-2.0
// Exception entry and return (Arm DDI 0403E.e B1.5.6 to B1.5.12): frames on the stack, derived faults,
// tail-chaining, EXC_RETURN. If a more urgent exception becomes pending while a frame is stored, it is taken
// instead (late arrival); the frame serves for both. Left out: abandoning an unstacking for an exception that
// arrives during it; that exception is taken behind the return.
#include "machine/armv7/m_profile/m_profile.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "machine/armv7/m_profile/fault_status.h"
#include "machine/program/text.h"

namespace bulkhead::machine::armv7::m_profile {
namespace {

constexpr std::uint32_t frame_bytes = 32;
constexpr std::uint32_t frame_words = 8;
constexpr std::uint32_t xpsr_aligned = 1U << 9U; // of a stored PSR: SP was moved by 4
constexpr std::uint32_t xpsr_thumb = 1U << 24U;
constexpr std::uint32_t ipsr_mask = 0x1FF;
constexpr std::uint32_t to_handler = 0xFFFFFFF1;
constexpr std::uint32_t to_thread_main = 0xFFFFFFF9;
constexpr std::uint32_t to_thread_process = 0xFFFFFFFD;
constexpr std::uint32_t exc_return_ones = 0xF0000000;

picoseconds time_of_cycles(std::uint64_t cycles, std::uint64_t frequency_hz)
{
    return picoseconds{(cycles * 1'000'000'000'000 + frequency_hz / 2) / frequency_hz};
}

} // namespace

std::uint32_t m_profile::xpsr() const
{
    return state_.apsr() | state_.it_bits() | (state_.thumb ? xpsr_thumb : 0) | system_.ipsr;
}

std::uint32_t m_profile::exc_return_now() const
{
    return in_handler() ? to_handler : process_stack_ ? to_thread_process : to_thread_main;
}

void m_profile::finish(core_end why, std::string trouble)
{
    if (end_ == core_end::none) {
        end_ = why;
        trouble_ = std::move(trouble);
        if (when_ended_) {
            when_ended_();
        }
    }
    by().stop();
}

void m_profile::mode_changed()
{
    const bool view =
        !mpu_.enabled() || (!mpu_.checks_fault_handlers() && events_.is_negative(system_.masks));
    if (view != default_view_) {
        default_view_ = view;
        by().translation_changed();
    }
    by().set_privileged(is_privileged());
}

// Makes r13 the other stack pointer.
void m_profile::use_stack(bool process)
{
    if (process != process_stack_) {
        process_stack_ = process;
        std::swap(state_.r[sp], other_stack_);
    }
}

// --- Faults ---

void m_profile::record(const fault &what)
{
    system_.cfsr |= what.status;
    if ((what.status & cfsr::mmarvalid) != 0) {
        system_.mmfar = what.address;
    }
    if ((what.status & cfsr::bfarvalid) != 0) {
        system_.bfar = what.address;
    }
}

// The exception that a synchronous exception becomes if it has to preempt priority `base`: HardFault if its
// own is disabled or not urgent enough. Nothing: HardFault cannot preempt either.
std::optional<std::uint32_t> m_profile::escalated(std::uint32_t number, int base)
{
    if (number != exception::hard_fault &&
        (!events_.is_enabled(number) || events_.group_priority(events_.priority(number)) >= base)) {
        system_.hfsr |= hfsr::forced;
        number = exception::hard_fault;
    }
    if (number == exception::hard_fault && base <= -1) {
        finish(core_end::lockup, sentence("lockup: a fault at priority ", std::to_string(base), ", pc ",
                                          hex{state_.r[pc]}, ", CFSR ", hex{system_.cfsr}));
        return {};
    }
    return number;
}

void m_profile::take_fault()
{
    const fault taken = fault_;
    if (taken.number == exception::mem_manage) {
        ++counts_.faults;
        miss_ = {.open = !in_handler(), .pc = state_.r[pc], .stack = state_.r[sp], .since = on_.clock()};
    }
    record(taken);
    synchronous(taken.number, state_.r[pc]);
}

void m_profile::undefined(std::uint32_t word)
{
    const bool for_coprocessor = (word >> 16U & 0xEC00U) == 0xEC00U;
    system_.cfsr |= for_coprocessor ? cfsr::nocp : cfsr::undefinstr;
    synchronous(exception::usage_fault, state_.r[pc]);
}

void m_profile::invalid_state()
{
    system_.cfsr |= cfsr::invstate;
    synchronous(exception::usage_fault, state_.r[pc]);
}

// Without a debugger.
void m_profile::breakpoint(std::uint32_t /*immediate*/)
{
    system_.hfsr |= hfsr::debugevt;
    synchronous(exception::hard_fault, state_.r[pc]);
}

void m_profile::svc(std::uint32_t /*immediate*/)
{
    constexpr std::uint32_t svc_bytes = 2;
    const bool can_be_taken =
        events_.group_priority(events_.priority(exception::svcall)) < execution_priority();
    synchronous(exception::svcall, can_be_taken ? state_.r[pc] : state_.r[pc] - svc_bytes);
}

void m_profile::attend()
{
    const int base = execution_priority();
    if (events_.preempting(base)) {
        enter(base);
    }
}

// --- Entry ---

void m_profile::synchronous(std::uint32_t number, std::uint32_t return_address)
{
    const int base = execution_priority();
    if (const auto taken = escalated(number, base)) {
        state_.r[pc] = return_address;
        events_.set_pending(*taken, true);
        enter(base);
    }
}

// A pending exception preempts the code that executes with priority `base`.
void m_profile::enter(int base)
{
    const std::uint32_t exc_return = exc_return_now();
    push_frame(base);
    const auto chosen = events_.preempting(base);
    if (chosen && end_ == core_end::none) {
        take(*chosen, exc_return, wanted_.entry_cycles, base);
    }
}

// SP moves whether the frame can be stored or not. A fault while storing it is derived: it is taken instead
// of the exception that the frame is for if it is at least as urgent, and that exception stays pending.
void m_profile::push_frame(int base)
{
    const std::uint32_t top = state_.r[sp] & ~3U;
    const std::uint32_t frame = (top - frame_bytes) & ~7U;
    const std::uint32_t psr = xpsr() | ((top & 4U) != 0 ? xpsr_aligned : 0);
    const std::array<std::uint32_t, frame_words> words{state_.r[0],  state_.r[1],  state_.r[2],  state_.r[3],
                                                       state_.r[12], state_.r[lr], state_.r[pc], psr};
    const bool privileged = is_privileged();
    state_.r[sp] = frame;
    for (std::uint32_t i = 0; i < frame_words; ++i) {
        if (!write_checked({.address = frame + 4 * i,
                            .bytes = 4,
                            .privileged = privileged,
                            .write = true,
                            .of_frame = true},
                           words[i])) {
            derive(cfsr::mstkerr, cfsr::stkerr, base);
            return;
        }
    }
}

void m_profile::derive(std::uint32_t memory_status, std::uint32_t bus_status, int base)
{
    // Faults on the stack leave MMFAR and BFAR unchanged.
    const bool by_mpu = fault_.number == exception::mem_manage;
    system_.cfsr |= by_mpu ? memory_status : bus_status;
    if (const auto taken = escalated(by_mpu ? exception::mem_manage : exception::bus_fault, base)) {
        events_.set_pending(*taken, true);
    }
}

void m_profile::take(std::uint32_t number, std::uint32_t exc_return, std::uint32_t cycles, int base)
{
    const std::uint32_t entry = system_.vtor + 4 * number;
    std::uint32_t vector = 0;
    if (const std::uint8_t *const host = bus_.memory(entry, 4)) {
        charge({.address = entry, .bytes = 4, .privileged = true, .write = false},
               default_map(entry).attributes);
        std::memcpy(&vector, host, sizeof vector);
    } else {
        system_.hfsr |= hfsr::vecttbl;
        if (number == exception::hard_fault || base <= -1) {
            finish(core_end::lockup, sentence("lockup: no memory at the vector ", hex{entry}));
            return;
        }
        take(exception::hard_fault, exc_return, cycles, base);
        return;
    }
    if (cycles != 0) {
        on_.spend(time_of_cycles(cycles, on_.settings().frequency_hz));
    }
    use_stack(false);
    events_.enter(number);
    ++entered_[number];
    system_.ipsr = number;
    state_.r[lr] = exc_return;
    state_.r[pc] = vector & ~1U;
    state_.thumb = (vector & 1U) != 0;
    state_.it = 0;
    event_ = true;
    by().clear_exclusive();
    mode_changed();
    if (events_.any_pending()) {
        by().look_for_interrupts();
    }
}

// --- Return ---

void m_profile::deactivate(std::uint32_t number)
{
    events_.leave(number);
    if (number != exception::nmi) {
        system_.masks.faultmask = false;
    }
}

// Enters the next handler, on the frame of the handler that has returned.
void m_profile::chain(std::uint32_t number, std::uint32_t exc_return)
{
    const int base = execution_priority();
    if (const auto taken = escalated(number, base)) {
        events_.set_pending(*taken, true);
        take(*events_.preempting(base), exc_return, wanted_.tail_chain_cycles, base);
    }
}

bool m_profile::exception_return(std::uint32_t value)
{
    if (!in_handler()) {
        return false;
    }
    value |= exc_return_ones;
    const std::uint32_t returning = system_.ipsr;
    const std::size_t nested = events_.active_count();
    const bool was_active = events_.is_active(returning);
    const bool to_thread = value == to_thread_main || value == to_thread_process;
    const bool known = to_thread || value == to_handler;
    const bool thread_allowed = nested == 1 || (system_.ccr & ccr_bit::nonbasethrdena) != 0;
    deactivate(returning);
    if (!was_active || !known || (to_thread && !thread_allowed)) {
        system_.cfsr |= cfsr::invpc;
        chain(exception::usage_fault, value);
        return true;
    }
    const int base = execution_priority();
    if (const auto next = events_.preempting(base)) {
        miss_.open = miss_.open && returning != exception::mem_manage;
        take(*next, value, wanted_.tail_chain_cycles, base);
        return true;
    }
    if (!pop_frame(value)) {
        return true;
    }
    if (wanted_.exit_cycles != 0) {
        on_.spend(time_of_cycles(wanted_.exit_cycles, on_.settings().frequency_hz));
    }
    if (returning == exception::mem_manage) {
        count_miss(state_.r[pc]);
    }
    event_ = true;
    by().clear_exclusive();
    mode_changed();
    if (events_.any_pending()) {
        by().look_for_interrupts();
    }
    if (to_thread && nested == 1 && (system_.scr & scr_bit::sleeponexit) != 0) {
        wait_for_interrupt();
    }
    return true;
}

// Reads the frame with the rights of the code that is returned to. After a fault the frame stays in place.
bool m_profile::pop_frame(std::uint32_t value)
{
    const bool to_thread = value != to_handler;
    const bool process = value == to_thread_process;
    const std::uint32_t frame = stack_pointer(process);
    const bool privileged = !to_thread || !unprivileged_thread_;
    std::array<std::uint32_t, frame_words> words{};
    for (std::uint32_t i = 0; i < frame_words; ++i) {
        const auto word =
            read_checked({.address = frame + 4 * i, .bytes = 4, .privileged = privileged, .write = false});
        if (!word) {
            const bool by_mpu = fault_.number == exception::mem_manage;
            system_.cfsr |= by_mpu ? cfsr::munstkerr : cfsr::unstkerr;
            chain(by_mpu ? exception::mem_manage : exception::bus_fault, value);
            return false;
        }
        words[i] = *word;
    }
    const std::uint32_t psr = words[7];
    if (((psr & ipsr_mask) == exception::none) != to_thread) {
        system_.cfsr |= cfsr::invpc;
        chain(exception::usage_fault, value);
        return false;
    }
    system_.ipsr = psr & ipsr_mask;
    use_stack(process);
    state_.r[sp] = (frame + frame_bytes) | ((psr & xpsr_aligned) != 0 ? 4U : 0);
    std::copy_n(words.begin(), 4, state_.r.begin());
    state_.r[12] = words[4];
    state_.r[lr] = words[5];
    state_.r[pc] = words[6] & ~1U;
    state_.thumb = (psr & xpsr_thumb) != 0;
    state_.set_apsr(psr);
    state_.set_it_bits(psr);
    return true;
}

// Called when a fault handler returns. If the faulting instruction executes again, the handler has loaded an
// MPU region for it: this counts as a miss.
void m_profile::count_miss(std::uint32_t pc_after)
{
    if (miss_.open && pc_after == miss_.pc && state_.r[sp] == miss_.stack) {
        const picoseconds took = on_.clock() - miss_.since;
        ++counts_.misses;
        counts_.miss_time = counts_.miss_time + took;
        counts_.longest_miss = std::max(counts_.longest_miss, took);
        if (when_missed_) {
            when_missed_(took);
        }
    }
    miss_.open = false;
}

// --- Waiting ---

// An interrupt that PRIMASK masks wakes the core, too.
void m_profile::wait_for_interrupt()
{
    for (;;) {
        const priority_masks without_primask{false, system_.masks.faultmask, system_.masks.basepri};
        const int base = events_.execution_priority(without_primask);
        if (events_.preempting(base)) {
            return;
        }
        if (!events_.can_wake(base, systick_.running() && registers_.systick_interrupts())) {
            finish(core_end::halted, "");
            return;
        }
        on_.wait();
    }
}

void m_profile::wfi()
{
    wait_for_interrupt();
}

void m_profile::wfe()
{
    const bool any = (system_.scr & scr_bit::sevonpend) != 0 && events_.any_pending();
    if (!event_ && !any) {
        wait_for_interrupt();
    }
    event_ = false;
}

} // namespace bulkhead::machine::armv7::m_profile
