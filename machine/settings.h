// SPDX-License-Identifier: Apache-2.0
// Everything that a simulated machine is made from, as plain values with units in their names;
// docs/machine.md explains each. machine/settings_json.h reads it from text, machine/machine.h checks it and
// builds from it. Nothing here has behaviour.
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
    bool on_eviction = false;      // data enter when the level above gives them up, not when they are fetched
};

// Lines fetched ahead of accesses that follow each other at a fixed distance. depth_lines 0: there is none.
struct prefetcher_settings {
    std::uint32_t streams = 4;          // followed at a time
    std::uint32_t depth_lines = 0;      // how far ahead
    std::uint32_t outstanding = 0;      // lines in flight of all streams together; 0: any
    std::uint32_t confirmations = 1;    // further misses at the same distance before anything is fetched
    std::uint32_t max_stride_lines = 1; // 1: next line only
    std::uint32_t page_bytes = 4096;    // it never crosses such a border
};

// Lines that are written whole before their fills arrive stop being fetched. 0: never.
struct write_streaming_settings {
    std::uint32_t lines = 0;        // after so many in a row, they go past the private caches
    std::uint32_t shared_lines = 0; // after so many, past the shared levels too
};

enum class tlb_policy : std::uint8_t { lru, fifo };

// Of any cache of translations.
struct tlb_settings {
    std::uint32_t entries = 0; // 0: there is none
    std::uint32_t ways = 0;    // = entries: fully associative
    std::uint32_t lockable_entries = 0;
    std::uint32_t hit_cycles = 0;             // what a hit costs beside the access
    std::vector<std::uint32_t> page_shifts{}; // log2 of the sizes that an entry can have; none: any
    tlb_policy policy = tlb_policy::lru;
};

// The first cache that a walk's reads of cacheable tables look into.
enum class walk_path : std::uint8_t { l1, l2, memory };

struct mmu_settings {
    tlb_settings l1; // one for data and one like it for instructions; the oldest entry goes first
    tlb_settings l2;
    tlb_settings intermediate;     // what stage 2 makes of an intermediate address
    tlb_settings walk_cache;       // where tables of the last level of stage 1 are
    std::uint32_t walk_cycles = 0; // of a walk, beside its accesses
    walk_path walks = walk_path::l2;
};

struct core_settings {
    std::uint64_t frequency_hz = 0;
    std::uint32_t width = 1;                      // instructions a cycle at most
    std::uint32_t instruction_millicycles = 1000; // an average one, loads and stores that hit L1 included
    std::uint32_t load_use_cycles = 0;            // of a hit in L1, for a load that the next address needs
    std::uint32_t loads = 1;               // misses in flight when it waits for the oldest; 1: blocking
    std::uint32_t window_instructions = 0; // that may execute while a load is missed; 0: any number
    std::uint32_t stores = 4;              // missed lines in the store buffer
    std::uint32_t reads = 0;       // lines in flight for loads, stores and prefetches together; 0: any
    std::uint64_t transfer_ps = 0; // of a line from the first shared level to the core
    cache_settings l1d;
    std::optional<cache_settings> l1i; // nothing: fetching instructions costs nothing
    std::optional<cache_settings> l2;  // private
    std::uint64_t l2_latency_ps = 0;
    prefetcher_settings prefetcher;
    write_streaming_settings write_streaming;
    mmu_settings mmu;
    std::vector<std::string> path; // names of the shared levels on the way to memory, nearest first
    std::string master;            // name of its port at the interconnect
};

// A cache that cores share.
struct level_settings {
    std::string name;
    cache_settings cache;
    std::uint64_t latency_ps = 0;   // from a request to the data of a hit, or to the request below
    std::uint64_t occupancy_ps = 0; // between two lookups
    std::uint64_t snoop_ps = 0;     // to have a line out of another core's private cache
    // Its answer to the interconnect, which asks for a master that is not above it: the level has the line, a
    // private cache above has it, nobody has.
    std::uint64_t snooped_hit_ps = 0;
    std::uint64_t snooped_above_ps = 0;
    std::uint64_t snooped_miss_ps = 0;
    std::uint32_t misses = 0; // lines that it may have asked for; 0: no limit
    bool inclusive = false;   // what it gives up leaves the private caches above too
};

// Of a QoS-400 regulator; each 0: not regulated.
struct regulator_settings {
    std::uint64_t rate_bytes_per_s = 0;
    std::uint64_t burst_bytes = 0; // that may be sent above the rate
    std::uint64_t peak_bytes_per_s = 0;
};

// A QoS-400 regulator of both directions, in the numbers of its registers (machine/qos.h).
struct qos_settings {
    std::uint64_t clock_ps = 0; // of the interconnect; 0: there is no regulator, and `reads`, `writes` hold
    std::uint32_t transaction_bytes = 0;
    std::uint32_t rate = 0;  // transactions in 4096 clocks, up to 4095; 0: off
    std::uint32_t burst = 1; // transactions that may go at once; 1: the rate is strict
    std::uint32_t peak = 0;  // transactions in 256 clocks, up to 255; 0: none
};

// A port of the interconnect: a cluster of cores, a DMA engine.
struct master_settings {
    std::string name;
    std::uint64_t request_ps = 0; // to the memory controller
    std::uint64_t answer_ps = 0;  // and back
    regulator_settings reads{};
    regulator_settings writes{};
    qos_settings qos{};
};

// Where the interconnect asks clusters for what they have of a coherent request.
struct coherence_settings {
    std::uint64_t snoop_ps = 0; // to the clusters and back, without their own time
    bool speculative = true;    // reads go to memory at once, whatever the clusters will answer
};

// Memory on the chip, or anything else that is not DRAM. Other addresses cost `device_ps`.
struct region_settings {
    std::string name;
    std::uint64_t base = 0;
    std::uint64_t size_bytes = 0;
    std::uint64_t latency_ps = 0; // its own; `cached`: behind the master's way through the interconnect
    bool cached = false;          // lines of it are in caches as those of DRAM; else each access goes there
    // Of `cached`: it lies beside the shared levels, which have no line of it, and not behind the
    // interconnect: private caches have it, and its latency is all.
    bool beside_levels = false;
};

// machine/dram/ says what the parts mean.
struct dram_settings {
    dram::organization::counts shape;
    dram::mapping_bits map;
    std::uint64_t base = 0;  // address of its first byte
    std::uint64_t bytes = 0; // that have addresses, from there on; 0: all
    dram::timing timings;
    dram::policy how;
    std::uint64_t request_latency_ps = 0;
    std::uint64_t answer_latency_ps = 0;
};

// How long it takes until a core notices what a device, a counter or another core tells it.
struct signal_settings {
    std::uint64_t interrupt_ps = 0;   // from an input of the interrupt controller to the exception's vector
    std::uint64_t event_ps = 0;       // from SEV to another core's WFE
    std::uint64_t maintenance_ps = 0; // from a broadcast invalidation until another core stands still for it
};

struct settings {
    std::uint64_t seed = 1;
    signal_settings signals;
    std::uint64_t device_ps = 0; // an access to a device
    std::uint32_t owners = 1;    // of memory, with nobody: ids are below it
    std::vector<core_settings> cores;
    std::vector<level_settings> levels;
    std::vector<master_settings> masters;
    coherence_settings coherence;
    std::vector<region_settings> regions;
    std::uint32_t writes_in_flight = 16; // from all masters, until the controller has taken them
    dram_settings dram;
    std::optional<mpam::system_settings> mpam; // nothing: requests have no labels that anybody looks at
};

} // namespace bulkhead::machine
