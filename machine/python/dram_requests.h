// SPDX-License-Identifier: Apache-2.0
// DRAM by itself, for who compares it with another model: requests at given times in, what became of them
// out. Nothing waits for an answer; a request that finds the controller's queue full waits before it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "machine/types.h"

namespace bulkhead::machine {

// When, the address, and 1 for a write.
using dram_request = std::array<std::uint64_t, 3>;

struct dram_outcome {
    std::vector<std::uint64_t> read_ps; // of each read, from its time until its data have moved; 0: not yet
    std::uint64_t read_bytes = 0;       // that the data bus has moved
    std::uint64_t written_bytes = 0;
};

// `settings`: of a machine, as machine/settings_json.h reads them; its DRAM is taken, without the latencies
// of the controller's port. `requests` in order of time, in picoseconds; what happens before `until_ps`
// counts. Refuses what the settings, the DRAM and the mapping refuse, and times that fall.
result<dram_outcome> dram_alone(const std::string &settings, const std::vector<dram_request> &requests,
                                std::uint64_t until_ps);

} // namespace bulkhead::machine
