// SPDX-License-Identifier: Apache-2.0
// Short names of handlers, only for rows of the decoder's tables (table_t16.cpp, table_t32.cpp,
// table_a32.cpp).
#pragma once

#include "machine/armv7/execute_data.h"
#include "machine/armv7/execute_media.h"
#include "machine/armv7/execute_memory.h"
#include "machine/armv7/execute_system.h"

namespace bulkhead::machine::armv7::short_names {

template <alu operation, operand2 form>
inline constexpr handler plain = data_processing<operation, form, false>;
template <alu operation, operand2 form>
inline constexpr handler setting = data_processing<operation, form, true>;
inline constexpr operand2 immediate = operand2::immediate;
inline constexpr operand2 by_shift = operand2::shifted;
inline constexpr operand2 by_register = operand2::by_register;
inline constexpr handler nop = nothing;
// The offset is an immediate in ld and st, and a register in ldr and str.
template <datum type> inline constexpr handler ld = load<type, false>;
template <datum type> inline constexpr handler ldr = load<type, true>;
template <datum type> inline constexpr handler st = store<type, false>;
template <datum type> inline constexpr handler str = store<type, true>;

} // namespace bulkhead::machine::armv7::short_names
