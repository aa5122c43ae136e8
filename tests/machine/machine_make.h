// SPDX-License-Identifier: Apache-2.0
// A small machine for tests: cores like a Cortex-A53's, one shared level, one DDR4 channel. Tests change the
// parts that they test.
#pragma once

#include "machine/machine.h"
#include "tests/machine/dram_make.h"
#include "tests/machine/make.h"

namespace bulkhead::machine::test {

// All signals between cores take the same time, and cores run ahead by that time.
inline signal_settings signals_after(std::uint64_t ps)
{
    return {.interrupt_ps = ps, .event_ps = ps, .maintenance_ps = ps};
}

inline settings small_machine(std::size_t cores = 4)
{
    settings all;
    all.signals = signals_after(200'000);
    all.device_ps = 100'000;
    all.owners = 8;
    core_settings one;
    one.frequency_hz = 1'200'000'000;
    one.width = 2;
    one.instruction_millicycles = 1000;
    one.load_use_cycles = 2;
    one.l1d = {.size_bytes = 32 * 1024, .ways = 4, .line_bytes = 64, .policy = replacement::lru};
    one.path = {"l2"};
    one.master = "cores";
    all.cores.assign(cores, one);
    all.levels.push_back(
        {.name = "l2",
         .cache = {.size_bytes = 1024 * 1024, .ways = 16, .line_bytes = 64, .policy = replacement::lru},
         .latency_ps = 12'000,
         .occupancy_ps = 1'666,
         .snoop_ps = 10'000});
    all.masters.push_back({.name = "cores", .request_ps = 10'000, .answer_ps = 10'000});
    all.dram.shape = {.channels = 1, .ranks = 1, .groups = 4, .banks = 4, .rows = 32768, .columns = 128};
    all.dram.map = dram::mapping::row_bank_column(
        std::get<dram::organization>(dram::organization::make(all.dram.shape)));
    all.dram.timings = {.period_fs = 937'500,
                        .burst = 4,
                        .cl = 15,
                        .cwl = 14,
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
    all.dram.request_latency_ps = 10'000;
    all.dram.answer_latency_ps = 10'000;
    return all;
}

inline std::unique_ptr<simulated_machine> make_machine(const settings &wanted)
{
    return expect_made(simulated_machine::make(wanted));
}

// A master that only makes requests.
class asker final : public memory_client {
public:
    void arrived(ticket, picoseconds when) override { came = when; }
    void room(picoseconds) override { ++told; }
    std::optional<written_back> drop(phys_addr) override { return std::nullopt; }
    [[nodiscard]] bool holds(phys_addr) const override { return false; }
    std::optional<picoseconds> came;
    int told = 0; // times of room()
};

inline constexpr picoseconds for_ever = engine::never;

} // namespace bulkhead::machine::test
