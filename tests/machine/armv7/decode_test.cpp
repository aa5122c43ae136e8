// SPDX-License-Identifier: Apache-2.0
// The decoder's tables as a whole: each row is reached, and ITSTATE and the core's features decide what is
// undefined. Which words are instructions is compared with a disassembler (test_against_objdump.py).
#include "machine/armv7/decode.h"

#include <gtest/gtest.h>

#include <random>

#include "machine/armv7/encoding.h"
#include "machine/armv7/registers.h"

namespace bulkhead::machine::armv7::decode_test {
namespace {

constexpr features a_profile{.m_profile = false, .divide_thumb = true, .divide_arm = true};
constexpr features m_profile{.m_profile = true, .divide_thumb = true};

operation t16(std::uint32_t word, std::uint8_t it = 0, const features &has = a_profile)
{
    return decode(word, 2, {0x1000, it, true}, has);
}
operation t32(std::uint32_t word, std::uint8_t it = 0, const features &has = a_profile)
{
    return decode(word, 4, {0x1000, it, true}, has);
}

class tables : public testing::TestWithParam<bool> {};

TEST_P(tables, every_row_is_reached)
{
    const bool thumb = GetParam();
    std::mt19937 random(5);
    std::vector<std::span<const row>> all{a32_rows()};
    if (thumb) {
        all = {t16_rows(), t32_rows()};
    }
    for (const std::span<const row> rows : all) {
        for (const row &each : rows) {
            const encoding layout(each);
            const auto bytes = static_cast<std::uint8_t>(layout.bits() / 8);
            const features has = each.where == only::m_profile ? m_profile : a_profile;
            bool reached = false;
            for (std::uint32_t i = 0; i < 4000 && !reached; ++i) {
                std::uint32_t word = static_cast<std::uint32_t>(random()) & (bytes == 2 ? 0xFFFFU : ~0U);
                if (!thumb && each.pattern[0] == 'c') {
                    word = (word & 0x0FFFFFFFU) | 0xE0000000U;
                }
                word = (word & ~layout.mask()) | layout.value();
                const operation what = decode(word, bytes, {0x1000, 0, thumb}, has);
                reached = (what.execute == each.execute || what.execute == each.setting_flags) &&
                          (what.name == std::string_view(each.name) || is_undefined(what));
            }
            EXPECT_TRUE(reached) << each.name << " " << each.pattern;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(sets, tables, testing::Bool(),
                         [](const auto &which) { return which.param ? "t32" : "a32"; });

TEST(decoding, in_an_it_block_an_instruction_has_its_condition_and_leaves_the_flags)
{
    const operation outside = t16(0x1C40); // adds r0, r0, #1
    EXPECT_TRUE(outside.sets_flags);
    EXPECT_EQ(outside.condition, always);
    const operation inside = t16(0x1C40, 0x18); // NE
    EXPECT_FALSE(inside.sets_flags);
    EXPECT_EQ(inside.condition, 1);
    EXPECT_EQ(inside.next_it, 0);
    EXPECT_EQ(t16(0xBF0A).next_it, 0x0A) << "itet eq";
    EXPECT_EQ(t16(0x1C40, 0x0A).next_it, 0x14) << "NE follows EQ";
}

TEST(decoding, what_an_it_block_must_not_have_is_undefined)
{
    constexpr std::uint8_t first_of_two = 0x04;
    constexpr std::uint8_t last = 0x08;
    for (const std::uint32_t branch : {0xE7FEU, 0x4770U, 0x4687U}) { // b, bx lr, mov pc, r0
        EXPECT_TRUE(is_undefined(t16(branch, first_of_two))) << std::hex << branch;
        EXPECT_FALSE(is_undefined(t16(branch, last))) << std::hex << branch;
    }
    for (const std::uint32_t never : {0xD0FEU, 0xB100U, 0xBF08U}) { // beq, cbz, it
        EXPECT_TRUE(is_undefined(t16(never, last))) << std::hex << never;
        EXPECT_FALSE(is_undefined(t16(never))) << std::hex << never;
    }
    EXPECT_TRUE(is_undefined(t32(0xE8BD8001, first_of_two))) << "pop {r0, pc}";
    EXPECT_FALSE(is_undefined(t32(0xE8BD8001, last)));
    EXPECT_EQ(t16(0xBE00, last).condition, always) << "bkpt";
}

TEST(decoding, what_the_core_lacks_is_undefined)
{
    const features cortex_a9{.m_profile = false};
    EXPECT_TRUE(is_undefined(t32(0xFB90F0F1, 0, cortex_a9))) << "sdiv";
    EXPECT_FALSE(is_undefined(t32(0xFB90F0F1, 0, m_profile)));
    EXPECT_TRUE(is_undefined(decode(0xE710F110, 4, {0x1000, 0, false}, cortex_a9))) << "sdiv in A32";
    EXPECT_TRUE(is_undefined(t32(0xE8D0017F, 0, m_profile))) << "ldrexd";
    EXPECT_FALSE(is_undefined(t32(0xE8D0017F)));
    EXPECT_EQ(t32(0xF3EF8005, 0, m_profile).imm, 5U) << "mrs r0, IPSR";
    EXPECT_TRUE(is_undefined(t32(0xF3EF8005))) << "a bit of A's that must be zero";
}

} // namespace
} // namespace bulkhead::machine::armv7::decode_test
