// SPDX-License-Identifier: Apache-2.0
// What the functions of all instructions have in common: changes of the pc, and the ways to the profile.
#pragma once

#include "machine/armv7/arithmetic.h"
#include "machine/armv7/interpreter.h"
#include "machine/armv7/operation.h"

namespace bulkhead::machine::armv7 {

// The state that a call of the profile is promised (profile.h).
inline profile &at_instruction(interpreter &on, const operation &what)
{
    on.state().r[pc] = what.address;
    on.state().it = what.it;
    return on.system();
}

outcome undefined_instruction(interpreter &on, const operation &what);
outcome missing_instruction(interpreter &on, const operation &what);

// BranchWritePC: the instruction set stays.
inline outcome branch_to(interpreter &on, std::uint32_t address)
{
    registers &state = on.state();
    state.r[pc] = address & (state.thumb ? ~1U : ~3U);
    return outcome::jumped;
}

// Bit 0 says which instruction set it is. What v7-A leaves unpredictable (bits 1 and 0 are 10) is A32 at the
// word; v7-M has no A32, and faults at the next instruction.
inline outcome interwork_to(interpreter &on, std::uint32_t address)
{
    registers &state = on.state();
    state.thumb = (address & 1U) != 0;
    return branch_to(on, address);
}

outcome exception_return(interpreter &on, const operation &what, std::uint32_t value);

// BXWritePC and LoadWritePC.
inline outcome exchange_to(interpreter &on, const operation &what, std::uint32_t address)
{
    if (address >= 0xF0000000U && on.m_profile()) [[unlikely]] {
        return exception_return(on, what, address);
    }
    return interwork_to(on, address);
}

// ALUWritePC.
inline outcome result_to_pc(interpreter &on, std::uint32_t address)
{
    return on.state().thumb ? branch_to(on, address) : interwork_to(on, address);
}

// v7-A: with the SPSR, behind all else that the instruction does.
outcome return_with_spsr(interpreter &on, const operation &what, std::uint32_t address);

} // namespace bulkhead::machine::armv7
