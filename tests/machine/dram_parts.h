// SPDX-License-Identifier: Apache-2.0
// Parts as their data sheets have them: shapes and timing values, for tests and speed measurements.
#pragma once

#include "machine/dram/organization.h"
#include "machine/dram/timing.h"

namespace bulkhead::machine::dram::test {

inline organization shape_of(const organization::counts &counts)
{
    return std::get<organization>(organization::make(counts));
}

// One rank of DDR4 x8 parts, 64 bits wide: 4 groups of 4 banks, rows of 8 KiB.
inline organization ddr4_shape(std::uint32_t ranks = 1)
{
    return shape_of({.channels = 1, .ranks = ranks, .groups = 4, .banks = 4, .rows = 32768, .columns = 128});
}

inline organization ddr3_shape()
{
    return shape_of({.channels = 1, .ranks = 1, .groups = 1, .banks = 8, .rows = 32768, .columns = 128});
}

// DDR4-2133P, 8 Gb x8: JESD79-4B, tables 99 and 106 (speed bins), 116 (refresh).
inline timing ddr4_2133()
{
    return {.period_fs = 937500,
            .burst = 4,
            .cl = 15,
            .cwl = 11,
            .rcd = 15,
            .rp = 15,
            .ras = 36,
            .ccd_s = 4,
            .ccd_l = 6,
            .rrd_s = 4,
            .rrd_l = 6,
            .faw = 23,
            .wr = 16,
            .wtr_s = 3,
            .wtr_l = 8,
            .rtp = 8,
            .refi = 8320,
            .rfc = 374,
            .turnaround = 2,
            .rank_switch = 2};
}

// DDR3-1066F, 2 Gb x8: JESD79-3F, tables 65 (speed bin) and 68.
inline timing ddr3_1066()
{
    return {.period_fs = 1875000,
            .burst = 4,
            .cl = 7,
            .cwl = 6,
            .rcd = 7,
            .rp = 7,
            .ras = 20,
            .ccd_s = 4,
            .ccd_l = 4,
            .rrd_s = 4,
            .rrd_l = 4,
            .faw = 20,
            .wr = 8,
            .wtr_s = 4,
            .wtr_l = 4,
            .rtp = 4,
            .refi = 4160,
            .rfc = 86,
            .turnaround = 2,
            .rank_switch = 2};
}

inline timing without_refresh(timing values)
{
    values.refi = 0;
    return values;
}

} // namespace bulkhead::machine::dram::test
