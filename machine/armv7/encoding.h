// SPDX-License-Identifier: Apache-2.0
// Rows of the decoder's tables. A row's pattern has the bits of an encoding from the most significant one on:
// 0 and 1 are fixed; a letter is a bit of the field of that name. The bits of a field are concatenated from
// the top, even if they are not adjacent in the encoding; blanks are ignored. After a semicolon, fields get
// constant values ("; n=13, p=1"). Bits that the architecture requires to be zero or one are fixed: other
// values are unpredictable, and unpredictable encodings are undefined here.
//
//     c condition          d n m a registers (operation.h)    b: d and n     g: d and m
//     i j immediate, i above   l list of registers            s sets flags   t h type and amount of a shift
//     p u w index, add, writeback   f unprivileged            x y halves     e extra   r status register
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "machine/armv7/operation.h"

namespace bulkhead::machine::armv7 {

// The fields of a word, by letter.
class fields {
public:
    [[nodiscard]] std::uint32_t of(char letter) const { return values_[index(letter)]; }
    [[nodiscard]] std::uint32_t width_of(char letter) const { return widths_[index(letter)]; }
    [[nodiscard]] bool has(char letter) const { return width_of(letter) != 0; }
    // The immediate: bits of i above those of j.
    [[nodiscard]] std::uint32_t immediate() const { return of('i') << width_of('j') | of('j'); }
    void append(char letter, std::uint32_t bits, std::uint32_t width)
    {
        values_[index(letter)] = values_[index(letter)] << width | bits;
        widths_[index(letter)] += width;
    }

private:
    static std::size_t index(char letter) { return static_cast<std::size_t>(letter - 'a'); }
    std::array<std::uint32_t, 26> values_{};
    std::array<std::uint32_t, 26> widths_{};
};

// Fills in the rest of an operation from the fields; false: unpredictable.
using finisher = bool (*)(operation &what, const fields &of);

enum class it_rule : std::uint8_t {
    any,
    outside,      // unpredictable inside an IT block
    last,         // unpredictable inside an IT block, except as its last instruction
    sets_outside, // T32, 16 bits: sets the flags outside of an IT block
    unconditional // executes in an IT block regardless of its condition
};
enum class only : std::uint8_t { both, a_profile, m_profile };

struct row {
    std::string_view pattern;
    const char *name;
    handler execute;
    handler setting_flags = nullptr; // the handler that sets flags (S); null: there is none
    register_use use = register_use::data;
    // Restrictions of registers: the letter of a field in lower case: neither 13 nor 15; in upper case: not
    // 15.
    std::string_view not_special{};
    finisher finish = nullptr; // null: the immediate is used unchanged
    it_rule it = it_rule::any;
    only where = only::both;
};

// A row with its pattern parsed.
class encoding {
public:
    explicit encoding(const row &of);

    [[nodiscard]] bool matches(std::uint32_t word) const { return (word & mask_) == value_; }
    [[nodiscard]] const row &source() const { return *row_; }
    [[nodiscard]] fields take_apart(std::uint32_t word) const;
    [[nodiscard]] std::uint32_t mask() const { return mask_; }
    [[nodiscard]] std::uint32_t value() const { return value_; }
    [[nodiscard]] std::uint32_t bits() const { return bits_; }

private:
    struct piece {
        char letter;
        std::uint8_t low;
        std::uint8_t width;
    };
    const row *row_;
    std::uint32_t mask_ = 0;
    std::uint32_t value_ = 0;
    std::uint32_t bits_ = 0;
    std::vector<piece> pieces_;
    fields constants_;
};

// The tables (table_t16.cpp, table_t32.cpp, table_a32.cpp). The first matching row is used.
[[nodiscard]] std::span<const row> t16_rows();
[[nodiscard]] std::span<const row> t32_rows();
[[nodiscard]] std::span<const row> a32_rows();

} // namespace bulkhead::machine::armv7
