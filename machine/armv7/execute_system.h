// SPDX-License-Identifier: Apache-2.0
// Branches, IT and hints, and the instructions that the profile implements.
#pragma once

#include "machine/armv7/execute.h"

namespace bulkhead::machine::armv7 {

outcome nothing(interpreter &on, const operation &what); // NOP, IT, PLD and other hints

// `imm` is the target address.
outcome branch(interpreter &on, const operation &what);
outcome branch_with_link(interpreter &on, const operation &what);
outcome branch_with_link_exchange(interpreter &on, const operation &what); // to the other instruction set
outcome branch_if_zero(interpreter &on, const operation &what);
outcome branch_if_not_zero(interpreter &on, const operation &what);
outcome branch_exchange(interpreter &on, const operation &what); // BX m
outcome branch_with_link_exchange_register(interpreter &on, const operation &what);

outcome supervisor_call(interpreter &on, const operation &what);
outcome breakpoint(interpreter &on, const operation &what);
outcome wait_for_interrupt(interpreter &on, const operation &what);
outcome wait_for_event(interpreter &on, const operation &what);
outcome send_event(interpreter &on, const operation &what);
outcome debug_hint(interpreter &on, const operation &what); // `imm`: its option
outcome data_memory_barrier(interpreter &on, const operation &what);
outcome data_synchronization_barrier(interpreter &on, const operation &what);
outcome instruction_synchronization_barrier(interpreter &on, const operation &what);

// `imm`: the status register (profile.h); `extra`: mask.
outcome move_from_status(interpreter &on, const operation &what);
outcome move_to_status(interpreter &on, const operation &what);
outcome move_to_status_immediate(interpreter &on, const operation &what); // `amount`: the status register
// `extra`: imod; `amount`: A, I, F; `top_n`: whether the mode changes, to `imm`.
outcome change_state(interpreter &on, const operation &what);
// `n`, `m`: CRn, CRm; `amount`: opc1; `extra`: opc2; `shift`: coprocessor.
outcome move_from_coprocessor(interpreter &on, const operation &what);
outcome move_to_coprocessor(interpreter &on, const operation &what);
outcome move_two_from_coprocessor(interpreter &on, const operation &what);
outcome move_two_to_coprocessor(interpreter &on, const operation &what);

} // namespace bulkhead::machine::armv7
