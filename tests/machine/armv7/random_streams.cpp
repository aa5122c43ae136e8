// SPDX-License-Identifier: Apache-2.0
// Writes assembly of random instructions for comparison with an emulator: every row of a table several times,
// with random valid operands, random registers and flags before it, and all of them stored afterwards.
// Branches and instructions that need a system are left out.
//
//     armv7_random_streams t32|a32 SEED CASES_OF_ROW
#include <array>
#include <cstdlib>
#include <iostream>
#include <random>
#include <string>

#include "machine/armv7/decode.h"
#include "machine/armv7/encoding.h"
#include "machine/armv7/registers.h"

namespace {

using namespace bulkhead::machine::armv7;

constexpr features everything{.m_profile = false, .divide_thumb = true, .divide_arm = true};
constexpr std::uint32_t tries = 2000;

class writer {
public:
    writer(bool thumb, std::uint32_t seed) : thumb_(thumb), random_(seed) {}

    void rows(std::span<const row> all, std::uint32_t cases)
    {
        for (const row &each : all) {
            const bool wanted = each.use != register_use::branch && each.use != register_use::system &&
                                each.where != only::m_profile && each.name != std::string_view("IT");
            for (std::uint32_t i = 0; wanted && i < cases; ++i) {
                one_case(each);
            }
        }
    }
    // Flags and registers before each case, and the buffer's contents: small and special numbers among random
    // ones.
    void data()
    {
        std::cout << "    .data\n    .balign 8\n    .space 4096\nrecords:\n";
        for (std::uint32_t i = 0; i < 15 * cases_; ++i) {
            std::cout << "    .word 0x" << std::hex << number() << std::dec << '\n'
                      << (i % 15 == 14 ? "    .space 60\n" : "");
        }
    }

private:
    std::uint32_t bits() { return static_cast<std::uint32_t>(random_()); }
    std::uint32_t number()
    {
        constexpr std::array<std::uint32_t, 8> special{0,          1,          0x7FFFFFFF, 0x80000000,
                                                       0xFFFFFFFF, 0x80008000, 0x7FFF7FFF, 0xFF80807F};
        const std::uint32_t any = bits();
        return any % 4 == 0 ? special[bits() % 8] : any % 4 == 1 ? bits() % 64 : bits();
    }
    // Registers that a case must not change: sp, the pointer for storing them, and pc.
    static bool keeps_registers(const operation &what)
    {
        const std::uint32_t writes =
            what.writes | (what.writeback ? 1U << what.n : 0) | (is_exclusive_store(what) ? 1U << what.d : 0);
        return (writes & (1U << sp | 1U << pc)) == 0;
    }
    static bool is_exclusive_store(const operation &what)
    {
        return std::string_view(what.name).starts_with("STREX");
    }
    static bool is_indexed(const operation &what)
    {
        return (what.addresses & ~(1U << what.n)) != 0 && !is_exclusive_store(what);
    }
    // Words, or double words of exclusive accesses.
    static bool must_be_aligned(const operation &what)
    {
        const std::string_view name = what.name;
        return !(name.starts_with("LDR") || name.starts_with("STR")) || name.substr(3, 1) == "D" ||
               name.substr(3, 1) == "E";
    }
    // Whether its addresses can be made to lie in the buffer, or, for loads, in code.
    static bool stays_in_memory(const operation &what)
    {
        if (what.addresses == 0) {
            return true;
        }
        const bool exclusive = std::string_view(what.name).substr(3, 2) == "EX";
        if ((what.use == register_use::store && what.n == pc) || (exclusive && what.n == sp) ||
            (must_be_aligned(what) && what.use != register_use::load_many &&
             what.name != std::string_view("STM") && (what.imm & 3U) != 0)) {
            return false;
        }
        return !is_indexed(what) ||
               (what.m < sp && what.shift < ror && (what.shift != lsl || what.amount <= 8));
    }

