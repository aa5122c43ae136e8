// SPDX-License-Identifier: Apache-2.0
// Common functions of all instructions: changes of the pc, and calls of the profile.
#pragma once

#include "machine/armv7/arithmetic.h"
#include "machine/armv7/interpreter.h"
#include "machine/armv7/operation.h"

namespace bulkhead::machine::armv7 {

// Sets the state that calls of the profile require (profile.h).
inline profile &at_instruction(interpreter &on, const operation &what)
{
    on.state().r[pc] = what.address;
    on.state().it = what.it;
    return on.system();
}

outcome undefined_instruction(interpreter &on, const operation &what);
outcome missing_instruction(interpreter &on, const operation &what);

// BranchWritePC: the instruction set is unchanged.
inline outcome branch_to(interpreter &on, std::uint32_t address)
{
    registers &state = on.state();
    state.r[pc] = address & (state.thumb ? ~1U : ~3U);
    return outcome::jumped;
}

// Bit 0 selects the instruction set. If bits 1 and 0 are 10, which is unpredictable in v7-A, execution
// continues in A32 at the aligned word; v7-M has no A32, and faults at the next instruction.
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

// v7-A: exception return with the SPSR, after all other effects of the instruction.
outcome return_with_spsr(interpreter &on, const operation &what, std::uint32_t address);

} // namespace bulkhead::machine::armv7
