// SPDX-License-Identifier: Apache-2.0
// T32, 32 bits; the first halfword is the upper one (Arm DDI 0406C.d A6.3, DDI 0403E.e A5.3).
#include <bit>

#include "machine/armv7/finish.h"
#include "machine/armv7/table_handlers.h"

namespace bulkhead::machine::armv7 {

namespace {

using namespace short_names;
using enum register_use;
using enum datum;

// i:imm3:imm8 (DDI 0406C.d A6.3.2).
bool modified_immediate(operation &what, const fields &of)
{
    const std::uint32_t bits = of.immediate();
    const std::uint32_t low = bits & 0xFFU;
    if (bits >> 10U != 0) {
        what.imm = std::rotr(0x80U | (bits & 0x7FU), static_cast<int>(bits >> 7U));
        what.carry = static_cast<std::uint8_t>(what.imm >> 31U);
        return true;
    }
    constexpr std::uint32_t copies[] = {1, 0x00010001, 0x01000100, 0x01010101};
    what.imm = low * copies[bits >> 8U];
    return bits >> 8U == 0 || low != 0;
}

// ADD and SUB: SP is a destination only if SP is the first operand, with LSL by up to 3.
bool stack_from_stack(operation &what, const fields & /*of*/)
{
    return what.d != sp || what.n == sp;
}
bool small_shift_to_stack(operation &what, const fields &of)
{
    return stack_from_stack(what, of) && (what.d != sp || (what.shift == lsl && what.amount <= 3));
}
// MOV that sets no flags: one of the two registers can be SP.
bool one_stack(operation &what, const fields & /*of*/)
{
    return what.sets_flags ? what.d != sp && what.m != sp : what.d != sp || what.m != sp;
}
bool same_source_twice(operation &what, const fields & /*of*/)
{
    return what.n == what.m;
}
// ASR by 0 is the encoding of the operation on halfwords.
bool thumb_saturation_shift(operation &what, const fields &of)
{
    return saturation_shift(what, of) && what.amount != 32;
}

// A post-indexed access always writes back; without both bits the word is another instruction.
bool indexed(operation &what, const fields & /*of*/)
{
    return what.index || what.writeback;
}
constexpr std::uint32_t two_registers = 2;
bool stored_list(operation &what, const fields &of)
{
    return list(what, of) && std::popcount(what.imm) >= static_cast<int>(two_registers) && what.n != pc &&
           (what.imm & 0xA000U) == 0 && (!what.writeback || (what.imm >> what.n & 1U) == 0);
}
bool loaded_list(operation &what, const fields &of)
{
    return list(what, of) && std::popcount(what.imm) >= static_cast<int>(two_registers) && what.n != pc &&
           (what.imm & 0x2000U) == 0 && what.imm >> 14U != 3U &&
           (!what.writeback || (what.imm >> what.n & 1U) == 0);
}
bool pc_base_is_fixed(operation &what, const fields & /*of*/)
{
    return what.n != pc || !what.writeback;
}

// S:J2:J1:imm6:imm11 of a conditional branch.
bool conditional_target(operation &what, const fields &of)
{
    const std::uint32_t distance = of.of('s') << 19U | of.of('y') << 18U | of.of('x') << 17U | of.immediate();
    return of.of('c') < always && branch_target(what, extended(distance, 20) * 2);
}
// S:I1:I2:imm10:imm11; `low` is the last 21 bits. I is J where S is 1, and not J otherwise.
std::uint32_t far_distance(const fields &of, std::uint32_t low)
{
    const std::uint32_t sign = of.of('s');
    const std::uint32_t distance =
        sign << 23U | (1U ^ sign ^ of.of('x')) << 22U | (1U ^ sign ^ of.of('y')) << 21U | low;
    return extended(distance, 24) * 2;
}
bool far_target(operation &what, const fields &of)
{
    return branch_target(what, far_distance(of, of.immediate()));
}
bool far_target_exchanging(operation &what, const fields &of)
{
    what.imm = (what.pc_value & ~3U) + far_distance(of, of.immediate() << 1U); // to a word boundary
    return true;
}

// clang-format off
const row rows[] = {

    // Multiple (A6.3.5)
    {"1110100000 w 0 1101 1100 0000 000 lllll; p=1, u=0", "SRS", store_return_state, nullptr, system, "", listed_mode, it_rule::any, only::a_profile},
    {"1110100110 w 0 1101 1100 0000 000 lllll; p=0, u=1", "SRS", store_return_state, nullptr, system, "", listed_mode, it_rule::any, only::a_profile},
    {"1110100000 w 1 nnnn 1100 0000 0000 0000; p=1, u=0", "RFE", return_from_stack, nullptr, register_use::branch, "N", nullptr, it_rule::last, only::a_profile},
    {"1110100110 w 1 nnnn 1100 0000 0000 0000; p=0, u=1", "RFE", return_from_stack, nullptr, register_use::branch, "N", nullptr, it_rule::last, only::a_profile},
    {"1110100010 w 0 nnnn llllllllllllllll; p=0, u=1", "STM", store_multiple, nullptr, register_use::store, "", stored_list},
    {"1110100010 w 1 nnnn llllllllllllllll; p=0, u=1", "LDM", load_multiple, nullptr, load_many, "", loaded_list},
    {"1110100100 w 0 nnnn llllllllllllllll; p=1, u=0", "STMDB", store_multiple, nullptr, register_use::store, "", stored_list},
    {"1110100100 w 1 nnnn llllllllllllllll; p=1, u=0", "LDMDB", load_multiple, nullptr, load_many, "", loaded_list},

    // Double, exclusive, table branch (A6.3.6)
    {"111010000100 nnnn aaaa dddd iiiiiiii", "STREX", store_exclusive, nullptr, register_use::store, "adN", all_of<times<4>, of_bytes<4>, status_alone>},
    {"111010000101 nnnn dddd 1111 iiiiiiii", "LDREX", load_exclusive, nullptr, register_use::load, "dN", all_of<times<4>, of_bytes<4>>},
    {"111010001100 nnnn aaaa 1111 0100 dddd", "STREXB", store_exclusive, nullptr, register_use::store, "adN", all_of<of_bytes<1>, status_alone>},
    {"111010001101 nnnn dddd 1111 0100 1111", "LDREXB", load_exclusive, nullptr, register_use::load, "dN", of_bytes<1>},
    {"111010001100 nnnn aaaa 1111 0101 dddd", "STREXH", store_exclusive, nullptr, register_use::store, "adN", all_of<of_bytes<2>, status_alone>},
    {"111010001101 nnnn dddd 1111 0101 1111", "LDREXH", load_exclusive, nullptr, register_use::load, "dN", of_bytes<2>},
    {"111010001100 nnnn aaaa mmmm 0111 dddd", "STREXD", store_exclusive, nullptr, register_use::store, "admN", all_of<of_bytes<8>, status_alone_of_two>, it_rule::any, only::a_profile},
    {"111010001101 nnnn dddd aaaa 0111 1111", "LDREXD", load_exclusive, nullptr, load_pair, "daN", all_of<of_bytes<8>, two_destinations>, it_rule::any, only::a_profile},
    {"111010001101 nnnn 1111 0000 0000 mmmm", "TBB", table_branch, nullptr, register_use::branch, "m", of_bytes<1>, it_rule::last},
    {"111010001101 nnnn 1111 0000 0001 mmmm", "TBH", table_branch, nullptr, register_use::branch, "m", of_bytes<2>, it_rule::last},
    {"1110100 p u 1 w 0 nnnn dddd aaaa iiiiiiii", "STRD", store_double<false>, nullptr, register_use::store, "daN", all_of<times<4>, indexed, base_is_not_either>},
    {"1110100 p u 1 w 1 nnnn dddd aaaa iiiiiiii", "LDRD", load_double<false>, nullptr, load_pair, "da", all_of<times<4>, indexed, base_is_not_either, two_destinations, pc_base_is_fixed>},

    // Data processing, shifted register (A6.3.11)
    {"1110101 0000 1 nnnn 0 hhh 1111 hh tt mmmm", "TST", setting<alu::tst, by_shift>, nullptr, compare, "nm", immediate_shift},
    {"1110101 0000 s nnnn 0 hhh dddd hh tt mmmm", "AND", plain<alu::and_, by_shift>, setting<alu::and_, by_shift>, data, "dnm", immediate_shift},
    {"1110101 0100 1 nnnn 0 hhh 1111 hh tt mmmm", "TEQ", setting<alu::teq, by_shift>, nullptr, compare, "nm", immediate_shift},
    {"1110101 0100 s nnnn 0 hhh dddd hh tt mmmm", "EOR", plain<alu::eor, by_shift>, setting<alu::eor, by_shift>, data, "dnm", immediate_shift},
    {"1110101 1000 1 nnnn 0 hhh 1111 hh tt mmmm", "CMN", setting<alu::cmn, by_shift>, nullptr, compare, "Nm", immediate_shift},
    {"1110101 1000 s nnnn 0 hhh dddd hh tt mmmm", "ADD", plain<alu::add, by_shift>, setting<alu::add, by_shift>, data, "DNm", all_of<immediate_shift, small_shift_to_stack>},
    {"1110101 1101 1 nnnn 0 hhh 1111 hh tt mmmm", "CMP", setting<alu::cmp, by_shift>, nullptr, compare, "Nm", immediate_shift},
    {"1110101 1101 s nnnn 0 hhh dddd hh tt mmmm", "SUB", plain<alu::sub, by_shift>, setting<alu::sub, by_shift>, data, "DNm", all_of<immediate_shift, small_shift_to_stack>},
    {"11101010010 s 1111 0000 dddd 0000 mmmm", "MOV", plain<alu::mov, by_shift>, setting<alu::mov, by_shift>, data, "DM", one_stack},
    {"1110101 0010 s 1111 0 hhh dddd hh tt mmmm", "MOV", plain<alu::mov, by_shift>, setting<alu::mov, by_shift>, data, "dm", immediate_shift},
    {"1110101 0010 s nnnn 0 hhh dddd hh tt mmmm", "ORR", plain<alu::orr, by_shift>, setting<alu::orr, by_shift>, data, "dnm", immediate_shift},
    {"1110101 0011 s 1111 0 hhh dddd hh tt mmmm", "MVN", plain<alu::mvn, by_shift>, setting<alu::mvn, by_shift>, data, "dm", immediate_shift},
    {"1110101 0011 s nnnn 0 hhh dddd hh tt mmmm", "ORN", plain<alu::orn, by_shift>, setting<alu::orn, by_shift>, data, "dnm", immediate_shift},
    {"1110101 0001 s nnnn 0 hhh dddd hh tt mmmm", "BIC", plain<alu::bic, by_shift>, setting<alu::bic, by_shift>, data, "dnm", immediate_shift},
    {"1110101 1010 s nnnn 0 hhh dddd hh tt mmmm", "ADC", plain<alu::adc, by_shift>, setting<alu::adc, by_shift>, data, "dnm", immediate_shift},
    {"1110101 1011 s nnnn 0 hhh dddd hh tt mmmm", "SBC", plain<alu::sbc, by_shift>, setting<alu::sbc, by_shift>, data, "dnm", immediate_shift},
    {"1110101 1110 s nnnn 0 hhh dddd hh tt mmmm", "RSB", plain<alu::rsb, by_shift>, setting<alu::rsb, by_shift>, data, "dnm", immediate_shift},
    {"111010101100 nnnn 0 hhh dddd hh 00 mmmm", "PKHBT", pack_bottom_top, nullptr, data, "dnm"},
    {"111010101100 nnnn 0 hhh dddd hh 10 mmmm; t=2", "PKHTB", pack_top_bottom, nullptr, data, "dnm", immediate_shift},

    // Data processing, modified immediate (A6.3.1)
    {"11110 i 0 0000 1 nnnn 0 iii 1111 iiiiiiii", "TST", setting<alu::tst, immediate>, nullptr, compare, "n", modified_immediate},
    {"11110 i 0 0000 s nnnn 0 iii dddd iiiiiiii", "AND", plain<alu::and_, immediate>, setting<alu::and_, immediate>, data, "dn", modified_immediate},
    {"11110 i 0 0100 1 nnnn 0 iii 1111 iiiiiiii", "TEQ", setting<alu::teq, immediate>, nullptr, compare, "n", modified_immediate},
    {"11110 i 0 0100 s nnnn 0 iii dddd iiiiiiii", "EOR", plain<alu::eor, immediate>, setting<alu::eor, immediate>, data, "dn", modified_immediate},
    {"11110 i 0 1000 1 nnnn 0 iii 1111 iiiiiiii", "CMN", setting<alu::cmn, immediate>, nullptr, compare, "N", modified_immediate},
    {"11110 i 0 1000 s nnnn 0 iii dddd iiiiiiii", "ADD", plain<alu::add, immediate>, setting<alu::add, immediate>, data, "DN", all_of<modified_immediate, stack_from_stack>},
    {"11110 i 0 1101 1 nnnn 0 iii 1111 iiiiiiii", "CMP", setting<alu::cmp, immediate>, nullptr, compare, "N", modified_immediate},
    {"11110 i 0 1101 s nnnn 0 iii dddd iiiiiiii", "SUB", plain<alu::sub, immediate>, setting<alu::sub, immediate>, data, "DN", all_of<modified_immediate, stack_from_stack>},
    {"11110 i 0 0010 s 1111 0 iii dddd iiiiiiii", "MOV", plain<alu::mov, immediate>, setting<alu::mov, immediate>, data, "d", modified_immediate},
    {"11110 i 0 0010 s nnnn 0 iii dddd iiiiiiii", "ORR", plain<alu::orr, immediate>, setting<alu::orr, immediate>, data, "dn", modified_immediate},
    {"11110 i 0 0011 s 1111 0 iii dddd iiiiiiii", "MVN", plain<alu::mvn, immediate>, setting<alu::mvn, immediate>, data, "d", modified_immediate},
    {"11110 i 0 0011 s nnnn 0 iii dddd iiiiiiii", "ORN", plain<alu::orn, immediate>, setting<alu::orn, immediate>, data, "dn", modified_immediate},
    {"11110 i 0 0001 s nnnn 0 iii dddd iiiiiiii", "BIC", plain<alu::bic, immediate>, setting<alu::bic, immediate>, data, "dn", modified_immediate},
    {"11110 i 0 1010 s nnnn 0 iii dddd iiiiiiii", "ADC", plain<alu::adc, immediate>, setting<alu::adc, immediate>, data, "dn", modified_immediate},
    {"11110 i 0 1011 s nnnn 0 iii dddd iiiiiiii", "SBC", plain<alu::sbc, immediate>, setting<alu::sbc, immediate>, data, "dn", modified_immediate},
    {"11110 i 0 1110 s nnnn 0 iii dddd iiiiiiii", "RSB", plain<alu::rsb, immediate>, setting<alu::rsb, immediate>, data, "dn", modified_immediate},

    // Plain immediate, bit fields, saturation (A6.3.3)
    {"11110 i 100000 1111 0 iii dddd iiiiiiii; u=1", "ADR", address_of, nullptr, data, "d"},
    {"11110 i 101010 1111 0 iii dddd iiiiiiii; u=0", "ADR", address_of, nullptr, data, "d"},
    {"11110 i 100000 nnnn 0 iii dddd iiiiiiii", "ADDW", plain<alu::add, immediate>, nullptr, data, "D", all_of<times<1>, stack_from_stack>},
    {"11110 i 101010 nnnn 0 iii dddd iiiiiiii", "SUBW", plain<alu::sub, immediate>, nullptr, data, "D", all_of<times<1>, stack_from_stack>},
    {"11110 j 100100 iiii 0 jjj dddd jjjjjjjj", "MOVW", plain<alu::mov, immediate>, nullptr, data, "d"},
    {"11110 j 101100 iiii 0 jjj dddd jjjjjjjj", "MOVT", move_top, nullptr, data, "d"},
    {"111100110010 nnnn 0000 dddd 0000 eeee", "SSAT16", saturate_signed_halves, nullptr, data, "dn"},
    {"1111001100 t 0 nnnn 0 hhh dddd hh 0 eeeee", "SSAT", saturate_signed, nullptr, data, "dn", thumb_saturation_shift},
    {"111100111010 nnnn 0000 dddd 0000 eeee", "USAT16", saturate_unsigned_halves, nullptr, data, "dn"},
    {"1111001110 t 0 nnnn 0 hhh dddd hh 0 eeeee", "USAT", saturate_unsigned, nullptr, data, "dn", thumb_saturation_shift},
    {"111100110100 nnnn 0 hhh dddd hh 0 eeeee", "SBFX", signed_bit_field, nullptr, data, "dn", bits_in_word},
    {"111100111100 nnnn 0 hhh dddd hh 0 eeeee", "UBFX", unsigned_bit_field, nullptr, data, "dn", bits_in_word},
    {"111100110110 1111 0 hhh dddd hh 0 eeeee", "BFC", bit_field_clear, nullptr, data, "d", ordered_bits},
    {"111100110110 nnnn 0 hhh dddd hh 0 eeeee", "BFI", bit_field_insert, nullptr, data, "dn", ordered_bits},

    // Branches and control (A6.3.4)
    {"111100111000 nnnn 1000 eeee 0000 0000; i=0", "MSR", move_to_status, nullptr, system, "n", all_of<times<1>, status_mask>, it_rule::any, only::a_profile},
    {"111100111001 nnnn 1000 eeee 0000 0000; i=1", "MSR", move_to_status, nullptr, system, "n", all_of<times<1>, status_mask>, it_rule::any, only::a_profile},
    {"111100111000 nnnn 1000 ee00 iiii iiii", "MSR", move_to_status, nullptr, system, "n", all_of<times<1>, status_mask>, it_rule::any, only::m_profile},
    {"111100111110 1111 1000 dddd 0000 0000; i=0", "MRS", move_from_status, nullptr, system, "d", nullptr, it_rule::any, only::a_profile},
    {"111100111111 1111 1000 dddd 0000 0000; i=1", "MRS", move_from_status, nullptr, system, "d", nullptr, it_rule::any, only::a_profile},
    {"111100111110 1111 1000 dddd iiii iiii", "MRS", move_from_status, nullptr, system, "d", nullptr, it_rule::any, only::m_profile},
    {"111100111010 1111 1000 0000 0000 0010", "WFE", wait_for_event, nullptr, system},
    {"111100111010 1111 1000 0000 0000 0011", "WFI", wait_for_interrupt, nullptr, system},
    {"111100111010 1111 1000 0000 0000 0100", "SEV", send_event, nullptr, system},
    {"111100111010 1111 1000 0000 1111 iiii", "DBG", debug_hint, nullptr, system},
    {"111100111010 1111 1000 0000 iiii iiii", "NOP", nop, nullptr, hint},
    {"111100111010 1111 10000 ii j xxx lllll", "CPS", change_state, nullptr, system, "", cps_mode, it_rule::outside, only::a_profile},
    {"111100111011 1111 1000 1111 0010 1111", "CLREX", clear_exclusive, nullptr, hint},
    {"111100111011 1111 1000 1111 0100 iiii", "DSB", data_synchronization_barrier, nullptr, system},
    {"111100111011 1111 1000 1111 0101 iiii", "DMB", data_memory_barrier, nullptr, system},
    {"111100111011 1111 1000 1111 0110 iiii", "ISB", instruction_synchronization_barrier, nullptr, system},
    {"111100111011 1111 1000 1111 000 i 1111", "ThumbEE", missing_instruction, nullptr, system, "", nullptr, it_rule::any, only::a_profile},
    {"111100111100 mmmm 1000 1111 0000 0000", "BXJ", branch_exchange, nullptr, register_use::branch, "m", nullptr, it_rule::last, only::a_profile},
    {"111100111101 1110 1000 1111 iiii iiii; s=1, d=15, n=14", "SUBS PC, LR", plain<alu::sub, immediate>, setting<alu::sub, immediate>, register_use::branch, "", nullptr, it_rule::last, only::a_profile},
    {"111101111111 iiii 1010 jjjj jjjj jjjj", "UDF", undefined_instruction, nullptr, system},
    {"111101111111 iiii 1000 0000 0000 0000", "SMC", missing_instruction, nullptr, system, "", nullptr, it_rule::any, only::a_profile},
    {"11110 s cccc iiiiii 10 x 0 y jjjjjjjjjjj", "B", armv7::branch, nullptr, register_use::branch, "", conditional_target, it_rule::outside},
    {"11110 s iiiiiiiiii 10 x 1 y jjjjjjjjjjj", "B", armv7::branch, nullptr, register_use::branch, "", far_target, it_rule::last},
    {"11110 s iiiiiiiiii 11 x 1 y jjjjjjjjjjj", "BL", branch_with_link, nullptr, register_use::branch, "", far_target, it_rule::last},
    {"11110 s iiiiiiiiii 11 x 0 y jjjjjjjjjj 0", "BLX", branch_with_link_exchange, nullptr, register_use::branch, "", far_target_exchanging, it_rule::last, only::a_profile},

    // Stores of one register (A6.3.10)
    {"11111000 0000 1111 xxxx xxxx xxxx xxxx", "STRB", undefined_instruction, nullptr, system},
    {"11111000 1000 1111 xxxx xxxx xxxx xxxx", "STRB", undefined_instruction, nullptr, system},
    {"11111000 1000 nnnn dddd iiii iiii iiii; p=1, u=1", "STRB", st<u8>, nullptr, register_use::store, "d"},
    {"11111000 0000 nnnn dddd 1110 iiii iiii; p=1, u=1, f=1", "STRBT", st<u8>, nullptr, register_use::store, "d"},
    {"11111000 0000 nnnn dddd 1 p u w iiii iiii", "STRB", st<u8>, nullptr, register_use::store, "d", all_of<times<1>, indexed, base_is_not_data>},
    {"11111000 0000 nnnn dddd 000000 hh mmmm; p=1, u=1", "STRB", str<u8>, nullptr, register_use::store, "dm"},
    {"11111000 0010 1111 xxxx xxxx xxxx xxxx", "STRH", undefined_instruction, nullptr, system},
    {"11111000 1010 1111 xxxx xxxx xxxx xxxx", "STRH", undefined_instruction, nullptr, system},
    {"11111000 1010 nnnn dddd iiii iiii iiii; p=1, u=1", "STRH", st<u16>, nullptr, register_use::store, "d"},
    {"11111000 0010 nnnn dddd 1110 iiii iiii; p=1, u=1, f=1", "STRHT", st<u16>, nullptr, register_use::store, "d"},
    {"11111000 0010 nnnn dddd 1 p u w iiii iiii", "STRH", st<u16>, nullptr, register_use::store, "d", all_of<times<1>, indexed, base_is_not_data>},
    {"11111000 0010 nnnn dddd 000000 hh mmmm; p=1, u=1", "STRH", str<u16>, nullptr, register_use::store, "dm"},
    {"11111000 0100 1111 xxxx xxxx xxxx xxxx", "STR", undefined_instruction, nullptr, system},
    {"11111000 1100 1111 xxxx xxxx xxxx xxxx", "STR", undefined_instruction, nullptr, system},
    {"11111000 1100 nnnn dddd iiii iiii iiii; p=1, u=1", "STR", st<word>, nullptr, register_use::store, "D"},
    {"11111000 0100 nnnn dddd 1110 iiii iiii; p=1, u=1, f=1", "STRT", st<word>, nullptr, register_use::store, "d"},
    {"11111000 0100 nnnn dddd 1 p u w iiii iiii", "STR", st<word>, nullptr, register_use::store, "D", all_of<times<1>, indexed, base_is_not_data>},
    {"11111000 0100 nnnn dddd 000000 hh mmmm; p=1, u=1", "STR", str<word>, nullptr, register_use::store, "Dm"},

    // Hints with the encodings of loads to the pc (A6.3.8, A6.3.9)
    {"11111000 u0j1 1111 1111 iiii iiii iiii", "PLD", nop, nullptr, hint},
    {"11111000 10j1 nnnn 1111 iiii iiii iiii", "PLD", nop, nullptr, hint},
    {"11111000 00j1 nnnn 1111 1100 iiii iiii", "PLD", nop, nullptr, hint},
    {"11111000 00j1 nnnn 1111 000000 hh mmmm", "PLD", nop, nullptr, hint, "m"},
    {"11111001 u001 1111 1111 iiii iiii iiii", "PLI", nop, nullptr, hint},
    {"11111001 u011 1111 1111 iiii iiii iiii", "hint", nop, nullptr, hint},
    {"11111001 1001 nnnn 1111 iiii iiii iiii", "PLI", nop, nullptr, hint},
    {"11111001 1011 nnnn 1111 iiii iiii iiii", "hint", nop, nullptr, hint},
    {"11111001 0001 nnnn 1111 1100 iiii iiii", "PLI", nop, nullptr, hint},
    {"11111001 0011 nnnn 1111 1100 iiii iiii", "hint", nop, nullptr, hint},
    {"11111001 0001 nnnn 1111 000000 hh mmmm", "PLI", nop, nullptr, hint, "m"},
    {"11111001 0011 nnnn 1111 000000 hh mmmm", "hint", nop, nullptr, hint, "m"},

    // Loads of one register (A6.3.7 to A6.3.9)
    {"1111100 0 u001 1111 dddd iiii iiii iiii; n=15, p=1", "LDRB", ld<u8>, nullptr, register_use::load, "d"},
    {"1111100 0 1001 nnnn dddd iiii iiii iiii; p=1, u=1", "LDRB", ld<u8>, nullptr, register_use::load, "d"},
    {"1111100 0 0001 nnnn dddd 1110 iiii iiii; p=1, u=1, f=1", "LDRBT", ld<u8>, nullptr, register_use::load, "d"},
    {"1111100 0 0001 nnnn dddd 1 p u w iiii iiii", "LDRB", ld<u8>, nullptr, register_use::load, "d", all_of<times<1>, indexed, base_is_not_data>},
    {"1111100 0 0001 nnnn dddd 000000 hh mmmm; p=1, u=1", "LDRB", ldr<u8>, nullptr, register_use::load, "dm"},
    {"1111100 1 u001 1111 dddd iiii iiii iiii; n=15, p=1", "LDRSB", ld<s8>, nullptr, register_use::load, "d"},
    {"1111100 1 1001 nnnn dddd iiii iiii iiii; p=1, u=1", "LDRSB", ld<s8>, nullptr, register_use::load, "d"},
    {"1111100 1 0001 nnnn dddd 1110 iiii iiii; p=1, u=1, f=1", "LDRSBT", ld<s8>, nullptr, register_use::load, "d"},
    {"1111100 1 0001 nnnn dddd 1 p u w iiii iiii", "LDRSB", ld<s8>, nullptr, register_use::load, "d", all_of<times<1>, indexed, base_is_not_data>},
    {"1111100 1 0001 nnnn dddd 000000 hh mmmm; p=1, u=1", "LDRSB", ldr<s8>, nullptr, register_use::load, "dm"},
    {"1111100 0 u011 1111 dddd iiii iiii iiii; n=15, p=1", "LDRH", ld<u16>, nullptr, register_use::load, "d"},
    {"1111100 0 1011 nnnn dddd iiii iiii iiii; p=1, u=1", "LDRH", ld<u16>, nullptr, register_use::load, "d"},
    {"1111100 0 0011 nnnn dddd 1110 iiii iiii; p=1, u=1, f=1", "LDRHT", ld<u16>, nullptr, register_use::load, "d"},
    {"1111100 0 0011 nnnn dddd 1 p u w iiii iiii", "LDRH", ld<u16>, nullptr, register_use::load, "d", all_of<times<1>, indexed, base_is_not_data>},
    {"1111100 0 0011 nnnn dddd 000000 hh mmmm; p=1, u=1", "LDRH", ldr<u16>, nullptr, register_use::load, "dm"},
    {"1111100 1 u011 1111 dddd iiii iiii iiii; n=15, p=1", "LDRSH", ld<s16>, nullptr, register_use::load, "d"},
    {"1111100 1 1011 nnnn dddd iiii iiii iiii; p=1, u=1", "LDRSH", ld<s16>, nullptr, register_use::load, "d"},
    {"1111100 1 0011 nnnn dddd 1110 iiii iiii; p=1, u=1, f=1", "LDRSHT", ld<s16>, nullptr, register_use::load, "d"},
    {"1111100 1 0011 nnnn dddd 1 p u w iiii iiii", "LDRSH", ld<s16>, nullptr, register_use::load, "d", all_of<times<1>, indexed, base_is_not_data>},
    {"1111100 1 0011 nnnn dddd 000000 hh mmmm; p=1, u=1", "LDRSH", ldr<s16>, nullptr, register_use::load, "dm"},
    {"1111100 0 u101 1111 dddd iiii iiii iiii; n=15, p=1", "LDR", ld<word>, nullptr, register_use::load},
    {"1111100 0 1101 nnnn dddd iiii iiii iiii; p=1, u=1", "LDR", ld<word>, nullptr, register_use::load},
    {"1111100 0 0101 nnnn dddd 1110 iiii iiii; p=1, u=1, f=1", "LDRT", ld<word>, nullptr, register_use::load, "d"},
    {"1111100 0 0101 nnnn dddd 1 p u w iiii iiii", "LDR", ld<word>, nullptr, register_use::load, "", all_of<times<1>, indexed, base_is_not_data>},
    {"1111100 0 0101 nnnn dddd 000000 hh mmmm; p=1, u=1", "LDR", ldr<word>, nullptr, register_use::load, "m"},

    // Data processing, register (A6.3.12)
    {"111110100 tt s mmmm 1111 dddd 0000 aaaa", "LSL", plain<alu::mov, by_register>, setting<alu::mov, by_register>, data, "dma"},
    {"111110100 000 1111 1111 dddd 10 ee mmmm", "SXTH", extend<part::halfword, true, false>, nullptr, data, "dm", byte_rotation},
    {"111110100 000 nnnn 1111 dddd 10 ee mmmm", "SXTAH", extend<part::halfword, true, true>, nullptr, data, "dnm", byte_rotation},
    {"111110100 001 1111 1111 dddd 10 ee mmmm", "UXTH", extend<part::halfword, false, false>, nullptr, data, "dm", byte_rotation},
    {"111110100 001 nnnn 1111 dddd 10 ee mmmm", "UXTAH", extend<part::halfword, false, true>, nullptr, data, "dnm", byte_rotation},
    {"111110100 010 1111 1111 dddd 10 ee mmmm", "SXTB16", extend<part::two_bytes, true, false>, nullptr, data, "dm", byte_rotation},
    {"111110100 010 nnnn 1111 dddd 10 ee mmmm", "SXTAB16", extend<part::two_bytes, true, true>, nullptr, data, "dnm", byte_rotation},
    {"111110100 011 1111 1111 dddd 10 ee mmmm", "UXTB16", extend<part::two_bytes, false, false>, nullptr, data, "dm", byte_rotation},
    {"111110100 011 nnnn 1111 dddd 10 ee mmmm", "UXTAB16", extend<part::two_bytes, false, true>, nullptr, data, "dnm", byte_rotation},
    {"111110100 100 1111 1111 dddd 10 ee mmmm", "SXTB", extend<part::byte, true, false>, nullptr, data, "dm", byte_rotation},
    {"111110100 100 nnnn 1111 dddd 10 ee mmmm", "SXTAB", extend<part::byte, true, true>, nullptr, data, "dnm", byte_rotation},
    {"111110100 101 1111 1111 dddd 10 ee mmmm", "UXTB", extend<part::byte, false, false>, nullptr, data, "dm", byte_rotation},
    {"111110100 101 nnnn 1111 dddd 10 ee mmmm", "UXTAB", extend<part::byte, false, true>, nullptr, data, "dnm", byte_rotation},
    {"111110101 001 nnnn 1111 dddd 0000 mmmm", "SADD16", parallel_arithmetic<parallel::add16, parallel_result::flags, true>, nullptr, data, "dnm"},
    {"111110101 001 nnnn 1111 dddd 0001 mmmm", "QADD16", parallel_arithmetic<parallel::add16, parallel_result::saturates, true>, nullptr, data, "dnm"},
    {"111110101 001 nnnn 1111 dddd 0010 mmmm", "SHADD16", parallel_arithmetic<parallel::add16, parallel_result::halves, true>, nullptr, data, "dnm"},
    {"111110101 001 nnnn 1111 dddd 0100 mmmm", "UADD16", parallel_arithmetic<parallel::add16, parallel_result::flags, false>, nullptr, data, "dnm"},
    {"111110101 001 nnnn 1111 dddd 0101 mmmm", "UQADD16", parallel_arithmetic<parallel::add16, parallel_result::saturates, false>, nullptr, data, "dnm"},
    {"111110101 001 nnnn 1111 dddd 0110 mmmm", "UHADD16", parallel_arithmetic<parallel::add16, parallel_result::halves, false>, nullptr, data, "dnm"},
    {"111110101 010 nnnn 1111 dddd 0000 mmmm", "SASX", parallel_arithmetic<parallel::asx, parallel_result::flags, true>, nullptr, data, "dnm"},
    {"111110101 010 nnnn 1111 dddd 0001 mmmm", "QASX", parallel_arithmetic<parallel::asx, parallel_result::saturates, true>, nullptr, data, "dnm"},
    {"111110101 010 nnnn 1111 dddd 0010 mmmm", "SHASX", parallel_arithmetic<parallel::asx, parallel_result::halves, true>, nullptr, data, "dnm"},
    {"111110101 010 nnnn 1111 dddd 0100 mmmm", "UASX", parallel_arithmetic<parallel::asx, parallel_result::flags, false>, nullptr, data, "dnm"},
    {"111110101 010 nnnn 1111 dddd 0101 mmmm", "UQASX", parallel_arithmetic<parallel::asx, parallel_result::saturates, false>, nullptr, data, "dnm"},
    {"111110101 010 nnnn 1111 dddd 0110 mmmm", "UHASX", parallel_arithmetic<parallel::asx, parallel_result::halves, false>, nullptr, data, "dnm"},
    {"111110101 110 nnnn 1111 dddd 0000 mmmm", "SSAX", parallel_arithmetic<parallel::sax, parallel_result::flags, true>, nullptr, data, "dnm"},
    {"111110101 110 nnnn 1111 dddd 0001 mmmm", "QSAX", parallel_arithmetic<parallel::sax, parallel_result::saturates, true>, nullptr, data, "dnm"},
    {"111110101 110 nnnn 1111 dddd 0010 mmmm", "SHSAX", parallel_arithmetic<parallel::sax, parallel_result::halves, true>, nullptr, data, "dnm"},
    {"111110101 110 nnnn 1111 dddd 0100 mmmm", "USAX", parallel_arithmetic<parallel::sax, parallel_result::flags, false>, nullptr, data, "dnm"},
    {"111110101 110 nnnn 1111 dddd 0101 mmmm", "UQSAX", parallel_arithmetic<parallel::sax, parallel_result::saturates, false>, nullptr, data, "dnm"},
    {"111110101 110 nnnn 1111 dddd 0110 mmmm", "UHSAX", parallel_arithmetic<parallel::sax, parallel_result::halves, false>, nullptr, data, "dnm"},
    {"111110101 101 nnnn 1111 dddd 0000 mmmm", "SSUB16", parallel_arithmetic<parallel::sub16, parallel_result::flags, true>, nullptr, data, "dnm"},
    {"111110101 101 nnnn 1111 dddd 0001 mmmm", "QSUB16", parallel_arithmetic<parallel::sub16, parallel_result::saturates, true>, nullptr, data, "dnm"},
    {"111110101 101 nnnn 1111 dddd 0010 mmmm", "SHSUB16", parallel_arithmetic<parallel::sub16, parallel_result::halves, true>, nullptr, data, "dnm"},
    {"111110101 101 nnnn 1111 dddd 0100 mmmm", "USUB16", parallel_arithmetic<parallel::sub16, parallel_result::flags, false>, nullptr, data, "dnm"},
    {"111110101 101 nnnn 1111 dddd 0101 mmmm", "UQSUB16", parallel_arithmetic<parallel::sub16, parallel_result::saturates, false>, nullptr, data, "dnm"},
    {"111110101 101 nnnn 1111 dddd 0110 mmmm", "UHSUB16", parallel_arithmetic<parallel::sub16, parallel_result::halves, false>, nullptr, data, "dnm"},
    {"111110101 000 nnnn 1111 dddd 0000 mmmm", "SADD8", parallel_arithmetic<parallel::add8, parallel_result::flags, true>, nullptr, data, "dnm"},
    {"111110101 000 nnnn 1111 dddd 0001 mmmm", "QADD8", parallel_arithmetic<parallel::add8, parallel_result::saturates, true>, nullptr, data, "dnm"},
    {"111110101 000 nnnn 1111 dddd 0010 mmmm", "SHADD8", parallel_arithmetic<parallel::add8, parallel_result::halves, true>, nullptr, data, "dnm"},
    {"111110101 000 nnnn 1111 dddd 0100 mmmm", "UADD8", parallel_arithmetic<parallel::add8, parallel_result::flags, false>, nullptr, data, "dnm"},
    {"111110101 000 nnnn 1111 dddd 0101 mmmm", "UQADD8", parallel_arithmetic<parallel::add8, parallel_result::saturates, false>, nullptr, data, "dnm"},
    {"111110101 000 nnnn 1111 dddd 0110 mmmm", "UHADD8", parallel_arithmetic<parallel::add8, parallel_result::halves, false>, nullptr, data, "dnm"},
    {"111110101 100 nnnn 1111 dddd 0000 mmmm", "SSUB8", parallel_arithmetic<parallel::sub8, parallel_result::flags, true>, nullptr, data, "dnm"},
    {"111110101 100 nnnn 1111 dddd 0001 mmmm", "QSUB8", parallel_arithmetic<parallel::sub8, parallel_result::saturates, true>, nullptr, data, "dnm"},
    {"111110101 100 nnnn 1111 dddd 0010 mmmm", "SHSUB8", parallel_arithmetic<parallel::sub8, parallel_result::halves, true>, nullptr, data, "dnm"},
    {"111110101 100 nnnn 1111 dddd 0100 mmmm", "USUB8", parallel_arithmetic<parallel::sub8, parallel_result::flags, false>, nullptr, data, "dnm"},
    {"111110101 100 nnnn 1111 dddd 0101 mmmm", "UQSUB8", parallel_arithmetic<parallel::sub8, parallel_result::saturates, false>, nullptr, data, "dnm"},
    {"111110101 100 nnnn 1111 dddd 0110 mmmm", "UHSUB8", parallel_arithmetic<parallel::sub8, parallel_result::halves, false>, nullptr, data, "dnm"},
    {"111110101000 nnnn 1111 dddd 1000 mmmm", "QADD", saturating_add, nullptr, data, "dnm"},
    {"111110101000 nnnn 1111 dddd 1001 mmmm", "QDADD", saturating_double_add, nullptr, data, "dnm"},
    {"111110101000 nnnn 1111 dddd 1010 mmmm", "QSUB", saturating_subtract, nullptr, data, "dnm"},
    {"111110101000 nnnn 1111 dddd 1011 mmmm", "QDSUB", saturating_double_subtract, nullptr, data, "dnm"},
    {"111110101001 nnnn 1111 dddd 1000 mmmm", "REV", reverse_bytes, nullptr, data, "dm", same_source_twice},
    {"111110101001 nnnn 1111 dddd 1001 mmmm", "REV16", reverse_halfwords, nullptr, data, "dm", same_source_twice},
    {"111110101001 nnnn 1111 dddd 1010 mmmm", "RBIT", reverse_bits, nullptr, data, "dm", same_source_twice},
    {"111110101001 nnnn 1111 dddd 1011 mmmm", "REVSH", reverse_signed_halfword, nullptr, data, "dm", same_source_twice},
    {"111110101010 nnnn 1111 dddd 1000 mmmm", "SEL", select_bytes, nullptr, data, "dnm"},
    {"111110101011 nnnn 1111 dddd 1000 mmmm", "CLZ", count_leading_zeros, nullptr, data, "dm", same_source_twice},

    // Multiplications (A6.3.16, A6.3.17)
    {"111110110000 nnnn 1111 dddd 0000 mmmm", "MUL", multiply<false>, nullptr, data, "dnm"},
    {"111110110000 nnnn aaaa dddd 0000 mmmm", "MLA", multiply_add<false>, nullptr, data, "dnma"},
    {"111110110000 nnnn aaaa dddd 0001 mmmm", "MLS", multiply_subtract, nullptr, data, "dnma"},
    {"111110110001 nnnn 1111 dddd 00 xy mmmm", "SMULxy", multiply_halves, nullptr, data, "dnm"},
    {"111110110001 nnnn aaaa dddd 00 xy mmmm", "SMLAxy", multiply_halves_add, nullptr, data, "dnma"},
    {"111110110010 nnnn 1111 dddd 000 y mmmm", "SMUAD", dual_add, nullptr, data, "dnm"},
    {"111110110010 nnnn aaaa dddd 000 y mmmm", "SMLAD", dual_add_accumulate, nullptr, data, "dnma"},
    {"111110110011 nnnn 1111 dddd 000 y mmmm", "SMULWy", multiply_word_half, nullptr, data, "dnm"},
    {"111110110011 nnnn aaaa dddd 000 y mmmm", "SMLAWy", multiply_word_half_add, nullptr, data, "dnma"},
    {"111110110100 nnnn 1111 dddd 000 y mmmm", "SMUSD", dual_subtract, nullptr, data, "dnm"},
    {"111110110100 nnnn aaaa dddd 000 y mmmm", "SMLSD", dual_subtract_accumulate, nullptr, data, "dnma"},
    {"111110110101 nnnn 1111 dddd 000 y mmmm", "SMMUL", multiply_top, nullptr, data, "dnm"},
    {"111110110101 nnnn aaaa dddd 000 y mmmm", "SMMLA", multiply_top_add, nullptr, data, "dnma"},
    {"111110110110 nnnn aaaa dddd 000 y mmmm", "SMMLS", multiply_top_subtract, nullptr, data, "dnma"},
    {"111110110111 nnnn 1111 dddd 0000 mmmm", "USAD8", sum_of_differences, nullptr, data, "dnm"},
    {"111110110111 nnnn aaaa dddd 0000 mmmm", "USADA8", sum_of_differences_add, nullptr, data, "dnma"},
    {"111110111000 nnnn dddd aaaa 0000 mmmm", "SMULL", multiply_long<true, false, false>, nullptr, data_pair, "danm", two_destinations},
    {"111110111001 nnnn 1111 dddd 1111 mmmm", "SDIV", signed_divide, nullptr, data, "dnm"},
    {"111110111010 nnnn dddd aaaa 0000 mmmm", "UMULL", multiply_long<false, false, false>, nullptr, data_pair, "danm", two_destinations},
    {"111110111011 nnnn 1111 dddd 1111 mmmm", "UDIV", unsigned_divide, nullptr, data, "dnm"},
    {"111110111100 nnnn dddd aaaa 0000 mmmm", "SMLAL", multiply_long<true, true, false>, nullptr, data_pair, "danm", two_destinations},
    {"111110111100 nnnn dddd aaaa 10 xy mmmm", "SMLALxy", multiply_halves_add_long, nullptr, data_pair, "danm", two_destinations},
    {"111110111100 nnnn dddd aaaa 110 y mmmm", "SMLALD", dual_add_long, nullptr, data_pair, "danm", two_destinations},
    {"111110111101 nnnn dddd aaaa 110 y mmmm", "SMLSLD", dual_subtract_long, nullptr, data_pair, "danm", two_destinations},
    {"111110111110 nnnn dddd aaaa 0000 mmmm", "UMLAL", multiply_long<false, true, false>, nullptr, data_pair, "danm", two_destinations},
    {"111110111110 nnnn dddd aaaa 0110 mmmm", "UMAAL", multiply_add_add, nullptr, data_pair, "danm", two_destinations},

    // Coprocessors (A6.3.18)
    {"1110 1110 xxxx xxxx xxxx 101x xxxx xxxx", "floating point", missing_instruction, nullptr, system},
    {"1110 110x xxxx xxxx xxxx 101x xxxx xxxx", "floating point", missing_instruction, nullptr, system},
    {"1110 1110 iii 0 nnnn dddd eeee jjj 1 mmmm", "MCR", move_to_coprocessor, nullptr, system, "d", coprocessor},
    {"1110 1110 iii 1 nnnn dddd eeee jjj 1 mmmm", "MRC", move_from_coprocessor, nullptr, system, "", coprocessor_to_register},
    {"1110 1100 0100 aaaa dddd eeee iiii mmmm", "MCRR", move_two_to_coprocessor, nullptr, system, "da", coprocessor},
    {"1110 1100 0101 aaaa dddd eeee iiii mmmm", "MRRC", move_two_from_coprocessor, nullptr, system, "da", all_of<coprocessor, two_destinations>},
    {"111x 1110 xxxx xxxx xxxx xxxx xxxx xxxx", "coprocessor", missing_instruction, nullptr, system},
    {"111x 1100 0000 xxxx xxxx xxxx xxxx xxxx", "coprocessor", undefined_instruction, nullptr, system},
    {"111x 110x xxxx xxxx xxxx xxxx xxxx xxxx", "coprocessor", missing_instruction, nullptr, system},
    {"111x 1111 xxxx xxxx xxxx xxxx xxxx xxxx", "Advanced SIMD", missing_instruction, nullptr, system, "", nullptr, it_rule::any, only::a_profile},
    {"1111 1001 xxx0 xxxx xxxx xxxx xxxx xxxx", "Advanced SIMD", missing_instruction, nullptr, system, "", nullptr, it_rule::any, only::a_profile},
};
// clang-format on

} // namespace

std::span<const row> t32_rows()
{
    return rows;
}

} // namespace bulkhead::machine::armv7