    std::optional<operation> draw(const encoding &layout, std::uint8_t it)
    {
        const row &from = layout.source();
        const auto bytes = static_cast<std::uint8_t>(layout.bits() / 8);
        for (std::uint32_t i = 0; i < tries; ++i) {
            std::uint32_t word = (bits() & ~layout.mask()) | layout.value();
            if (bytes == 2) {
                word &= 0xFFFF;
            } else if (!thumb_ && from.pattern[0] == 'c' && bits() % 4 != 0) {
                word = (word & 0x0FFFFFFF) | 0xE0000000;
            }
            const operation what = decode(word, bytes, {0, it, thumb_}, everything);
            const bool twice = from.pattern.find('m') != std::string_view::npos && what.m == what.n &&
                               what.addresses != 0; // base and index
            if (!twice && what.name == from.name && !is_undefined(what) && keeps_registers(what) &&
                stays_in_memory(what)) {
                return what;
            }
        }
        return {};
    }

    void load_constant(std::uint32_t number, const std::string &value)
    {
        std::cout << "    movw r" << number << ", #:lower16:" << value << "\n    movt r" << number
                  << ", #:upper16:" << value << '\n';
    }
    // The base in the middle of the buffer, and a small index.
    void aim(const operation &what)
    {
        if (what.addresses == 0) {
            return;
        }
        const std::uint32_t step = must_be_aligned(what) ? 8 : 1;
        if (is_indexed(what)) {
            load_constant(what.m, std::to_string(bits() % 64 * step));
        }
        if (what.n != sp && what.n != pc) {
            load_constant(what.n, "buffer_middle + " + std::to_string(bits() % 1024 * step));
        }
        if (is_exclusive_store(what) && bits() % 2 == 0) {
            open_monitor(what);
        }
    }
    // A load-exclusive of the same address, to registers that the store does not use.
    void open_monitor(const operation &what)
    {
        std::uint32_t to = 0;
        while (to == what.n || to == what.d || to == what.a || to == what.m || to + 1 == what.n ||
               to + 1 == what.d || to + 1 == what.a || to + 1 == what.m) {
            to += 2;
        }
        const std::string name = "ldrex" + std::string(what.name).substr(5);
        std::cout << "    " << name << " r" << to << (what.extra == 8 ? ", r" + std::to_string(to + 1) : "")
                  << ", [r" << std::uint32_t{what.n}
                  << (what.imm != 0 ? ", #" + std::to_string(what.imm) : "") << "]\n";
    }
    void put(const operation &what)
    {
        std::cout << (what.bytes == 2 ? "    .inst.n 0x"
                      : thumb_        ? "    .inst.w 0x"
                                      : "    .inst 0x")
                  << std::hex << what.word << std::dec << " @ " << what.name << '\n';
    }

    // In T32 sometimes in an IT block of one instruction.
    void one_case(const row &from)
    {
        const encoding layout(from);
        auto it = static_cast<std::uint8_t>(bits() % 14U << 4U | 8U);
        std::optional<operation> what;
        if (thumb_ && bits() % 4 == 0) {
            what = draw(layout, it);
        }
        if (!what) {
            it = 0;
            what = draw(layout, it);
        }
        if (!what) {
            return;
        }
        std::cout << "    begin_case\n";
        aim(*what);
        if (it != 0) {
            std::cout << "    .inst.n 0x" << std::hex << (0xBF00U | it) << std::dec << '\n';
        }
        put(*what);
        std::cout << "    end_case\n";
        ++cases_;
    }

    bool thumb_;
    std::mt19937 random_;
    std::uint32_t cases_ = 0;
};

} // namespace

int main(int argc, char **argv)
{
    if (argc != 4) {
        std::cerr << "usage: armv7_random_streams t32|a32 SEED CASES_OF_ROW\n";
        return 2;
    }
    const bool thumb = std::string(argv[1]) == "t32";
    writer out(thumb, static_cast<std::uint32_t>(std::strtoul(argv[2], nullptr, 10)));
    const auto cases = static_cast<std::uint32_t>(std::strtoul(argv[3], nullptr, 10));
    if (thumb) {
        out.rows(t16_rows(), cases);
        out.rows(t32_rows(), cases);
    } else {
        out.rows(a32_rows(), cases);
    }
    out.data();
    return 0;
}
