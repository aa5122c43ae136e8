// SPDX-License-Identifier: Apache-2.0
// Four Cortex-A53 with a shared second level and one channel of DDR4-2133; see the header.
#include "machine/bench/board.h"

#include "machine/dram/mapping.h"

namespace bulkhead::machine::bench {

namespace {

core_settings cortex_a53()
{
    core_settings core;
    core.frequency_hz = 1'200'000'000;
    core.width = 2;
    core.load_use_cycles = 2;
    core.loads = 3;
    core.stores = 4;
    core.reads = 8;
    core.transfer_ps = 3'333;
    core.l1d = {.size_bytes = 32 * 1024, .ways = 4, .line_bytes = 64, .policy = replacement::random};
    core.prefetcher = {.streams = 2,
                       .depth_lines = 5,
                       .outstanding = 5,
                       .confirmations = 0,
                       .max_stride_lines = 4,
                       .page_bytes = 4096};
    const std::vector<std::uint32_t> pages{12, 16, 21, 29};
    core.mmu.l1 = {.entries = 10};
    core.mmu.l2 = {.entries = 512, .ways = 4, .hit_cycles = 2, .page_shifts = pages};
    core.mmu.intermediate = {.entries = 64, .ways = 4, .page_shifts = pages};
    core.mmu.walk_cache = {.entries = 64, .ways = 4};
    core.mmu.walk_cycles = 10;
    core.mmu.walks = walk_path::l1;
    core.path = {"l2"};
    core.master = "cores";
    return core;
}

dram_settings ddr4_2133()
{
    dram_settings dram;
    dram.shape = {.channels = 1, .ranks = 1, .groups = 4, .banks = 4, .rows = 32768, .columns = 128};
    dram.map =
        dram::mapping::row_bank_column(std::get<dram::organization>(dram::organization::make(dram.shape)));
    dram.timings = {.period_fs = 937'500,
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
                    .rfc = 278,
                    .turnaround = 2,
                    .rank_switch = 2};
    dram.request_latency_ps = 10'000;
    dram.answer_latency_ps = 10'000;
    return dram;
}

} // namespace

settings board()
{
    settings all;
    all.signals = {.interrupt_ps = 200'000, .event_ps = 200'000, .maintenance_ps = 200'000};
    all.device_ps = 150'000;
    all.owners = 6;
    all.cores.assign(4, cortex_a53());
    all.levels.push_back({.name = "l2",
                          .cache = {.size_bytes = 1024 * 1024,
                                    .ways = 16,
                                    .line_bytes = 64,
                                    .policy = replacement::random,
                                    .on_eviction = true},
                          .latency_ps = 12'500,
                          .occupancy_ps = 1'667,
                          .snoop_ps = 16'667,
                          .misses = 36});
    all.masters.push_back({.name = "cores", .request_ps = 40'000, .answer_ps = 40'000});
    all.dram = ddr4_2133();
    return all;
}

} // namespace bulkhead::machine::bench
