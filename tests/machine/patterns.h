// SPDX-License-Identifier: Apache-2.0
// Invented programs for the tests of cores: sequential, strided, random and pointer-chasing accesses to a
// working set, reads and writes mixed; the same settings give the same accesses.
#pragma once

#include "machine/core.h"

namespace bulkhead::machine::test {

enum class access_pattern : std::uint8_t {
    sequential, // word by word
    strided,    // stride_bytes apart, round and round
    random,     // any line of the working set
    chase,      // all lines of the working set in one random cycle, each address read from the one before
};

struct pattern_settings {
    access_pattern pattern = access_pattern::sequential;
    phys_addr start{};
    byte_count working_set{};
    std::uint64_t accesses = 0;
    std::uint32_t access_bytes = 8;
    std::uint32_t stride_bytes = 64;
    std::uint32_t writes_percent = 0;       // of the accesses; a chase only reads
    std::uint32_t instructions_between = 0; // beside the access itself
    std::uint64_t seed = 1;
};

// Runs on the core that it is given: core::start(make_pattern(settings)).
std::function<void(core &)> make_pattern(const pattern_settings &wanted);

} // namespace bulkhead::machine::test
