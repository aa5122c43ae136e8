// SPDX-License-Identifier: Apache-2.0
// Regions of an MPU by their registers, compared with a literal implementation of DDI 0403E.e B3.5.3.
#include "machine/armv7/m_profile/mpu.h"

#include <gtest/gtest.h>
#include <random>

namespace bulkhead::machine::armv7::m_profile::mpu_test {
namespace {

enum offset : std::uint32_t {
    type = 0,
    ctrl = 4,
    rnr = 8,
    rbar = 0xC,
    rasr = 0x10,
    rbar_a3 = 0x24,
    rasr_a3 = 0x28
};

constexpr std::uint32_t valid = 1U << 4U;

void set_region(mpu &one, std::uint32_t number, std::uint32_t base, std::uint32_t attributes)
{
    one.write(rbar, base | valid | number);
    one.write(rasr, attributes);
}

// AP 3 or as given, Normal memory, 2^bits bytes, mask of disabled sub-regions.
constexpr std::uint32_t attributes(std::uint32_t bits, std::uint32_t ap = 3, std::uint32_t disabled = 0,
                                   bool xn = false)
{
    return (xn ? 1U << 28U : 0) | ap << 24U | 3U << 16U | disabled << 8U | (bits - 1) << 1U | 1U;
}

TEST(mpu, says_how_many_regions_it_has_and_shows_them_by_number)
{
    mpu one(8);
    EXPECT_EQ(one.read(type), 8U << 8U);
    one.write(rnr, 5);
    one.write(rbar, 0x20000020);
    one.write(rasr, attributes(5));
    EXPECT_EQ(one.read(rbar), 0x20000025U) << "address and number, VALID reads as zero";
    EXPECT_EQ(one.read(rasr), attributes(5));
    EXPECT_EQ(one.read(rbar_a3), 0x20000025U) << "an alias is the same register";
    one.write(rbar_a3, 0x20000040 | valid | 2);
    one.write(rasr_a3, attributes(6));
    EXPECT_EQ(one.read(rnr), 2U) << "VALID takes the region's number over";
    EXPECT_EQ(one.read(rasr), attributes(6));
    EXPECT_EQ(mpu(0).read(type), 0U);
}

TEST(mpu, regions_are_loaded_by_four_pairs_in_one_go)
{
    mpu one(8);
    for (std::uint32_t i = 0; i < 4; ++i) {
        one.write(rbar + 8 * i, (0x20000000 + i * 0x100) | valid | i);
        one.write(rasr + 8 * i, attributes(8));
    }
    one.write(ctrl, 1);
    for (std::uint32_t i = 0; i < 4; ++i) {
        EXPECT_TRUE(one.answer(0x20000000 + i * 0x100, false).mapped);
    }
    EXPECT_FALSE(one.answer(0x20000400, false).mapped);
}

TEST(mpu, the_region_of_the_highest_number_decides)
{
    mpu one(8);
    set_region(one, 1, 0x20000000, attributes(12, 3));
    set_region(one, 6, 0x20000100, attributes(8, 6));
    one.write(ctrl, 1);
    EXPECT_TRUE(one.answer(0x200000FC, false).rights.unprivileged_write);
    const answered_span above = one.answer(0x20000180, false);
    EXPECT_FALSE(above.rights.unprivileged_write);
    EXPECT_EQ(above.first, 0x20000100U);
    EXPECT_EQ(above.last, 0x200001FFU);
}

TEST(mpu, a_disabled_sub_region_is_not_of_its_region)
{
    mpu one(8);
    set_region(one, 0, 0x20000000, attributes(8, 3, 0b0000'0010)); // eighths of 32 bytes
    set_region(one, 1, 0x20001000, attributes(7, 3, 0xFF));        // too small to have any
    one.write(ctrl, 1);
    EXPECT_TRUE(one.answer(0x2000001F, false).mapped);
    EXPECT_FALSE(one.answer(0x20000020, false).mapped);
    EXPECT_FALSE(one.answer(0x2000003F, false).mapped);
    EXPECT_TRUE(one.answer(0x20000040, false).mapped);
    EXPECT_TRUE(one.answer(0x20001000, false).mapped);
}

TEST(mpu, the_default_map_is_privileged_code_s_background_if_it_is_asked_for)
{
    mpu one(8);
    one.write(ctrl, 1);
    EXPECT_FALSE(one.answer(0x20000000, true).mapped);
    one.write(ctrl, 5);
    EXPECT_TRUE(one.answer(0x20000000, true).mapped);
    EXPECT_FALSE(one.answer(0x20000000, false).mapped);
    EXPECT_FALSE(one.answer(0x40000000, true).rights.execute) << "devices are never executed";
}

TEST(mpu, system_space_is_never_executed)
{
    mpu one(8);
    set_region(one, 0, 0, attributes(32));
    one.write(ctrl, 1);
    EXPECT_TRUE(one.answer(0xDFFFFFFF, true).rights.execute);
    EXPECT_FALSE(one.answer(0xE0100000, true).rights.execute);
    EXPECT_TRUE(one.answer(0xE0100000, true).rights.privileged_read);
}

TEST(mpu, access_permissions_are_the_manual_s)
{
    struct row {
        std::uint32_t ap;
        bool privileged_read, privileged_write, read, write;
    };
    for (const row &each :
         {row{0, false, false, false, false}, row{1, true, true, false, false},
          row{2, true, true, true, false}, row{3, true, true, true, true}, row{5, true, false, false, false},
          row{6, true, false, true, false}, row{7, true, false, true, false}}) {
        const permissions found = permissions_of(each.ap, false);
        EXPECT_EQ(found.allow(true, false), each.privileged_read) << each.ap;
        EXPECT_EQ(found.allow(true, true), each.privileged_write) << each.ap;
        EXPECT_EQ(found.allow(false, false), each.read) << each.ap;
        EXPECT_EQ(found.allow(false, true), each.write) << each.ap;
        EXPECT_EQ(found.allow_fetch(false), each.read) << "what is executed is read: " << each.ap;
    }
    EXPECT_FALSE(permissions_of(3, true).allow_fetch(true));
}

TEST(mpu, memory_types_are_the_manual_s)
{
    EXPECT_EQ(attributes_of(0, false, false).type, memory_type::strongly_ordered);
    EXPECT_EQ(attributes_of(0, false, true).type, memory_type::device);
    EXPECT_EQ(attributes_of(2, false, false).type, memory_type::device);
    EXPECT_TRUE(attributes_of(0, true, false).cacheable);
    EXPECT_TRUE(attributes_of(0, true, true).cacheable);
    EXPECT_TRUE(attributes_of(1, true, true).cacheable);
    EXPECT_EQ(attributes_of(1, false, false), (memory_attributes{memory_type::normal, false}));
    EXPECT_FALSE(attributes_of(4, false, false).cacheable);
    EXPECT_TRUE(attributes_of(5, false, true).cacheable);
}

TEST(default_map, has_the_manual_s_parts)
{
    EXPECT_TRUE(default_map(0x1FFFFFFF).rights.execute);
    EXPECT_TRUE(default_map(0x20000000).attributes.cacheable);
    EXPECT_EQ(default_map(0x5FFFFFFF).attributes.type, memory_type::device);
    EXPECT_TRUE(default_map(0x60000000).rights.execute) << "where SDRAM is swapped to on an STM32F7";
    EXPECT_FALSE(default_map(0xC0000000).rights.execute) << "and where it is otherwise";
    EXPECT_EQ(default_map(0xE0000000).attributes.type, memory_type::strongly_ordered);
    EXPECT_EQ(default_map(0xFFFFFFFF).last, 0xFFFFFFFFU);
}

// One region, as B3.5.3 defines it.
bool has(std::uint32_t base, std::uint32_t attributes, std::uint32_t address)
{
    const std::uint32_t bits = (attributes >> 1U & 0x1FU) + 1;
    if ((attributes & 1U) == 0 || bits < 5 || (bits < 32 && address >> bits != base >> bits)) {
        return false;
    }
    return bits < 8 || (attributes >> (8 + (address >> (bits - 3) & 7U)) & 1U) == 0;
}

TEST(mpu, each_span_is_answered_as_its_addresses_and_is_as_large_as_it_can_be)
{
    std::mt19937 twister(7);
    const auto random = [&] { return static_cast<std::uint32_t>(twister()); };
    for (int round = 0; round < 300; ++round) {
        mpu one(8);
        std::array<std::pair<std::uint32_t, std::uint32_t>, 8> regions;
        for (std::uint32_t number = 0; number < 8; ++number) {
            const std::uint32_t bits = 4 + random() % 10;
            regions[number] = {0x20000000 + (random() % 0x4000 & ~31U),
                               attributes(bits, 3 + random() % 2 * 3, random() & 0xFFU, random() % 2 == 0) &
                                   ~(random() % 8 == 0 ? 1U : 0U)};
            set_region(one, number, regions[number].first, regions[number].second);
        }
        one.write(ctrl, 5);
        const auto deciding = [&](std::uint32_t address) {
            for (int number = 7; number >= 0; --number) {
                if (has(regions[static_cast<std::size_t>(number)].first,
                        regions[static_cast<std::size_t>(number)].second, address)) {
                    return number;
                }
            }
            return -1;
        };
        for (int at = 0; at < 20; ++at) {
            const std::uint32_t address = 0x20000000 + random() % 0x6000;
            const answered_span span = one.answer(address, false);
            const int by = deciding(address);
            ASSERT_EQ(span.mapped, by >= 0) << std::hex << address;
            ASSERT_LE(span.first, address);
            ASSERT_GE(span.last, address);
            if (by >= 0) {
                const std::uint32_t rasr_bits = regions[static_cast<std::size_t>(by)].second;
                ASSERT_EQ(span.rights, permissions_of(rasr_bits >> 24U & 7U, (rasr_bits >> 28U & 1U) != 0));
            }
            for (std::uint32_t each = std::max(span.first, 0x20000000U);
                 each <= std::min(span.last, 0x20006000U); each += 32) {
                ASSERT_EQ(deciding(each), by) << std::hex << address << " and " << each;
            }
        }
    }
}

} // namespace
} // namespace bulkhead::machine::armv7::m_profile::mpu_test
