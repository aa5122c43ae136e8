// SPDX-License-Identifier: Apache-2.0
// One decoded instruction: its operands, and the function that executes it. The decoder (decode.h) makes it
// from a row of a table; the interpreter executes it each time that its block is executed.
#pragma once

#include <cstdint>

#include "machine/types.h"

namespace bulkhead::machine::armv7 {

class interpreter;
struct operation;

// How an instruction ended.
enum class outcome : std::uint8_t {
    next,      // continue with the instruction after it
    jumped,    // r[15] is the address of the next instruction, `thumb` its instruction set
    abandoned, // an access faulted; all registers are as before it
    left,      // the profile has set r[15], `thumb` and `it`
};

using handler = outcome (*)(interpreter &, const operation &);

// How an instruction uses its registers, for data flow analysis (dependence.h).
enum class register_use : std::uint8_t {
    data,      // writes d
    data_pair, // writes d and a
    compare,   // writes none
    load,      // address from n and m, writes d
    load_pair, // address from n and m, writes d and a
    load_many, // address from n, writes the list in imm
    store,     // address from n and m
    hint,      // writes none, makes no access
    branch,    // changes the flow of control, and may write lr
    system,    // unknown use
};

// The line of code whose first instruction in the block this is (code_lines.h).
struct code_line;

enum shift_type : std::uint8_t { lsl = 0, lsr = 1, asr = 2, ror = 3, rrx = 4 };

inline constexpr std::uint8_t always = 14; // condition "always"
inline constexpr std::uint8_t no_carry = 2;

struct operation {
    handler execute = nullptr;
    code_line *line = nullptr; // null: same line as the previous instruction
    const char *name = "";
    std::uint32_t address = 0;
    std::uint32_t pc_value = 0; // value of the pc as the instruction reads it
    std::uint32_t word = 0;
    std::uint32_t imm = 0; // immediate, distance, list of registers, or the address of a branch
    std::uint8_t bytes = 4;
    std::uint8_t condition = always;
    std::uint8_t it = 0;      // ITSTATE with which it executes
    std::uint8_t next_it = 0; // ITSTATE after it
    std::uint8_t d = 0;       // destination, or data of a store; low word of a long multiplication
    std::uint8_t n = 0;
    std::uint8_t m = 0;
    std::uint8_t a = 0;     // accumulator, second word, shift amount, high word
    std::uint8_t shift = 0; // shift_type
    std::uint8_t amount = 0;
    std::uint8_t extra = 0;        // width, bit, rotation, mask: depends on the row
    std::uint8_t carry = no_carry; // carry of a rotated immediate
    bool index = true;             // the offset is part of the address; false: it is added afterwards
    bool add = true;               // the offset is added; false: subtracted
    bool writeback = false;
    bool sets_flags = false;
    bool top_n = false; // upper halfword of n: SMLAxy and similar; exchange or rounding in others
    bool top_m = false;
    bool unprivileged = false;
    // Registers, one bit each, for data flow analysis (dependence.h).
    std::uint16_t reads = 0;
    std::uint16_t writes = 0;
    std::uint16_t addresses = 0; // registers that form the address of an access
    bool dependent = false;      // a load whose value becomes an address soon
    bool ends_block = false;
    register_use use = register_use::system;
};

} // namespace bulkhead::machine::armv7
