// SPDX-License-Identifier: Apache-2.0
// What the DRAM tests share: a shape, data sheet values, and a way to run requests and collect commands.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "machine/dram/scheduler.h"

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

// A scheduler with its command log, driven by hand.
class channel {
public:
    channel(const organization &shape, const timing &timing, const policy &policy = {})
        : scheduler_(shape, timing, policy, &log)
    {
    }

    void read(std::uint64_t id, place at, clocks when) { request(id, at, false, when); }
    void write(std::uint64_t id, place at, clocks when) { request(id, at, true, when); }
    void request(std::uint64_t id, place at, bool write, clocks when)
    {
        scheduler_.advance(when);
        scheduler_.request(id, at, write, when);
        collect();
    }
    // Until nothing is pending, or `limit`.
    void run(clocks limit = clocks{1} << 40U)
    {
        for (auto next = scheduler_.next(); next && *next < limit; next = scheduler_.next()) {
            scheduler_.advance(*next + 1);
            collect();
        }
    }
    void run_until(clocks when)
    {
        scheduler_.advance(when);
        collect();
    }
    // In order of time: the scheduler plans ahead.
    [[nodiscard]] std::vector<issued> in_order() const
    {
        std::vector<issued> sorted = log;
        std::sort(sorted.begin(), sorted.end(),
                  [](const issued &a, const issued &b) { return a.when < b.when; });
        return sorted;
    }
    [[nodiscard]] std::string commands() const
    {
        std::string text;
        for (const issued &one : in_order()) {
            text +=
                (text.empty() ? "" : " ") + std::string(name_of(one.what)) + "@" + std::to_string(one.when);
        }
        return text;
    }
    [[nodiscard]] const scheduler &get() const { return scheduler_; }

    std::vector<issued> log;
    std::map<std::uint64_t, std::vector<clocks>> completed; // by request: when

private:
    void collect()
    {
        for (const scheduler::completion &one : scheduler_.completions()) {
            completed[one.id].push_back(one.when);
        }
        scheduler_.forget_completions();
    }
    scheduler scheduler_;
};

} // namespace bulkhead::machine::dram::test
