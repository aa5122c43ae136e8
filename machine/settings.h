// SPDX-License-Identifier: Apache-2.0
// Everything that a simulated machine is made from, as plain values with units in their names;
// docs/design/machine.md explains each. machine/settings_json.h reads them from text; machine/machine.h
// checks them and builds the machine. There is no behaviour here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "machine/dram/memory.h"
#include "machine/mpam/settings.h"
#include "machine/replacement.h"

namespace bulkhead::machine {

struct cache_settings {
    std::uint64_t size_bytes = 0;
    std::uint32_t ways = 0;
    std::uint32_t line_bytes = 64;
    replacement policy = replacement::lru;
    std::uint64_t locked_ways = 0; // bit w: way w takes no new lines
    bool on_eviction = false;      // lines are allocated when the level above evicts them, not when they are
                                   // fetched
};

// Prefetching for accesses that follow each other at a fixed distance. depth_lines 0: no prefetcher.
struct prefetcher_settings {
    std::uint32_t streams = 4;          // streams that are followed at once
    std::uint32_t depth_lines = 0;      // how many strides ahead it fetches
    std::uint32_t outstanding = 0;      // prefetches in flight, of all streams together; 0: no limit
    std::uint32_t confirmations = 1;    // further misses at the same distance before the first prefetch
    std::uint32_t max_stride_lines = 1; // 1: next line only
    std::uint32_t page_bytes = 4096;    // size of the pages that it never leaves
};

// Write streaming: after a run of lines that are written whole before their fills arrive, further lines are
// no longer fetched. 0: never.
struct write_streaming_settings {
    std::uint32_t lines = 0;        // after so many lines in a row, they bypass the private caches
    std::uint32_t shared_lines = 0; // after so many lines, they bypass the shared levels too
};

enum class tlb_policy : std::uint8_t { lru, fifo };

// Settings of any cache of translations.
struct tlb_settings {
    std::uint32_t entries = 0; // 0: there is no such cache
    std::uint32_t ways = 0;    // = entries: fully associative
    std::uint32_t lockable_entries = 0;
    std::uint32_t hit_cycles = 0;             // cycles of a hit in addition to the access
    std::vector<std::uint32_t> page_shifts{}; // log2 of the sizes that an entry can have; empty: any size
    tlb_policy policy = tlb_policy::lru;
};

// The first cache that a walk's reads of cacheable tables look up.
enum class walk_path : std::uint8_t { l1, l2, memory };

struct mmu_settings {
    tlb_settings l1; // one for data and an equal one for instructions; replaced in order of insertion
    tlb_settings l2;
    tlb_settings intermediate;     // caches results of stage 2
    tlb_settings walk_cache;       // caches addresses of stage 1's last-level tables
    std::uint32_t walk_cycles = 0; // cycles of a walk in addition to its accesses
    walk_path walks = walk_path::l2;
};

struct core_settings {
    std::uint64_t frequency_hz = 0;
    std::uint32_t width = 1;                      // maximum of instructions in a cycle
    std::uint32_t instruction_millicycles = 1000; // of an average instruction, including loads and stores
                                                  // that hit in L1
    std::uint32_t load_use_cycles = 0;            // of a hit in L1, for a load that gives the address of the
                                                  // next access
    std::uint32_t loads = 1;               // load misses in flight at which the core waits for the oldest; 1:
                                           // blocking
    std::uint32_t window_instructions = 0; // instructions that may execute after a missed load; 0: no limit
    std::uint32_t stores = 4;              // lines with a store miss in the store buffer
    std::uint32_t reads = 0;       // lines in flight for loads, stores and prefetches together; 0: no limit
    std::uint64_t transfer_ps = 0; // transfer of a line from the first shared level to the core
    cache_settings l1d;
    std::optional<cache_settings> l1i; // nothing: instruction fetches cost no time
    std::optional<cache_settings> l2;  // private
    std::uint64_t l2_latency_ps = 0;
    prefetcher_settings prefetcher;
    write_streaming_settings write_streaming;
    mmu_settings mmu;
    std::vector<std::string> path; // names of the shared levels on the route to memory, nearest first
    std::string master;            // name of its port at the interconnect
};

// A cache that cores share.
struct level_settings {
    std::string name;
    cache_settings cache;
    std::uint64_t latency_ps = 0;   // from a request to the data of a hit, or to the request to the level
                                    // below
    std::uint64_t occupancy_ps = 0; // minimum time between two lookups
    std::uint64_t snoop_ps = 0;     // to get a line from another core's private cache
    // Time until the level answers a snoop of the interconnect for a master that is not above it: the level
    // has the line, a private cache above it has the line, or none has it.
    std::uint64_t snooped_hit_ps = 0;
    std::uint64_t snooped_above_ps = 0;
    std::uint64_t snooped_miss_ps = 0;
    std::uint32_t misses = 0; // lines that it may have in flight; 0: no limit
    bool inclusive = false;   // a line that it evicts also leaves the private caches above
};

// Settings of a QoS-400 regulator; 0 in a field: no such limit.
struct regulator_settings {
    std::uint64_t rate_bytes_per_s = 0;
    std::uint64_t burst_bytes = 0; // bytes that may be sent in excess of the rate
    std::uint64_t peak_bytes_per_s = 0;
};

// Settings of a QoS-400 regulator for both directions, in the units of its registers (machine/qos.h).
struct qos_settings {
    std::uint64_t clock_ps = 0; // of the interconnect; 0: no QoS-400 regulator; `reads` and `writes` of the
                                // master apply
    std::uint32_t transaction_bytes = 0;
    std::uint32_t rate = 0;  // transactions in 4096 clocks, up to 4095; 0: off
    std::uint32_t burst = 1; // transactions that may be sent at once; 1: the rate is strict
    std::uint32_t peak = 0;  // transactions in 256 clocks, up to 255; 0: no peak limit
};

// A port of the interconnect: a cluster of cores, a DMA engine.
struct master_settings {
    std::string name;
    std::uint64_t request_ps = 0; // latency to the memory controller
    std::uint64_t answer_ps = 0;  // latency of the answer
    regulator_settings reads{};
    regulator_settings writes{};
    qos_settings qos{};
};

// How the interconnect snoops clusters for coherent requests.
struct coherence_settings {
    std::uint64_t snoop_ps = 0; // to the clusters and back, without the clusters' own time
    bool speculative = true;    // reads are sent to memory at once, before the clusters have answered
};

// On-chip memory, or any other memory that is not DRAM. Accesses to addresses outside of all regions and DRAM
// take `device_ps`.
struct region_settings {
    std::string name;
    std::uint64_t base = 0;
    std::uint64_t size_bytes = 0;
    std::uint64_t latency_ps = 0; // latency of the memory; `cached`: in addition to the master's route
                                  // through the interconnect
    bool cached = false;          // its lines are cached like those of DRAM; otherwise each access goes to
                                  // the memory
    // For `cached` regions: the region lies beside the shared levels and not behind the interconnect. Only
    // private caches hold its lines, and its latency is the whole latency.
    bool beside_levels = false;
};

// The headers in machine/dram/ explain the parts.
struct dram_settings {
    dram::organization::counts shape;
    dram::mapping_bits map;
    std::uint64_t base = 0;  // address of its first byte
    std::uint64_t bytes = 0; // addressable bytes from `base` on; 0: all
    dram::timing timings;
    dram::policy how;
    std::uint64_t request_latency_ps = 0;
    std::uint64_t answer_latency_ps = 0;
};

// Delay until a core notices a signal of a device, a counter or another core.
struct signal_settings {
    std::uint64_t interrupt_ps = 0;   // from an input of the interrupt controller to the exception vector
    std::uint64_t event_ps = 0;       // from SEV to another core's WFE
    std::uint64_t maintenance_ps = 0; // from a broadcast invalidation until another core stalls for it
};

struct settings {
    std::uint64_t seed = 1;
    signal_settings signals;
    std::uint64_t device_ps = 0; // latency of an access to a device
    std::uint32_t owners = 1;    // number of owners of memory, including "nobody"; owner ids are below it
    std::vector<core_settings> cores;
    std::vector<level_settings> levels;
    std::vector<master_settings> masters;
    coherence_settings coherence;
    std::vector<region_settings> regions;
    std::uint32_t writes_in_flight = 16; // of all masters, until the controller has taken them over
    dram_settings dram;
    std::optional<mpam::system_settings> mpam; // nothing: requests have labels that no component uses
};

} // namespace bulkhead::machine
