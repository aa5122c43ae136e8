// SPDX-License-Identifier: Apache-2.0
// Common parts of the tables of different instruction sets: immediates, and rules for unpredictable encodings
// that patterns cannot express.
#pragma once

#include "machine/armv7/arithmetic.h"
#include "machine/armv7/encoding.h"

namespace bulkhead::machine::armv7 {

template <finisher... All> bool all_of(operation &what, const fields &of)
{
    return (All(what, of) && ...);
}

template <std::uint32_t factor> bool times(operation &what, const fields &of)
{
    what.imm = of.immediate() * factor;
    return true;
}

// The shift of a register: LSR and ASR by 0 mean 32, ROR by 0 means RRX.
inline bool immediate_shift(operation &what, const fields & /*of*/)
{
    if (what.amount == 0 && (what.shift == lsr || what.shift == asr)) {
        what.amount = 32;
    } else if (what.amount == 0 && what.shift == ror) {
        what.shift = rrx;
    }
    return true;
}

// A list of registers with or without the pc.
inline bool list(operation &what, const fields &of)
{
    what.imm = of.of('l');
    return what.imm != 0;
}

inline bool base_is_not_data(operation &what, const fields & /*of*/)
{
    return !what.writeback || what.n != what.d;
}
inline bool base_is_not_either(operation &what, const fields & /*of*/)
{
    return !what.writeback || (what.n != what.d && what.n != what.a);
}
inline bool two_destinations(operation &what, const fields & /*of*/)
{
    return what.d != what.a;
}
template <std::uint32_t bytes> bool of_bytes(operation &what, const fields & /*of*/)
{
    what.extra = bytes;
    return true;
}
// The status of a store-exclusive: neither the base nor a data register.
inline bool status_alone(operation &what, const fields & /*of*/)
{
    return what.d != what.n && what.d != what.a;
}
inline bool status_alone_of_two(operation &what, const fields & /*of*/)
{
    return what.d != what.n && what.d != what.a && what.d != what.m;
}

// Checks of bit fields: `extra` is the last bit, or the width minus one.
inline bool ordered_bits(operation &what, const fields & /*of*/)
{
    return what.extra >= what.amount;
}
inline bool bits_in_word(operation &what, const fields & /*of*/)
{
    return what.amount + what.extra <= 31;
}
// SSAT and similar have one bit for the shift: LSL, or ASR, where 0 means 32.
inline bool saturation_shift(operation &what, const fields &of)
{
    what.shift = of.of('t') != 0 ? asr : lsl;
    if (what.shift == asr && what.amount == 0) {
        what.amount = 32;
    }
    return true;
}

// SXTB and similar: rotation in bytes.
inline bool byte_rotation(operation &what, const fields &of)
{
    what.extra = static_cast<std::uint8_t>(of.of('e'));
    return true;
}

// MSR: the bytes of the status register that are written.
inline bool status_mask(operation &what, const fields &of)
{
    what.extra = static_cast<std::uint8_t>(of.of('e'));
    return what.extra != 0;
}

// CPS with a mode. `i`: change of the masks, `j`: whether the mode changes, `x`: which masks.
inline bool cps_mode(operation &what, const fields &of)
{
    what.extra = static_cast<std::uint8_t>(of.of('i'));
    what.top_n = of.of('j') != 0;
    what.amount = static_cast<std::uint8_t>(of.of('x'));
    what.imm = of.of('l');
    if (what.extra == 1 || (what.imm != 0 && !what.top_n)) {
        return false;
    }
    return what.extra >= 2 ? what.amount != 0 : what.amount == 0 && what.top_n;
}

// SRS: the mode whose stack is used.
inline bool listed_mode(operation &what, const fields &of)
{
    what.imm = of.of('l');
    return true;
}

inline bool coprocessor(operation &what, const fields &of)
{
    what.amount = static_cast<std::uint8_t>(of.of('i'));
    what.extra = static_cast<std::uint8_t>(of.of('j'));
    what.shift = static_cast<std::uint8_t>(of.of('e'));
    return what.shift != 10 && what.shift != 11;
}

// MRC: the destination is the flags, or a register other than SP.
inline bool coprocessor_to_register(operation &what, const fields &of)
{
    return what.d != sp && coprocessor(what, of);
}

inline bool branch_target(operation &what, std::uint32_t distance)
{
    what.imm = what.pc_value + distance;
    return true;
}

} // namespace bulkhead::machine::armv7
