// SPDX-License-Identifier: Apache-2.0
// T32, 16 bits (Arm DDI 0406C.d A6.2, DDI 0403E.e A5.2).
#include <bit>

#include "machine/armv7/finish.h"
#include "machine/armv7/table_handlers.h"

namespace bulkhead::machine::armv7 {

namespace {

using namespace short_names;
using enum register_use;
using enum datum;

// MOVS of a register has no shift, and is unpredictable in an IT block.
bool is_a_shift(operation &what, const fields & /*of*/)
{
    return what.amount != 0 || what.shift != lsl || what.it == 0;
}
bool not_both_pc(operation &what, const fields & /*of*/)
{
    return what.n != pc || what.m != pc;
}
bool one_is_high(operation &what, const fields & /*of*/)
{
    return what.n >= 8 || what.m >= 8;
}
bool forward(operation &what, const fields &of)
{
    return branch_target(what, of.immediate() * 2);
}
template <std::uint32_t bits> bool relative(operation &what, const fields &of)
{
    return branch_target(what, extended(of.immediate(), bits) * 2);
}
bool pushed(operation &what, const fields &of)
{
    what.imm = of.of('l') | of.of('i') << lr;
    return what.imm != 0;
}
bool popped(operation &what, const fields &of)
{
    what.imm = of.of('l') | of.of('i') << pc;
    return what.imm != 0;
}
// A base register in the list is loaded, and not written back.
bool loaded_base(operation &what, const fields &of)
{
    what.writeback = (of.of('l') >> what.n & 1U) == 0;
    return list(what, of);
}
// ITSTATE of the following instructions. With AL there is no ELSE.
bool if_then(operation &what, const fields &of)
{
    what.next_it = static_cast<std::uint8_t>(of.immediate());
    const std::uint32_t condition = what.next_it >> 4U;
    const auto mask = static_cast<std::uint32_t>(what.next_it & 15U);
    return condition != 15 && (condition != always || std::has_single_bit(mask));
}
bool cps_bits(operation &what, const fields &of)
{
    what.extra = static_cast<std::uint8_t>(2 + of.of('i'));
    what.amount = static_cast<std::uint8_t>(of.of('j'));
    what.imm = 0;
    return what.amount != 0;
}

// clang-format off
const row rows[] = {
    {"0001100 mmm nnn ddd", "ADD", plain<alu::add, by_shift>, setting<alu::add, by_shift>, data, "", nullptr, it_rule::sets_outside},
    {"0001101 mmm nnn ddd", "SUB", plain<alu::sub, by_shift>, setting<alu::sub, by_shift>, data, "", nullptr, it_rule::sets_outside},
    {"0001110 iii nnn ddd", "ADD", plain<alu::add, immediate>, setting<alu::add, immediate>, data, "", nullptr, it_rule::sets_outside},
    {"0001111 iii nnn ddd", "SUB", plain<alu::sub, immediate>, setting<alu::sub, immediate>, data, "", nullptr, it_rule::sets_outside},
    {"000 tt hhhhh mmm ddd", "MOV", plain<alu::mov, by_shift>, setting<alu::mov, by_shift>, data, "", all_of<is_a_shift, immediate_shift>, it_rule::sets_outside},
    {"00100 ddd iiiiiiii", "MOV", plain<alu::mov, immediate>, setting<alu::mov, immediate>, data, "", nullptr, it_rule::sets_outside},
    {"00101 nnn iiiiiiii", "CMP", setting<alu::cmp, immediate>, nullptr, compare},
    {"00110 bbb iiiiiiii", "ADD", plain<alu::add, immediate>, setting<alu::add, immediate>, data, "", nullptr, it_rule::sets_outside},
    {"00111 bbb iiiiiiii", "SUB", plain<alu::sub, immediate>, setting<alu::sub, immediate>, data, "", nullptr, it_rule::sets_outside},

    {"0100000000 mmm bbb", "AND", plain<alu::and_, by_shift>, setting<alu::and_, by_shift>, data, "", nullptr, it_rule::sets_outside},
    {"0100000001 mmm bbb", "EOR", plain<alu::eor, by_shift>, setting<alu::eor, by_shift>, data, "", nullptr, it_rule::sets_outside},
    {"0100000010 aaa ggg; t=0", "LSL", plain<alu::mov, by_register>, setting<alu::mov, by_register>, data, "", nullptr, it_rule::sets_outside},
    {"0100000011 aaa ggg; t=1", "LSR", plain<alu::mov, by_register>, setting<alu::mov, by_register>, data, "", nullptr, it_rule::sets_outside},
    {"0100000100 aaa ggg; t=2", "ASR", plain<alu::mov, by_register>, setting<alu::mov, by_register>, data, "", nullptr, it_rule::sets_outside},
    {"0100000101 mmm bbb", "ADC", plain<alu::adc, by_shift>, setting<alu::adc, by_shift>, data, "", nullptr, it_rule::sets_outside},
    {"0100000110 mmm bbb", "SBC", plain<alu::sbc, by_shift>, setting<alu::sbc, by_shift>, data, "", nullptr, it_rule::sets_outside},
    {"0100000111 aaa ggg; t=3", "ROR", plain<alu::mov, by_register>, setting<alu::mov, by_register>, data, "", nullptr, it_rule::sets_outside},
    {"0100001000 mmm nnn", "TST", setting<alu::tst, by_shift>, nullptr, compare},
    {"0100001001 nnn ddd", "RSB", plain<alu::rsb, immediate>, setting<alu::rsb, immediate>, data, "", nullptr, it_rule::sets_outside},
    {"0100001010 mmm nnn", "CMP", setting<alu::cmp, by_shift>, nullptr, compare},
    {"0100001011 mmm nnn", "CMN", setting<alu::cmn, by_shift>, nullptr, compare},
    {"0100001100 mmm bbb", "ORR", plain<alu::orr, by_shift>, setting<alu::orr, by_shift>, data, "", nullptr, it_rule::sets_outside},
    {"0100001101 nnn ggg", "MUL", multiply<false>, multiply<true>, data, "", nullptr, it_rule::sets_outside},
    {"0100001110 mmm bbb", "BIC", plain<alu::bic, by_shift>, setting<alu::bic, by_shift>, data, "", nullptr, it_rule::sets_outside},
    {"0100001111 mmm ddd", "MVN", plain<alu::mvn, by_shift>, setting<alu::mvn, by_shift>, data, "", nullptr, it_rule::sets_outside},

    {"01000100 b mmmm bbb", "ADD", plain<alu::add, by_shift>, nullptr, data, "", not_both_pc},
    {"01000101 n mmmm nnn", "CMP", setting<alu::cmp, by_shift>, nullptr, compare, "NM", one_is_high},
    {"01000110 d mmmm ddd", "MOV", plain<alu::mov, by_shift>},
    {"010001110 mmmm 000", "BX", branch_exchange, nullptr, register_use::branch, "", nullptr, it_rule::last},
    {"010001111 mmmm 000", "BLX", branch_with_link_exchange_register, nullptr, register_use::branch, "M", nullptr, it_rule::last},

    {"01001 ddd iiiiiiii; n=15, p=1, u=1", "LDR", ld<word>, nullptr, register_use::load, "", times<4>},
    {"0101000 mmm nnn ddd; p=1, u=1", "STR", str<word>, nullptr, register_use::store},
    {"0101001 mmm nnn ddd; p=1, u=1", "STRH", str<u16>, nullptr, register_use::store},
    {"0101010 mmm nnn ddd; p=1, u=1", "STRB", str<u8>, nullptr, register_use::store},
    {"0101011 mmm nnn ddd; p=1, u=1", "LDRSB", ldr<s8>, nullptr, register_use::load},
    {"0101100 mmm nnn ddd; p=1, u=1", "LDR", ldr<word>, nullptr, register_use::load},
    {"0101101 mmm nnn ddd; p=1, u=1", "LDRH", ldr<u16>, nullptr, register_use::load},
    {"0101110 mmm nnn ddd; p=1, u=1", "LDRB", ldr<u8>, nullptr, register_use::load},
    {"0101111 mmm nnn ddd; p=1, u=1", "LDRSH", ldr<s16>, nullptr, register_use::load},
    {"01100 iiiii nnn ddd; p=1, u=1", "STR", st<word>, nullptr, register_use::store, "", times<4>},
    {"01101 iiiii nnn ddd; p=1, u=1", "LDR", ld<word>, nullptr, register_use::load, "", times<4>},
    {"01110 iiiii nnn ddd; p=1, u=1", "STRB", st<u8>, nullptr, register_use::store},
    {"01111 iiiii nnn ddd; p=1, u=1", "LDRB", ld<u8>, nullptr, register_use::load},
    {"10000 iiiii nnn ddd; p=1, u=1", "STRH", st<u16>, nullptr, register_use::store, "", times<2>},
    {"10001 iiiii nnn ddd; p=1, u=1", "LDRH", ld<u16>, nullptr, register_use::load, "", times<2>},
    {"10010 ddd iiiiiiii; n=13, p=1, u=1", "STR", st<word>, nullptr, register_use::store, "", times<4>},
    {"10011 ddd iiiiiiii; n=13, p=1, u=1", "LDR", ld<word>, nullptr, register_use::load, "", times<4>},
    {"10100 ddd iiiiiiii; u=1", "ADR", address_of, nullptr, data, "", times<4>},
    {"10101 ddd iiiiiiii; n=13", "ADD", plain<alu::add, immediate>, nullptr, data, "", times<4>},

    {"101100000 iiiiiii; b=13", "ADD", plain<alu::add, immediate>, nullptr, data, "", times<4>},
    {"101100001 iiiiiii; b=13", "SUB", plain<alu::sub, immediate>, nullptr, data, "", times<4>},
    {"101100 i 1 iiiii nnn", "CBZ", branch_if_zero, nullptr, register_use::branch, "", forward, it_rule::outside},
    {"101110 i 1 iiiii nnn", "CBNZ", branch_if_not_zero, nullptr, register_use::branch, "", forward, it_rule::outside},
    {"1011001000 mmm ddd", "SXTH", extend<part::halfword, true, false>},
    {"1011001001 mmm ddd", "SXTB", extend<part::byte, true, false>},
    {"1011001010 mmm ddd", "UXTH", extend<part::halfword, false, false>},
    {"1011001011 mmm ddd", "UXTB", extend<part::byte, false, false>},
    {"1011010 i llllllll; n=13, p=1, u=0, w=1", "PUSH", store_multiple, nullptr, register_use::store, "", pushed},
    {"1011110 i llllllll; n=13, p=0, u=1, w=1", "POP", load_multiple, nullptr, load_many, "", popped},
    {"10110110010 10 000", "SETEND LE", nop, nullptr, hint, "", nullptr, it_rule::outside, only::a_profile},
    {"10110110010 11 000", "SETEND BE", missing_instruction, nullptr, register_use::system, "", nullptr, it_rule::outside, only::a_profile},
    {"10110110011 i 0 jjj", "CPS", change_state, nullptr, register_use::system, "", cps_bits, it_rule::outside, only::a_profile},
    {"10110110011 i 00 jj", "CPS", change_state, nullptr, register_use::system, "", cps_bits, it_rule::outside, only::m_profile},
    {"1011101000 mmm ddd", "REV", reverse_bytes},
    {"1011101001 mmm ddd", "REV16", reverse_halfwords},
    {"1011101011 mmm ddd", "REVSH", reverse_signed_halfword},
    {"10111110 iiiiiiii", "BKPT", breakpoint, nullptr, register_use::system, "", nullptr, it_rule::unconditional},
    {"10111111 0010 0000", "WFE", wait_for_event, nullptr, register_use::system},
    {"10111111 0011 0000", "WFI", wait_for_interrupt, nullptr, register_use::system},
    {"10111111 0100 0000", "SEV", send_event, nullptr, register_use::system},
    {"10111111 jjjj 0000", "NOP", nop, nullptr, hint},
    {"10111111 iiii iiii", "IT", nop, nullptr, hint, "", if_then, it_rule::outside},

    {"11000 nnn llllllll; p=0, u=1, w=1", "STM", store_multiple, nullptr, register_use::store, "", list},
    {"11001 nnn llllllll; p=0, u=1", "LDM", load_multiple, nullptr, load_many, "", loaded_base},
    {"11011110 iiiiiiii", "UDF", undefined_instruction, nullptr, register_use::system},
    {"11011111 iiiiiiii", "SVC", supervisor_call, nullptr, register_use::system},
    {"1101 cccc iiiiiiii", "B", armv7::branch, nullptr, register_use::branch, "", relative<8>, it_rule::outside},
    {"11100 iiiiiiiiiii", "B", armv7::branch, nullptr, register_use::branch, "", relative<11>, it_rule::last},
};
// clang-format on

} // namespace

std::span<const row> t16_rows()
{
    return rows;
}

} // namespace bulkhead::machine::armv7
