// SPDX-License-Identifier: Apache-2.0
// Machine S2: addresses and DRAM places correspond one to one; impossible mappings are refused with the
// reason.
#include <set>

#include "dram_make.h"
#include "machine/dram/mapping.h"
#include "make.h"

namespace bulkhead::machine::dram::test::dram_mapping_test {

namespace {

using machine::test::expect_made;
using machine::test::reason_of;

organization small()
{
    return shape_of({.channels = 2, .ranks = 2, .groups = 2, .banks = 2, .rows = 8, .columns = 4});
}

// Every line of the memory.
std::set<place> places(const mapping &map, const organization &shape, phys_addr base)
{
    std::set<place> found;
    for (std::uint64_t at = 0; at < shape.size().value; at += shape.of().burst.value) {
        found.insert(map.of(phys_addr{base.value + at}));
    }
    return found;
}

TEST(S2DramMapping, EveryLineHasItsOwnPlaceWithinTheShape)
{
    const organization shape = small();
    const phys_addr base{0x8000'0000};
    mapping_bits hashed = mapping::row_bank_column(shape);
    hashed.bank[0] |= hashed.row[0];
    hashed.channel[0] |= hashed.row[1] | hashed.row[2];
    std::swap(hashed.row[0], hashed.column[1]);
    for (const mapping_bits &bits : {mapping::row_bank_column(shape), hashed}) {
        const mapping map = expect_made(mapping::make(shape, bits, base));
        const std::set<place> found = places(map, shape, base);
        EXPECT_EQ(found.size(), shape.size().value / shape.of().burst.value);
        for (const place &one : found) {
            EXPECT_LT(one.channel, 2U);
            EXPECT_LT(one.bank, 8U);
            EXPECT_LT(one.row, 8U);
            EXPECT_LT(one.column, 4U);
        }
    }
}

TEST(S2DramMapping, BytesOfOneBurstAreAtOnePlace)
{
    const mapping map = expect_made(mapping::make(small(), mapping::row_bank_column(small()), phys_addr{0}));
    EXPECT_EQ(map.of(phys_addr{64}), map.of(phys_addr{127}));
    EXPECT_NE(map.of(phys_addr{64}), map.of(phys_addr{128}));
}

TEST(S2DramMapping, WhatCannotBeIsRefusedWithTheReason)
{
    const organization shape = small();
    const auto refused = [&shape](auto change) {
        mapping_bits bits = mapping::row_bank_column(shape);
        change(bits);
        return reason_of(mapping::make(shape, bits, phys_addr{0}));
    };
    EXPECT_THAT(refused([](mapping_bits &bits) { bits.row[0] = bits.column[0]; }),
                testing::HasSubstr("used twice"));
    EXPECT_THAT(refused([](mapping_bits &bits) { bits.bank[0] = bits.row[0] | bits.row[1]; }),
                testing::HasSubstr("used twice"));
    EXPECT_THAT(refused([](mapping_bits &bits) { bits.row.pop_back(); }),
                testing::HasSubstr("row: 2 address bits given, 3 needed for 8"));
    EXPECT_THAT(refused([](mapping_bits &bits) { bits.column[0] = 32; }),
                testing::HasSubstr("column: address bit 5 is inside of a burst"));
    EXPECT_THAT(refused([](mapping_bits &bits) { bits.row[0] = 0; }), testing::HasSubstr("used twice"));
    EXPECT_THAT(refused([](mapping_bits &bits) { bits.channel.push_back(1U << 12U); }),
                testing::HasSubstr("channel: 2 address bits given, 1 needed"));
    EXPECT_THAT(refused([](mapping_bits &bits) { bits.row[2] = std::uint64_t{1} << 40U; }),
                testing::HasSubstr("address bit 40"));
}

TEST(S2DramShape, WhatCannotBeIsRefusedWithTheReason)
{
    const organization::counts good{.rows = 16, .columns = 16};
    const auto refused = [&good](auto change) {
        organization::counts counts = good;
        change(counts);
        return reason_of(organization::make(counts));
    };
    EXPECT_EQ(refused([](auto &) {}), "");
    EXPECT_THAT(refused([](auto &counts) { counts.banks = 6; }), testing::HasSubstr("6 banks"));
    EXPECT_THAT(refused([](auto &counts) { counts.rows = 0; }), testing::HasSubstr("0 rows"));
    EXPECT_THAT(refused([](auto &counts) { counts.burst = byte_count{4}; }), testing::HasSubstr("4 B"));
    EXPECT_THAT(refused([](auto &counts) { counts.burst = byte_count{512}; }),
                testing::HasSubstr("512 bytes"));
    EXPECT_THAT(refused([](auto &counts) { counts.channels = 32; }), testing::HasSubstr("32 channels"));
    EXPECT_THAT(refused([](auto &counts) { counts.ranks = 3; }), testing::HasSubstr("3 ranks"));
    EXPECT_THAT(refused([](auto &counts) { counts.groups = 0; }), testing::HasSubstr("0 bank groups"));
    EXPECT_THAT(refused([](auto &counts) { counts.columns = 100; }),
                testing::HasSubstr("100 bursts in a row"));
    EXPECT_THAT(refused([](auto &counts) {
                    counts.ranks = 16;
                    counts.groups = 4;
                }),
                testing::HasSubstr("512 banks in a channel"));
}

TEST(S2DramTiming, ContradictionsAreNamed)
{
    const auto said = [](auto change) {
        timing values = ddr4_2133();
        change(values);
        return values.contradiction();
    };
    EXPECT_EQ(said([](timing &) {}), "");
    EXPECT_THAT(said([](timing &t) { t.ras = t.rcd - 1; }), testing::HasSubstr("tRAS 14 < tRCD 15"));
    EXPECT_THAT(said([](timing &t) { t.ccd_s = 3; }), testing::HasSubstr("tCCD_S 3 < burst 4"));
    EXPECT_THAT(said([](timing &t) { t.wtr_l = 2; }), testing::HasSubstr("tWTR_L"));
    EXPECT_THAT(said([](timing &t) { t.refi = 400; }), testing::HasSubstr("no time"));
    EXPECT_THAT(said([](timing &t) { t.period_fs = 0; }), testing::HasSubstr("clock period"));
    EXPECT_THAT(said([](timing &t) { t.period_fs = 2'000'000'000; }), testing::HasSubstr("clock period"));
    EXPECT_THAT(said([](timing &t) { t.ccd_l = 3; }), testing::HasSubstr("tCCD_L"));
    EXPECT_THAT(said([](timing &t) { t.rrd_l = 3; }), testing::HasSubstr("tRRD_L"));
    EXPECT_THAT(said([](timing &t) { t.faw = 3; }), testing::HasSubstr("tFAW 3 < tRRD_S 4"));
    EXPECT_THAT(said([](timing &t) { t.refi = t.rfc + t.rc(); }), testing::HasSubstr("no time"));
    for (std::uint32_t timing::*const value :
         {&timing::burst, &timing::cl, &timing::rcd, &timing::rp, &timing::ras}) {
        EXPECT_THAT(said([value](timing &t) { t.*value = 0; }), testing::HasSubstr("at least one clock"));
    }
    for (std::uint32_t timing::*const value :
         {&timing::burst, &timing::cl, &timing::cwl, &timing::rcd, &timing::rp, &timing::ras, &timing::ccd_l,
          &timing::rrd_l, &timing::faw, &timing::wr, &timing::wtr_l, &timing::rtp, &timing::rfc,
          &timing::turnaround, &timing::rank_switch}) {
        EXPECT_THAT(said([value](timing &t) { t.*value = 8193; }), testing::HasSubstr("at most 8192"));
    }
}

} // namespace

} // namespace bulkhead::machine::dram::test::dram_mapping_test
