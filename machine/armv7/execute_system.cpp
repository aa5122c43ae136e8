// SPDX-License-Identifier: Apache-2.0
// Branches, and the instructions that the profile implements; see the headers.
#include "machine/armv7/execute_system.h"

namespace bulkhead::machine::armv7 {

outcome undefined_instruction(interpreter &on, const operation &what)
{
    at_instruction(on, what).undefined(what.word);
    return outcome::left;
}

outcome missing_instruction(interpreter &on, const operation &what)
{
    on.report_not_implemented(what.name, what.word);
    return undefined_instruction(on, what);
}

outcome exception_return(interpreter &on, const operation &what, std::uint32_t value)
{
    if (at_instruction(on, what).exception_return(value)) {
        return outcome::left;
    }
    return interwork_to(on, value);
}

outcome return_with_spsr(interpreter &on, const operation &what, std::uint32_t address)
{
    const auto psr = at_instruction(on, what).spsr();
    if (!psr) {
        return undefined_instruction(on, what);
    }
    on.system().return_from_exception(address, *psr);
    return outcome::left;
}

outcome nothing(interpreter & /*on*/, const operation & /*what*/)
{
    return outcome::next;
}

outcome branch(interpreter &on, const operation &what)
{
    on.state().r[pc] = what.imm;
    return outcome::jumped;
}

namespace {

std::uint32_t return_address(interpreter &on, const operation &what)
{
    return (what.address + what.bytes) | (on.state().thumb ? 1U : 0U);
}

} // namespace

outcome branch_with_link(interpreter &on, const operation &what)
{
    on.state().r[lr] = return_address(on, what);
    on.state().r[pc] = what.imm;
    return outcome::jumped;
}

outcome branch_with_link_exchange(interpreter &on, const operation &what)
{
    on.state().r[lr] = return_address(on, what);
    on.state().thumb = !on.state().thumb;
    on.state().r[pc] = what.imm;
    return outcome::jumped;
}

outcome branch_if_zero(interpreter &on, const operation &what)
{
    return on.state().r[what.n] == 0 ? branch(on, what) : outcome::next;
}

outcome branch_if_not_zero(interpreter &on, const operation &what)
{
    return on.state().r[what.n] != 0 ? branch(on, what) : outcome::next;
}

outcome branch_exchange(interpreter &on, const operation &what)
{
    return exchange_to(on, what, on.state().r[what.m]);
}

outcome branch_with_link_exchange_register(interpreter &on, const operation &what)
{
    const std::uint32_t target = on.state().r[what.m];
    on.state().r[lr] = return_address(on, what);
    return interwork_to(on, target);
}

outcome supervisor_call(interpreter &on, const operation &what)
{
    on.state().r[pc] = what.address + what.bytes;
    on.state().it = what.next_it;
    on.system().svc(what.imm);
    return outcome::left;
}

outcome breakpoint(interpreter &on, const operation &what)
{
    at_instruction(on, what).breakpoint(what.imm);
    return outcome::left;
}

outcome wait_for_interrupt(interpreter &on, const operation &what)
{
    at_instruction(on, what).wfi();
    on.look_for_interrupts();
    return outcome::next;
}

outcome wait_for_event(interpreter &on, const operation &what)
{
    at_instruction(on, what).wfe();
    on.look_for_interrupts();
    return outcome::next;
}

outcome send_event(interpreter &on, const operation &what)
{
    at_instruction(on, what).sev();
    return outcome::next;
}

outcome debug_hint(interpreter &on, const operation &what)
{
    on.mark(what.imm);
    return outcome::next;
}

outcome data_memory_barrier(interpreter &on, const operation &what)
{
    at_instruction(on, what).barrier(barrier_kind::dmb);
    return outcome::next;
}

outcome data_synchronization_barrier(interpreter &on, const operation &what)
{
    at_instruction(on, what).barrier(barrier_kind::dsb);
    return outcome::next;
}

outcome instruction_synchronization_barrier(interpreter &on, const operation &what)
{
    at_instruction(on, what).barrier(barrier_kind::isb);
    return outcome::next;
}

outcome move_from_status(interpreter &on, const operation &what)
{
    const auto value = at_instruction(on, what).mrs(what.imm);
    if (!value) {
        return undefined_instruction(on, what);
    }
    on.state().r[what.d] = *value;
    return outcome::next;
}

outcome move_to_status(interpreter &on, const operation &what)
{
    const std::uint32_t value = on.state().r[what.n];
    return at_instruction(on, what).msr(what.imm, what.extra, value) ? outcome::next
                                                                     : undefined_instruction(on, what);
}

outcome move_to_status_immediate(interpreter &on, const operation &what)
{
    return at_instruction(on, what).msr(what.amount, what.extra, what.imm) ? outcome::next
                                                                           : undefined_instruction(on, what);
}

outcome change_state(interpreter &on, const operation &what)
{
    cps_change change;
    change.enable = what.extra == 2;
    change.disable = what.extra == 3;
    change.a = (what.amount & 4U) != 0;
    change.i = (what.amount & 2U) != 0;
    change.f = (what.amount & 1U) != 0;
    if (what.top_n) {
        change.mode = what.imm;
    }
    return at_instruction(on, what).cps(change) ? outcome::next : undefined_instruction(on, what);
}

namespace {

coprocessor_register register_of(const operation &what)
{
    return {what.shift, what.amount, what.n, what.m, what.extra};
}

} // namespace

// To r15: into the flags.
outcome move_from_coprocessor(interpreter &on, const operation &what)
{
    const auto value = at_instruction(on, what).mrc(register_of(what));
    if (!value) {
        return undefined_instruction(on, what);
    }
    if (what.d == pc) {
        on.state().set_nzcv(*value);
    } else {
        on.state().r[what.d] = *value;
    }
    return outcome::next;
}

outcome move_to_coprocessor(interpreter &on, const operation &what)
{
    const std::uint32_t value = on.state().r[what.d];
    return at_instruction(on, what).mcr(register_of(what), value) ? outcome::next
                                                                  : undefined_instruction(on, what);
}

outcome move_two_from_coprocessor(interpreter &on, const operation &what)
{
    const auto value = at_instruction(on, what).mrrc(register_of(what));
    if (!value) {
        return undefined_instruction(on, what);
    }
    on.state().r[what.d] = static_cast<std::uint32_t>(*value);
    on.state().r[what.a] = static_cast<std::uint32_t>(*value >> 32U);
    return outcome::next;
}

outcome move_two_to_coprocessor(interpreter &on, const operation &what)
{
    const std::uint64_t value = std::uint64_t{on.state().r[what.a]} << 32U | on.state().r[what.d];
    return at_instruction(on, what).mcrr(register_of(what), value) ? outcome::next
                                                                   : undefined_instruction(on, what);
}

} // namespace bulkhead::machine::armv7
