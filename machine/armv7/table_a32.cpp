// SPDX-License-Identifier: Apache-2.0
// A32 (Arm DDI 0406C.d A5). A row without a condition begins with 1111.
#include <bit>

#include "machine/armv7/finish.h"
#include "machine/armv7/table_handlers.h"

namespace bulkhead::machine::armv7 {

namespace {

using namespace short_names;
using enum register_use;
using enum datum;

// Eight bits, rotated right by twice the four above them.
bool modified_immediate(operation &what, const fields &of)
{
    const std::uint32_t bits = of.immediate();
    const std::uint32_t rotation = 2 * (bits >> 8U);
    what.imm = std::rotr(bits & 0xFFU, static_cast<int>(rotation));
    what.carry = rotation == 0 ? no_carry : static_cast<std::uint8_t>(what.imm >> 31U);
    return true;
}
bool unconditional(operation &what, const fields & /*of*/)
{
    return what.condition == always;
}
// `amount` is a register.
bool status_mask_and_immediate(operation &what, const fields &of)
{
    what.amount = static_cast<std::uint8_t>(of.of('r'));
    return status_mask(what, of) && modified_immediate(what, of);
}
bool which_status(operation &what, const fields &of)
{
    what.imm = of.of('r');
    return true;
}
bool which_status_and_mask(operation &what, const fields &of)
{
    what.imm = of.of('r');
    return status_mask(what, of);
}

// Post-indexed accesses always write the base back; W makes the access unprivileged.
bool addressed(operation &what, const fields & /*of*/)
{
    what.unprivileged = !what.index && what.writeback;
    what.writeback = !what.index || what.writeback;
    return !what.writeback || (what.n != pc && what.n != what.d);
}
bool addressed_data(operation &what, const fields &of)
{
    return addressed(what, of) && (!what.unprivileged || what.d != pc);
}
// The second register is the one after the first, which is even.
bool addressed_pair(operation &what, const fields & /*of*/)
{
    if ((!what.index && what.writeback) || (what.d & 1U) != 0 || what.d == lr) {
        return false;
    }
    what.a = static_cast<std::uint8_t>(what.d + 1);
    what.writeback = !what.index || what.writeback;
    return !what.writeback || (what.n != pc && what.n != what.d && what.n != what.a);
}
bool index_is_not_data(operation &what, const fields & /*of*/)
{
    return what.m != what.d && what.m != what.a;
}
bool exclusive_pair(operation &what, const fields & /*of*/)
{
    what.a = static_cast<std::uint8_t>(what.d + 1);
    return (what.d & 1U) == 0 && what.d != lr;
}
bool stored_exclusive_pair(operation &what, const fields & /*of*/)
{
    what.m = static_cast<std::uint8_t>(what.a + 1);
    return (what.a & 1U) == 0 && what.a != lr;
}

bool loaded_list(operation &what, const fields &of)
{
    return list(what, of) && (!what.writeback || (what.imm >> what.n & 1U) == 0);
}

bool near_target(operation &what, const fields &of)
{
    return branch_target(what, extended(of.immediate(), 24) * 4);
}
// The H bit (halfword) is below the bits of the immediate.
bool exchanging_target(operation &what, const fields &of)
{
    return branch_target(what, extended(of.of('j') << 1U | of.of('i'), 25) * 2);
}

// clang-format off
const row rows[] = {
    // Multiplications, encoded like data processing with shifts (A5.2.5, A5.2.7)
    {"cccc 0000000 s dddd 0000 mmmm 1001 nnnn", "MUL", multiply<false>, multiply<true>, data, "DNM"},
    {"cccc 0000001 s dddd aaaa mmmm 1001 nnnn", "MLA", multiply_add<false>, multiply_add<true>, data, "DNMA"},
    {"cccc 00000100 aaaa dddd mmmm 1001 nnnn", "UMAAL", multiply_add_add, nullptr, data_pair, "DNMA", two_destinations},
    {"cccc 00000110 dddd aaaa mmmm 1001 nnnn", "MLS", multiply_subtract, nullptr, data, "DNMA"},
    {"cccc 0000100 s aaaa dddd mmmm 1001 nnnn", "UMULL", multiply_long<false, false, false>, multiply_long<false, false, true>, data_pair, "DNMA", two_destinations},
    {"cccc 0000101 s aaaa dddd mmmm 1001 nnnn", "UMLAL", multiply_long<false, true, false>, multiply_long<false, true, true>, data_pair, "DNMA", two_destinations},
    {"cccc 0000110 s aaaa dddd mmmm 1001 nnnn", "SMULL", multiply_long<true, false, false>, multiply_long<true, false, true>, data_pair, "DNMA", two_destinations},
    {"cccc 0000111 s aaaa dddd mmmm 1001 nnnn", "SMLAL", multiply_long<true, true, false>, multiply_long<true, true, true>, data_pair, "DNMA", two_destinations},
    {"cccc 00010000 dddd aaaa mmmm 1 y x 0 nnnn", "SMLAxy", multiply_halves_add, nullptr, data, "DNMA"},
    {"cccc 00010010 dddd aaaa mmmm 1 y 00 nnnn", "SMLAWy", multiply_word_half_add, nullptr, data, "DNMA"},
    {"cccc 00010010 dddd 0000 mmmm 1 y 10 nnnn", "SMULWy", multiply_word_half, nullptr, data, "DNM"},
    {"cccc 00010100 aaaa dddd mmmm 1 y x 0 nnnn", "SMLALxy", multiply_halves_add_long, nullptr, data_pair, "DNMA", two_destinations},
    {"cccc 00010110 dddd 0000 mmmm 1 y x 0 nnnn", "SMULxy", multiply_halves, nullptr, data, "DNM"},

    // Exclusive accesses (A5.2.10)
    {"cccc 00010 x 00 nnnn dddd 0000 1001 mmmm", "SWP", missing_instruction, nullptr, system},
    {"cccc 00011000 nnnn dddd 1111 1001 aaaa", "STREX", store_exclusive, nullptr, register_use::store, "DAN", all_of<of_bytes<4>, status_alone>},
    {"cccc 00011001 nnnn dddd 1111 1001 1111", "LDREX", load_exclusive, nullptr, register_use::load, "DN", of_bytes<4>},
    {"cccc 00011100 nnnn dddd 1111 1001 aaaa", "STREXB", store_exclusive, nullptr, register_use::store, "DAN", all_of<of_bytes<1>, status_alone>},
    {"cccc 00011101 nnnn dddd 1111 1001 1111", "LDREXB", load_exclusive, nullptr, register_use::load, "DN", of_bytes<1>},
    {"cccc 00011110 nnnn dddd 1111 1001 aaaa", "STREXH", store_exclusive, nullptr, register_use::store, "DAN", all_of<of_bytes<2>, status_alone>},
    {"cccc 00011111 nnnn dddd 1111 1001 1111", "LDREXH", load_exclusive, nullptr, register_use::load, "DN", of_bytes<2>},
    {"cccc 00011010 nnnn dddd 1111 1001 aaaa", "STREXD", store_exclusive, nullptr, register_use::store, "DAN", all_of<of_bytes<8>, stored_exclusive_pair, status_alone_of_two>},
    {"cccc 00011011 nnnn dddd 1111 1001 1111", "LDREXD", load_exclusive, nullptr, load_pair, "DN", all_of<of_bytes<8>, exclusive_pair>},

    // Halfwords, signed bytes, double words (A5.2.8, A5.2.9)
    {"cccc 000 p u 0 w 0 nnnn dddd 0000 1011 mmmm", "STRH", str<u16>, nullptr, register_use::store, "DM", addressed},
    {"cccc 000 p u 1 w 0 nnnn dddd iiii 1011 iiii", "STRH", st<u16>, nullptr, register_use::store, "D", all_of<times<1>, addressed>},
    {"cccc 000 p u 0 w 0 nnnn dddd 0000 1101 mmmm", "LDRD", load_double<true>, nullptr, load_pair, "M", all_of<addressed_pair, index_is_not_data>},
    {"cccc 000 p u 1 w 0 nnnn dddd iiii 1101 iiii", "LDRD", load_double<false>, nullptr, load_pair, "", all_of<times<1>, addressed_pair>},
    {"cccc 000 p u 0 w 0 nnnn dddd 0000 1111 mmmm", "STRD", store_double<true>, nullptr, register_use::store, "M", addressed_pair},
    {"cccc 000 p u 1 w 0 nnnn dddd iiii 1111 iiii", "STRD", store_double<false>, nullptr, register_use::store, "", all_of<times<1>, addressed_pair>},
    {"cccc 000 p u 0 w 1 nnnn dddd 0000 1011 mmmm", "LDRH", ldr<u16>, nullptr, register_use::load, "DM", addressed},
    {"cccc 000 p u 1 w 1 nnnn dddd iiii 1011 iiii", "LDRH", ld<u16>, nullptr, register_use::load, "D", all_of<times<1>, addressed>},
    {"cccc 000 p u 0 w 1 nnnn dddd 0000 1101 mmmm", "LDRSB", ldr<s8>, nullptr, register_use::load, "DM", addressed},
    {"cccc 000 p u 1 w 1 nnnn dddd iiii 1101 iiii", "LDRSB", ld<s8>, nullptr, register_use::load, "D", all_of<times<1>, addressed>},
    {"cccc 000 p u 0 w 1 nnnn dddd 0000 1111 mmmm", "LDRSH", ldr<s16>, nullptr, register_use::load, "DM", addressed},
    {"cccc 000 p u 1 w 1 nnnn dddd iiii 1111 iiii", "LDRSH", ld<s16>, nullptr, register_use::load, "D", all_of<times<1>, addressed>},

    // Miscellaneous (A5.2.12)
    {"cccc 00010 r 00 1111 dddd 0000 0000 0000", "MRS", move_from_status, nullptr, system, "D", which_status},
    {"cccc 00010 r 10 eeee 1111 0000 0000 nnnn", "MSR", move_to_status, nullptr, system, "N", which_status_and_mask},
    {"cccc 00010010 1111 1111 1111 0001 mmmm", "BX", branch_exchange, nullptr, register_use::branch},
    {"cccc 00010010 1111 1111 1111 0010 mmmm", "BXJ", branch_exchange, nullptr, register_use::branch, "M"},
    {"cccc 00010010 1111 1111 1111 0011 mmmm", "BLX", branch_with_link_exchange_register, nullptr, register_use::branch, "M"},
    {"cccc 00010110 1111 dddd 1111 0001 mmmm", "CLZ", count_leading_zeros, nullptr, data, "DM"},
    {"cccc 00010000 nnnn dddd 0000 0101 mmmm", "QADD", saturating_add, nullptr, data, "DNM"},
    {"cccc 00010010 nnnn dddd 0000 0101 mmmm", "QSUB", saturating_subtract, nullptr, data, "DNM"},
    {"cccc 00010100 nnnn dddd 0000 0101 mmmm", "QDADD", saturating_double_add, nullptr, data, "DNM"},
    {"cccc 00010110 nnnn dddd 0000 0101 mmmm", "QDSUB", saturating_double_subtract, nullptr, data, "DNM"},
    {"cccc 00010010 iiii iiii iiii 0111 iiii", "BKPT", breakpoint, nullptr, system, "", unconditional},
    {"cccc 00010110 0000 0000 0000 0111 iiii", "SMC", missing_instruction, nullptr, system},

    // Data processing (A5.2.1 to A5.2.3)
    {"cccc 00110000 iiii dddd jjjj jjjj jjjj", "MOVW", plain<alu::mov, immediate>, nullptr, data, "D"},
    {"cccc 00110100 iiii dddd jjjj jjjj jjjj", "MOVT", move_top, nullptr, data, "D"},
    {"cccc 00110010 0000 1111 0000 0000 0010", "WFE", wait_for_event, nullptr, system},
    {"cccc 00110010 0000 1111 0000 0000 0011", "WFI", wait_for_interrupt, nullptr, system},
    {"cccc 00110010 0000 1111 0000 0000 0100", "SEV", send_event, nullptr, system},
    {"cccc 00110010 0000 1111 0000 1111 iiii", "DBG", debug_hint, nullptr, system},
    {"cccc 00110010 0000 1111 0000 iiii iiii", "NOP", nop, nullptr, hint},
    {"cccc 00110 r 10 eeee 1111 iiii iiii iiii", "MSR", move_to_status_immediate, nullptr, system, "", status_mask_and_immediate},
    {"cccc 000 0000 s nnnn dddd hhhhh tt 0 mmmm", "AND", plain<alu::and_, by_shift>, setting<alu::and_, by_shift>, data, "", immediate_shift},
    {"cccc 000 0000 s nnnn dddd aaaa 0 tt 1 mmmm", "AND", plain<alu::and_, by_register>, setting<alu::and_, by_register>, data, "DNMA"},
    {"cccc 001 0000 s nnnn dddd iiii iiii iiii", "AND", plain<alu::and_, immediate>, setting<alu::and_, immediate>, data, "", modified_immediate},
    {"cccc 000 0001 s nnnn dddd hhhhh tt 0 mmmm", "EOR", plain<alu::eor, by_shift>, setting<alu::eor, by_shift>, data, "", immediate_shift},
    {"cccc 000 0001 s nnnn dddd aaaa 0 tt 1 mmmm", "EOR", plain<alu::eor, by_register>, setting<alu::eor, by_register>, data, "DNMA"},
    {"cccc 001 0001 s nnnn dddd iiii iiii iiii", "EOR", plain<alu::eor, immediate>, setting<alu::eor, immediate>, data, "", modified_immediate},
    {"cccc 000 0010 s nnnn dddd hhhhh tt 0 mmmm", "SUB", plain<alu::sub, by_shift>, setting<alu::sub, by_shift>, data, "", immediate_shift},
    {"cccc 000 0010 s nnnn dddd aaaa 0 tt 1 mmmm", "SUB", plain<alu::sub, by_register>, setting<alu::sub, by_register>, data, "DNMA"},
    {"cccc 001 0010 s nnnn dddd iiii iiii iiii", "SUB", plain<alu::sub, immediate>, setting<alu::sub, immediate>, data, "", modified_immediate},
    {"cccc 000 0011 s nnnn dddd hhhhh tt 0 mmmm", "RSB", plain<alu::rsb, by_shift>, setting<alu::rsb, by_shift>, data, "", immediate_shift},
    {"cccc 000 0011 s nnnn dddd aaaa 0 tt 1 mmmm", "RSB", plain<alu::rsb, by_register>, setting<alu::rsb, by_register>, data, "DNMA"},
    {"cccc 001 0011 s nnnn dddd iiii iiii iiii", "RSB", plain<alu::rsb, immediate>, setting<alu::rsb, immediate>, data, "", modified_immediate},
    {"cccc 000 0100 s nnnn dddd hhhhh tt 0 mmmm", "ADD", plain<alu::add, by_shift>, setting<alu::add, by_shift>, data, "", immediate_shift},
    {"cccc 000 0100 s nnnn dddd aaaa 0 tt 1 mmmm", "ADD", plain<alu::add, by_register>, setting<alu::add, by_register>, data, "DNMA"},
    {"cccc 001 0100 s nnnn dddd iiii iiii iiii", "ADD", plain<alu::add, immediate>, setting<alu::add, immediate>, data, "", modified_immediate},
    {"cccc 000 0101 s nnnn dddd hhhhh tt 0 mmmm", "ADC", plain<alu::adc, by_shift>, setting<alu::adc, by_shift>, data, "", immediate_shift},
    {"cccc 000 0101 s nnnn dddd aaaa 0 tt 1 mmmm", "ADC", plain<alu::adc, by_register>, setting<alu::adc, by_register>, data, "DNMA"},
    {"cccc 001 0101 s nnnn dddd iiii iiii iiii", "ADC", plain<alu::adc, immediate>, setting<alu::adc, immediate>, data, "", modified_immediate},
    {"cccc 000 0110 s nnnn dddd hhhhh tt 0 mmmm", "SBC", plain<alu::sbc, by_shift>, setting<alu::sbc, by_shift>, data, "", immediate_shift},
    {"cccc 000 0110 s nnnn dddd aaaa 0 tt 1 mmmm", "SBC", plain<alu::sbc, by_register>, setting<alu::sbc, by_register>, data, "DNMA"},
    {"cccc 001 0110 s nnnn dddd iiii iiii iiii", "SBC", plain<alu::sbc, immediate>, setting<alu::sbc, immediate>, data, "", modified_immediate},
    {"cccc 000 0111 s nnnn dddd hhhhh tt 0 mmmm", "RSC", plain<alu::rsc, by_shift>, setting<alu::rsc, by_shift>, data, "", immediate_shift},
    {"cccc 000 0111 s nnnn dddd aaaa 0 tt 1 mmmm", "RSC", plain<alu::rsc, by_register>, setting<alu::rsc, by_register>, data, "DNMA"},
    {"cccc 001 0111 s nnnn dddd iiii iiii iiii", "RSC", plain<alu::rsc, immediate>, setting<alu::rsc, immediate>, data, "", modified_immediate},
    {"cccc 000 1000 1 nnnn 0000 hhhhh tt 0 mmmm", "TST", setting<alu::tst, by_shift>, nullptr, compare, "", immediate_shift},
    {"cccc 000 1000 1 nnnn 0000 aaaa 0 tt 1 mmmm", "TST", setting<alu::tst, by_register>, nullptr, compare, "NMA"},
    {"cccc 001 1000 1 nnnn 0000 iiii iiii iiii", "TST", setting<alu::tst, immediate>, nullptr, compare, "", modified_immediate},
    {"cccc 000 1001 1 nnnn 0000 hhhhh tt 0 mmmm", "TEQ", setting<alu::teq, by_shift>, nullptr, compare, "", immediate_shift},
    {"cccc 000 1001 1 nnnn 0000 aaaa 0 tt 1 mmmm", "TEQ", setting<alu::teq, by_register>, nullptr, compare, "NMA"},
    {"cccc 001 1001 1 nnnn 0000 iiii iiii iiii", "TEQ", setting<alu::teq, immediate>, nullptr, compare, "", modified_immediate},
    {"cccc 000 1010 1 nnnn 0000 hhhhh tt 0 mmmm", "CMP", setting<alu::cmp, by_shift>, nullptr, compare, "", immediate_shift},
    {"cccc 000 1010 1 nnnn 0000 aaaa 0 tt 1 mmmm", "CMP", setting<alu::cmp, by_register>, nullptr, compare, "NMA"},
    {"cccc 001 1010 1 nnnn 0000 iiii iiii iiii", "CMP", setting<alu::cmp, immediate>, nullptr, compare, "", modified_immediate},
    {"cccc 000 1011 1 nnnn 0000 hhhhh tt 0 mmmm", "CMN", setting<alu::cmn, by_shift>, nullptr, compare, "", immediate_shift},
    {"cccc 000 1011 1 nnnn 0000 aaaa 0 tt 1 mmmm", "CMN", setting<alu::cmn, by_register>, nullptr, compare, "NMA"},
    {"cccc 001 1011 1 nnnn 0000 iiii iiii iiii", "CMN", setting<alu::cmn, immediate>, nullptr, compare, "", modified_immediate},
    {"cccc 000 1100 s nnnn dddd hhhhh tt 0 mmmm", "ORR", plain<alu::orr, by_shift>, setting<alu::orr, by_shift>, data, "", immediate_shift},
    {"cccc 000 1100 s nnnn dddd aaaa 0 tt 1 mmmm", "ORR", plain<alu::orr, by_register>, setting<alu::orr, by_register>, data, "DNMA"},
    {"cccc 001 1100 s nnnn dddd iiii iiii iiii", "ORR", plain<alu::orr, immediate>, setting<alu::orr, immediate>, data, "", modified_immediate},
    {"cccc 000 1101 s 0000 dddd hhhhh tt 0 mmmm", "MOV", plain<alu::mov, by_shift>, setting<alu::mov, by_shift>, data, "", immediate_shift},
    {"cccc 000 1101 s 0000 dddd aaaa 0 tt 1 mmmm", "MOV", plain<alu::mov, by_register>, setting<alu::mov, by_register>, data, "DMA"},
    {"cccc 001 1101 s 0000 dddd iiii iiii iiii", "MOV", plain<alu::mov, immediate>, setting<alu::mov, immediate>, data, "", modified_immediate},
    {"cccc 000 1110 s nnnn dddd hhhhh tt 0 mmmm", "BIC", plain<alu::bic, by_shift>, setting<alu::bic, by_shift>, data, "", immediate_shift},
    {"cccc 000 1110 s nnnn dddd aaaa 0 tt 1 mmmm", "BIC", plain<alu::bic, by_register>, setting<alu::bic, by_register>, data, "DNMA"},
    {"cccc 001 1110 s nnnn dddd iiii iiii iiii", "BIC", plain<alu::bic, immediate>, setting<alu::bic, immediate>, data, "", modified_immediate},
    {"cccc 000 1111 s 0000 dddd hhhhh tt 0 mmmm", "MVN", plain<alu::mvn, by_shift>, setting<alu::mvn, by_shift>, data, "", immediate_shift},
    {"cccc 000 1111 s 0000 dddd aaaa 0 tt 1 mmmm", "MVN", plain<alu::mvn, by_register>, setting<alu::mvn, by_register>, data, "DMA"},
    {"cccc 001 1111 s 0000 dddd iiii iiii iiii", "MVN", plain<alu::mvn, immediate>, setting<alu::mvn, immediate>, data, "", modified_immediate},

    // Loads and stores of words and bytes (A5.3)
    {"cccc 010 p u 0 w 0 nnnn dddd iiii iiii iiii", "STR", st<word>, nullptr, register_use::store, "", all_of<times<1>, addressed_data>},
    {"cccc 010 p u 0 w 1 nnnn dddd iiii iiii iiii", "LDR", ld<word>, nullptr, register_use::load, "", all_of<times<1>, addressed_data>},
    {"cccc 011 p u 0 w 0 nnnn dddd hhhhh tt 0 mmmm", "STR", str<word>, nullptr, register_use::store, "M", all_of<immediate_shift, addressed_data>},
    {"cccc 011 p u 0 w 1 nnnn dddd hhhhh tt 0 mmmm", "LDR", ldr<word>, nullptr, register_use::load, "M", all_of<immediate_shift, addressed_data>},
    {"cccc 010 p u 1 w 0 nnnn dddd iiii iiii iiii", "STRB", st<u8>, nullptr, register_use::store, "D", all_of<times<1>, addressed_data>},
    {"cccc 010 p u 1 w 1 nnnn dddd iiii iiii iiii", "LDRB", ld<u8>, nullptr, register_use::load, "D", all_of<times<1>, addressed_data>},
    {"cccc 011 p u 1 w 0 nnnn dddd hhhhh tt 0 mmmm", "STRB", str<u8>, nullptr, register_use::store, "DM", all_of<immediate_shift, addressed_data>},
    {"cccc 011 p u 1 w 1 nnnn dddd hhhhh tt 0 mmmm", "LDRB", ldr<u8>, nullptr, register_use::load, "DM", all_of<immediate_shift, addressed_data>},

    // Media (A5.4)
    {"cccc 01100 001 nnnn dddd 1111 000 1 mmmm", "SADD16", parallel_arithmetic<parallel::add16, parallel_result::flags, true>, nullptr, data, "DNM"},
    {"cccc 01100 010 nnnn dddd 1111 000 1 mmmm", "QADD16", parallel_arithmetic<parallel::add16, parallel_result::saturates, true>, nullptr, data, "DNM"},
    {"cccc 01100 011 nnnn dddd 1111 000 1 mmmm", "SHADD16", parallel_arithmetic<parallel::add16, parallel_result::halves, true>, nullptr, data, "DNM"},
    {"cccc 01100 101 nnnn dddd 1111 000 1 mmmm", "UADD16", parallel_arithmetic<parallel::add16, parallel_result::flags, false>, nullptr, data, "DNM"},
    {"cccc 01100 110 nnnn dddd 1111 000 1 mmmm", "UQADD16", parallel_arithmetic<parallel::add16, parallel_result::saturates, false>, nullptr, data, "DNM"},
    {"cccc 01100 111 nnnn dddd 1111 000 1 mmmm", "UHADD16", parallel_arithmetic<parallel::add16, parallel_result::halves, false>, nullptr, data, "DNM"},
    {"cccc 01100 001 nnnn dddd 1111 001 1 mmmm", "SASX", parallel_arithmetic<parallel::asx, parallel_result::flags, true>, nullptr, data, "DNM"},
    {"cccc 01100 010 nnnn dddd 1111 001 1 mmmm", "QASX", parallel_arithmetic<parallel::asx, parallel_result::saturates, true>, nullptr, data, "DNM"},
    {"cccc 01100 011 nnnn dddd 1111 001 1 mmmm", "SHASX", parallel_arithmetic<parallel::asx, parallel_result::halves, true>, nullptr, data, "DNM"},
    {"cccc 01100 101 nnnn dddd 1111 001 1 mmmm", "UASX", parallel_arithmetic<parallel::asx, parallel_result::flags, false>, nullptr, data, "DNM"},
    {"cccc 01100 110 nnnn dddd 1111 001 1 mmmm", "UQASX", parallel_arithmetic<parallel::asx, parallel_result::saturates, false>, nullptr, data, "DNM"},
    {"cccc 01100 111 nnnn dddd 1111 001 1 mmmm", "UHASX", parallel_arithmetic<parallel::asx, parallel_result::halves, false>, nullptr, data, "DNM"},
    {"cccc 01100 001 nnnn dddd 1111 010 1 mmmm", "SSAX", parallel_arithmetic<parallel::sax, parallel_result::flags, true>, nullptr, data, "DNM"},
    {"cccc 01100 010 nnnn dddd 1111 010 1 mmmm", "QSAX", parallel_arithmetic<parallel::sax, parallel_result::saturates, true>, nullptr, data, "DNM"},
    {"cccc 01100 011 nnnn dddd 1111 010 1 mmmm", "SHSAX", parallel_arithmetic<parallel::sax, parallel_result::halves, true>, nullptr, data, "DNM"},
    {"cccc 01100 101 nnnn dddd 1111 010 1 mmmm", "USAX", parallel_arithmetic<parallel::sax, parallel_result::flags, false>, nullptr, data, "DNM"},
    {"cccc 01100 110 nnnn dddd 1111 010 1 mmmm", "UQSAX", parallel_arithmetic<parallel::sax, parallel_result::saturates, false>, nullptr, data, "DNM"},
    {"cccc 01100 111 nnnn dddd 1111 010 1 mmmm", "UHSAX", parallel_arithmetic<parallel::sax, parallel_result::halves, false>, nullptr, data, "DNM"},
    {"cccc 01100 001 nnnn dddd 1111 011 1 mmmm", "SSUB16", parallel_arithmetic<parallel::sub16, parallel_result::flags, true>, nullptr, data, "DNM"},
    {"cccc 01100 010 nnnn dddd 1111 011 1 mmmm", "QSUB16", parallel_arithmetic<parallel::sub16, parallel_result::saturates, true>, nullptr, data, "DNM"},
    {"cccc 01100 011 nnnn dddd 1111 011 1 mmmm", "SHSUB16", parallel_arithmetic<parallel::sub16, parallel_result::halves, true>, nullptr, data, "DNM"},
    {"cccc 01100 101 nnnn dddd 1111 011 1 mmmm", "USUB16", parallel_arithmetic<parallel::sub16, parallel_result::flags, false>, nullptr, data, "DNM"},
    {"cccc 01100 110 nnnn dddd 1111 011 1 mmmm", "UQSUB16", parallel_arithmetic<parallel::sub16, parallel_result::saturates, false>, nullptr, data, "DNM"},
    {"cccc 01100 111 nnnn dddd 1111 011 1 mmmm", "UHSUB16", parallel_arithmetic<parallel::sub16, parallel_result::halves, false>, nullptr, data, "DNM"},
    {"cccc 01100 001 nnnn dddd 1111 100 1 mmmm", "SADD8", parallel_arithmetic<parallel::add8, parallel_result::flags, true>, nullptr, data, "DNM"},
    {"cccc 01100 010 nnnn dddd 1111 100 1 mmmm", "QADD8", parallel_arithmetic<parallel::add8, parallel_result::saturates, true>, nullptr, data, "DNM"},
    {"cccc 01100 011 nnnn dddd 1111 100 1 mmmm", "SHADD8", parallel_arithmetic<parallel::add8, parallel_result::halves, true>, nullptr, data, "DNM"},
    {"cccc 01100 101 nnnn dddd 1111 100 1 mmmm", "UADD8", parallel_arithmetic<parallel::add8, parallel_result::flags, false>, nullptr, data, "DNM"},
    {"cccc 01100 110 nnnn dddd 1111 100 1 mmmm", "UQADD8", parallel_arithmetic<parallel::add8, parallel_result::saturates, false>, nullptr, data, "DNM"},
    {"cccc 01100 111 nnnn dddd 1111 100 1 mmmm", "UHADD8", parallel_arithmetic<parallel::add8, parallel_result::halves, false>, nullptr, data, "DNM"},
    {"cccc 01100 001 nnnn dddd 1111 111 1 mmmm", "SSUB8", parallel_arithmetic<parallel::sub8, parallel_result::flags, true>, nullptr, data, "DNM"},
    {"cccc 01100 010 nnnn dddd 1111 111 1 mmmm", "QSUB8", parallel_arithmetic<parallel::sub8, parallel_result::saturates, true>, nullptr, data, "DNM"},
    {"cccc 01100 011 nnnn dddd 1111 111 1 mmmm", "SHSUB8", parallel_arithmetic<parallel::sub8, parallel_result::halves, true>, nullptr, data, "DNM"},
    {"cccc 01100 101 nnnn dddd 1111 111 1 mmmm", "USUB8", parallel_arithmetic<parallel::sub8, parallel_result::flags, false>, nullptr, data, "DNM"},
    {"cccc 01100 110 nnnn dddd 1111 111 1 mmmm", "UQSUB8", parallel_arithmetic<parallel::sub8, parallel_result::saturates, false>, nullptr, data, "DNM"},
    {"cccc 01100 111 nnnn dddd 1111 111 1 mmmm", "UHSUB8", parallel_arithmetic<parallel::sub8, parallel_result::halves, false>, nullptr, data, "DNM"},
    {"cccc 01101000 nnnn dddd hhhhh 001 mmmm", "PKHBT", pack_bottom_top, nullptr, data, "DNM"},
    {"cccc 01101000 nnnn dddd hhhhh 101 mmmm; t=2", "PKHTB", pack_top_bottom, nullptr, data, "DNM", immediate_shift},
    {"cccc 01101000 nnnn dddd 1111 1011 mmmm", "SEL", select_bytes, nullptr, data, "DNM"},
    {"cccc 0110101 eeeee dddd hhhhh t 01 nnnn", "SSAT", saturate_signed, nullptr, data, "DN", saturation_shift},
    {"cccc 0110111 eeeee dddd hhhhh t 01 nnnn", "USAT", saturate_unsigned, nullptr, data, "DN", saturation_shift},
    {"cccc 01101010 eeee dddd 1111 0011 nnnn", "SSAT16", saturate_signed_halves, nullptr, data, "DN"},
    {"cccc 01101110 eeee dddd 1111 0011 nnnn", "USAT16", saturate_unsigned_halves, nullptr, data, "DN"},
    {"cccc 01101000 1111 dddd ee00 0111 mmmm", "SXTB16", extend<part::two_bytes, true, false>, nullptr, data, "DM", byte_rotation},
    {"cccc 01101000 nnnn dddd ee00 0111 mmmm", "SXTAB16", extend<part::two_bytes, true, true>, nullptr, data, "DM", byte_rotation},
    {"cccc 01101010 1111 dddd ee00 0111 mmmm", "SXTB", extend<part::byte, true, false>, nullptr, data, "DM", byte_rotation},
    {"cccc 01101010 nnnn dddd ee00 0111 mmmm", "SXTAB", extend<part::byte, true, true>, nullptr, data, "DM", byte_rotation},
    {"cccc 01101011 1111 dddd ee00 0111 mmmm", "SXTH", extend<part::halfword, true, false>, nullptr, data, "DM", byte_rotation},
    {"cccc 01101011 nnnn dddd ee00 0111 mmmm", "SXTAH", extend<part::halfword, true, true>, nullptr, data, "DM", byte_rotation},
    {"cccc 01101100 1111 dddd ee00 0111 mmmm", "UXTB16", extend<part::two_bytes, false, false>, nullptr, data, "DM", byte_rotation},
    {"cccc 01101100 nnnn dddd ee00 0111 mmmm", "UXTAB16", extend<part::two_bytes, false, true>, nullptr, data, "DM", byte_rotation},
    {"cccc 01101110 1111 dddd ee00 0111 mmmm", "UXTB", extend<part::byte, false, false>, nullptr, data, "DM", byte_rotation},
    {"cccc 01101110 nnnn dddd ee00 0111 mmmm", "UXTAB", extend<part::byte, false, true>, nullptr, data, "DM", byte_rotation},
    {"cccc 01101111 1111 dddd ee00 0111 mmmm", "UXTH", extend<part::halfword, false, false>, nullptr, data, "DM", byte_rotation},
    {"cccc 01101111 nnnn dddd ee00 0111 mmmm", "UXTAH", extend<part::halfword, false, true>, nullptr, data, "DM", byte_rotation},
    {"cccc 01101011 1111 dddd 1111 0011 mmmm", "REV", reverse_bytes, nullptr, data, "DM"},
    {"cccc 01101011 1111 dddd 1111 1011 mmmm", "REV16", reverse_halfwords, nullptr, data, "DM"},
    {"cccc 01101111 1111 dddd 1111 0011 mmmm", "RBIT", reverse_bits, nullptr, data, "DM"},
    {"cccc 01101111 1111 dddd 1111 1011 mmmm", "REVSH", reverse_signed_halfword, nullptr, data, "DM"},
    {"cccc 01110000 dddd 1111 mmmm 00y1 nnnn", "SMUAD", dual_add, nullptr, data, "DNM"},
    {"cccc 01110000 dddd aaaa mmmm 00y1 nnnn", "SMLAD", dual_add_accumulate, nullptr, data, "DNM"},
    {"cccc 01110000 dddd 1111 mmmm 01y1 nnnn", "SMUSD", dual_subtract, nullptr, data, "DNM"},
    {"cccc 01110000 dddd aaaa mmmm 01y1 nnnn", "SMLSD", dual_subtract_accumulate, nullptr, data, "DNM"},
    {"cccc 01110101 dddd 1111 mmmm 00y1 nnnn", "SMMUL", multiply_top, nullptr, data, "DNM"},
    {"cccc 01110101 dddd aaaa mmmm 00y1 nnnn", "SMMLA", multiply_top_add, nullptr, data, "DNM"},
    {"cccc 01110101 dddd aaaa mmmm 11y1 nnnn", "SMMLS", multiply_top_subtract, nullptr, data, "DNMA"},
    {"cccc 01110001 dddd 1111 mmmm 0001 nnnn", "SDIV", signed_divide, nullptr, data, "DNM"},
    {"cccc 01110011 dddd 1111 mmmm 0001 nnnn", "UDIV", unsigned_divide, nullptr, data, "DNM"},
    {"cccc 01110100 aaaa dddd mmmm 00y1 nnnn", "SMLALD", dual_add_long, nullptr, data_pair, "DNMA", two_destinations},
    {"cccc 01110100 aaaa dddd mmmm 01y1 nnnn", "SMLSLD", dual_subtract_long, nullptr, data_pair, "DNMA", two_destinations},
    {"cccc 01111000 dddd 1111 mmmm 0001 nnnn", "USAD8", sum_of_differences, nullptr, data, "DNM"},
    {"cccc 01111000 dddd aaaa mmmm 0001 nnnn", "USADA8", sum_of_differences_add, nullptr, data, "DNM"},
    {"cccc 0111101 eeeee dddd hhhhh 101 nnnn", "SBFX", signed_bit_field, nullptr, data, "DN", bits_in_word},
    {"cccc 0111111 eeeee dddd hhhhh 101 nnnn", "UBFX", unsigned_bit_field, nullptr, data, "DN", bits_in_word},
    {"cccc 0111110 eeeee dddd hhhhh 001 1111", "BFC", bit_field_clear, nullptr, data, "D", ordered_bits},
    {"cccc 0111110 eeeee dddd hhhhh 001 nnnn", "BFI", bit_field_insert, nullptr, data, "D", ordered_bits},
    {"cccc 01111111 iiii iiii iiii 1111 iiii", "UDF", undefined_instruction, nullptr, system},

    // Multiple (A5.5)
    {"cccc 100 p u 0 w 0 nnnn llllllllllllllll", "STM", store_multiple, nullptr, register_use::store, "N", list},
    {"cccc 100 p u 0 w 1 nnnn llllllllllllllll", "LDM", load_multiple, nullptr, load_many, "N", loaded_list},
    {"cccc 100 p u 100 nnnn llllllllllllllll", "STM^", store_multiple_user, nullptr, system, "N", list},
    {"cccc 100 p u 1 w 1 nnnn 1lllllllllllllll; l=1", "LDM^", load_multiple_return, nullptr, register_use::branch, "N", loaded_list},
    {"cccc 100 p u 101 nnnn 0lllllllllllllll", "LDM^", load_multiple_user, nullptr, system, "N", list},

    // Branches, calls, coprocessors (A5.5, A5.6)
    {"cccc 1010 iiii iiii iiii iiii iiii iiii", "B", armv7::branch, nullptr, register_use::branch, "", near_target},
    {"cccc 1011 iiii iiii iiii iiii iiii iiii", "BL", branch_with_link, nullptr, register_use::branch, "", near_target},
    {"cccc 1111 iiii iiii iiii iiii iiii iiii", "SVC", supervisor_call, nullptr, system},
    {"cccc 1110 xxxx xxxx xxxx 101x xxxx xxxx", "floating point", missing_instruction, nullptr, system},
    {"cccc 110x xxxx xxxx xxxx 101x xxxx xxxx", "floating point", missing_instruction, nullptr, system},
    {"cccc 1110 iii 0 nnnn dddd eeee jjj 1 mmmm", "MCR", move_to_coprocessor, nullptr, system, "D", coprocessor},
    {"cccc 1110 iii 1 nnnn dddd eeee jjj 1 mmmm", "MRC", move_from_coprocessor, nullptr, system, "", coprocessor},
    {"cccc 1100 0100 aaaa dddd eeee iiii mmmm", "MCRR", move_two_to_coprocessor, nullptr, system, "DA", coprocessor},
    {"cccc 1100 0101 aaaa dddd eeee iiii mmmm", "MRRC", move_two_from_coprocessor, nullptr, system, "DA", all_of<coprocessor, two_destinations>},
    {"cccc 1110 xxxx xxxx xxxx xxxx xxxx xxxx", "coprocessor", missing_instruction, nullptr, system},
    {"cccc 1100 0000 xxxx xxxx xxxx xxxx xxxx", "coprocessor", undefined_instruction, nullptr, system},
    {"cccc 110x xxxx xxxx xxxx xxxx xxxx xxxx", "coprocessor", missing_instruction, nullptr, system},

    // Without a condition (A5.7)
    {"1111 00010000 ii j 0 0000 000 xxx 0 lllll", "CPS", change_state, nullptr, system, "", cps_mode},
    {"1111 00010000 0001 0000 0000 0000 0000", "SETEND LE", nop, nullptr, hint},
    {"1111 00010000 0001 0000 0010 0000 0000", "SETEND BE", missing_instruction, nullptr, system},
    {"1111 0101 u j 01 nnnn 1111 iiii iiii iiii", "PLD", nop, nullptr, hint},
    {"1111 0111 u j 01 nnnn 1111 hhhhh tt 0 mmmm", "PLD", nop, nullptr, hint, "M"},
    {"1111 0100 u 101 nnnn 1111 iiii iiii iiii", "PLI", nop, nullptr, hint},
    {"1111 0110 u 101 nnnn 1111 hhhhh tt 0 mmmm", "PLI", nop, nullptr, hint, "M"},
    {"1111 0101 0111 1111 1111 0000 0001 1111", "CLREX", clear_exclusive, nullptr, hint},
    {"1111 0101 0111 1111 1111 0000 0100 iiii", "DSB", data_synchronization_barrier, nullptr, system},
    {"1111 0101 0111 1111 1111 0000 0101 iiii", "DMB", data_memory_barrier, nullptr, system},
    {"1111 0101 0111 1111 1111 0000 0110 iiii", "ISB", instruction_synchronization_barrier, nullptr, system},
    {"1111 100 p u 1 w 0 1101 0000 0101 000 lllll", "SRS", store_return_state, nullptr, system, "", listed_mode},
    {"1111 100 p u 0 w 1 nnnn 0000 1010 0000 0000", "RFE", return_from_stack, nullptr, register_use::branch, "N"},
    {"1111 101 i jjjj jjjj jjjj jjjj jjjj jjjj", "BLX", branch_with_link_exchange, nullptr, register_use::branch, "", exchanging_target},
    {"1111 001x xxxx xxxx xxxx xxxx xxxx xxxx", "Advanced SIMD", missing_instruction, nullptr, system},
    {"1111 0100 xxx0 xxxx xxxx xxxx xxxx xxxx", "Advanced SIMD", missing_instruction, nullptr, system},
    {"1111 0100 u 001 nnnn iiii iiii iiii iiii", "hint", nop, nullptr, hint},
    {"1111 0110 u 001 nnnn iiii hhhhh tt 0 mmmm", "hint", nop, nullptr, hint, "M"},
    {"1111 1110 xxxx xxxx xxxx xxxx xxxx xxxx", "coprocessor", missing_instruction, nullptr, system},
    {"1111 1100 0000 xxxx xxxx xxxx xxxx xxxx", "coprocessor", undefined_instruction, nullptr, system},
    {"1111 110x xxxx xxxx xxxx xxxx xxxx xxxx", "coprocessor", missing_instruction, nullptr, system},
};
// clang-format on

} // namespace

std::span<const row> a32_rows()
{
    return rows;
}

} // namespace bulkhead::machine::armv7
