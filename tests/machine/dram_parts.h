// SPDX-License-Identifier: Apache-2.0
// Parts as in their data sheets: shapes and timing values, for tests and speed measurements.
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

inline organization sdr_shape()
{
    return shape_of({.groups = 1, .banks = 4, .rows = 4096, .columns = 64, .burst = byte_count{32}});
}

// SDR SDRAM at 108 MHz, 64 Mb x16 x2: JESD21-C 3.11.5; a burst of 8 occupies 8 clocks, writes begin at once.
inline timing sdr_108()
{
    return {.period_fs = 9'259'259,
            .burst = 8,
            .cl = 3,
            .cwl = 0,
            .rcd = 2,
            .rp = 2,
            .ras = 5,
            .ccd_s = 8,
            .ccd_l = 8,
            .rrd_s = 2,
            .rrd_l = 2,
            .faw = 0,
            .wr = 2,
            .wtr_s = 1,
            .wtr_l = 1,
            .rtp = 1,
            .refi = 843,
            .rfc = 7,
            .turnaround = 1,
            .rank_switch = 1};
}

// One rank of 32 bits, bursts of 8: rows of 4 KiB.
inline organization lpddr2_shape()
{
    return shape_of({.groups = 1, .banks = 8, .rows = 16384, .columns = 128, .burst = byte_count{32}});
}

// LPDDR2-800, 8 Gb: JESD209-2F, AC timing and refresh requirements. tRTP is 7.5 ns, tWTR 7.5 ns, tFAW 50 ns.
inline timing lpddr2_800()
{
    return {.period_fs = 2'500'000,
            .burst = 4,
            .cl = 6,
            .cwl = 3,
            .rcd = 8,
            .rp = 8,
            .ras = 17,
            .ccd_s = 4,
            .ccd_l = 4,
            .rrd_s = 4,
            .rrd_l = 4,
            .faw = 20,
            .wr = 6,
            .wtr_s = 3,
            .wtr_l = 3,
            .rtp = 3,
            .refi = 1560,
            .rfc = 84,
            .turnaround = 2,
            .rank_switch = 2};
}

// One rank of 32 bits, bursts of 8: rows of 8 KiB.
inline organization lpddr3_shape()
{
    return shape_of({.groups = 1, .banks = 8, .rows = 32768, .columns = 256, .burst = byte_count{32}});
}

// LPDDR3-1572, 16 Gb: as platforms/rock64.yaml, which has them from the board's boot loader.
inline timing lpddr3_1572()
{
    return {.period_fs = 1'272'265,
            .burst = 4,
            .cl = 12,
            .cwl = 6,
            .rcd = 16,
            .rp = 18,
            .ras = 34,
            .ccd_s = 4,
            .ccd_l = 4,
            .rrd_s = 8,
            .rrd_l = 8,
            .faw = 40,
            .wr = 12,
            .wtr_s = 8,
            .wtr_l = 8,
            .rtp = 6,
            .refi = 3072,
            .rfc = 168,
            .turnaround = 6,
            .rank_switch = 2};
}

// One rank of 32 bits, both channels of which take the same commands; bursts of 16: rows of 4 KiB.
inline organization lpddr4_shape()
{
    return shape_of({.groups = 1, .banks = 8, .rows = 65536, .columns = 64, .burst = byte_count{64}});
}

// LPDDR4-3200, 8 Gb a channel: as platforms/imx8mq.yaml, which has them from the chip vendor's
// initialization.
inline timing lpddr4_3200()
{
    return {.period_fs = 625'000,
            .burst = 8,
            .cl = 28,
            .cwl = 14,
            .rcd = 30,
            .rp = 30,
            .ras = 68,
            .ccd_s = 8,
            .ccd_l = 8,
            .rrd_s = 16,
            .rrd_l = 16,
            .faw = 64,
            .wr = 30,
            .wtr_s = 30,
            .wtr_l = 30,
            .rtp = 12,
            .refi = 6208,
            .rfc = 448,
            .turnaround = 24,
            .rank_switch = 2};
}

inline timing without_refresh(timing values)
{
    values.refi = 0;
    return values;
}

} // namespace bulkhead::machine::dram::test
