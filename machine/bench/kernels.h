// SPDX-License-Identifier: Apache-2.0
// The loads of the benchmark: cores hit in the first level, hit in the shared level, miss everywhere in
// random order, or stream through memory. All four cores do the same, each in its own memory.
#pragma once

#include <string_view>
#include <vector>

#include "machine/machine.h"
#include "machine/translated.h"

namespace bulkhead::machine::bench {

struct kernel {
    std::string_view key; // as in the benchmark's answer
    std::string_view what;
    std::uint64_t bytes;    // that each core walks through
    bool random;            // in random order of lines
    std::uint64_t accesses; // of all cores, in one measurement
};

const std::vector<kernel> &kernels();

// Result of one measurement; the counts show whether the kernel does what its name says.
struct measurement {
    double seconds = 0;           // processor time of the host, which other programs may use too
    std::uint64_t accesses = 0;   // loads that the programs did
    std::uint64_t l1_misses = 0;  // lines that came into private caches
    std::uint64_t dram_reads = 0; // bursts
    std::uint64_t simulated_ps = 0;
};

// A machine that has executed the kernel once, so that its caches are warm.
class prepared {
public:
    prepared(const kernel &what, std::uint64_t seed);
    measurement run(std::uint64_t accesses);
    [[nodiscard]] simulated_machine &machine() { return *machine_; }

private:
    void start(std::uint64_t accesses_of_core);

    kernel what_;
    std::uint64_t seed_;
    std::unique_ptr<simulated_machine> machine_;
    std::vector<std::unique_ptr<translated>> spaces_; // address space of each core
};

} // namespace bulkhead::machine::bench
