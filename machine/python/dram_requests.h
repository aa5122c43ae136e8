// SPDX-License-Identifier: Apache-2.0
// DRAM alone, for comparison with other models: takes requests at given times and returns their results.
// Nothing waits for an answer; a request that finds the controller's queue full waits outside of it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "machine/types.h"

namespace bulkhead::machine {

// Time in picoseconds, address, and 1 for a write.
using dram_request = std::array<std::uint64_t, 3>;

struct dram_outcome {
    std::vector<std::uint64_t> read_ps; // latency of each read, from its time to the end of its data; 0: not
                                        // completed
    std::uint64_t read_bytes = 0;       // bytes moved over the data bus
    std::uint64_t written_bytes = 0;
};

// `settings`: of a machine, as machine/settings_json.h reads them; only its DRAM is used, without the
// latencies of the controller's port. `requests` in order of time, in picoseconds; events before `until_ps`
// count. Refuses what the settings, the DRAM and the mapping refuse, and times that decrease.
result<dram_outcome> dram_alone(const std::string &settings, const std::vector<dram_request> &requests,
                                std::uint64_t until_ps);

} // namespace bulkhead::machine
