// SPDX-License-Identifier: Apache-2.0
// The time series of a run: at the end of each interval, the traffic of each core, its limit, how long it was
// throttled, and how busy the memory was. It reads from outside and costs no simulated time.
#pragma once

#include <functional>
#include <vector>

#include "machine/machine.h"

namespace bulkhead::machine::regulation {

// Sample of one core in one interval.
struct core_sample {
    std::uint64_t lines = 0; // lines that it read from or wrote to the interconnect
    std::uint64_t limit = 0; // limit of its budget; RESERVATION_UNLIMITED without one
    std::uint64_t used = 0;  // part of the budget that it used; 0 without one
    std::uint64_t throttled_ps = 0;
};

struct interval_sample {
    std::uint64_t end_ps = 0;
    std::uint64_t busy_cycles = 0;
    std::uint64_t cycles = 0;
    std::uint64_t read_bytes = 0;
    std::uint64_t written_bytes = 0;
    std::vector<core_sample> cores;
};

class recorder {
public:
    // `look`: returns a core's limit, and used and throttled_ps as counted since the beginning.
    using looker = std::function<core_sample(core_id, picoseconds)>;

    // Records intervals of `length` from `start` on. Call it outside of a run.
    recorder(simulated_machine &of, picoseconds start, picoseconds length, looker look);
    recorder(const recorder &) = delete;
    recorder &operator=(const recorder &) = delete;

    [[nodiscard]] const std::vector<interval_sample> &intervals() const { return intervals_; }

private:
    [[nodiscard]] interval_sample totals(picoseconds now) const;
    void record(picoseconds now);

    simulated_machine &of_;
    picoseconds length_;
    looker look_;
    interval_sample before_;
    std::vector<interval_sample> intervals_;
};

} // namespace bulkhead::machine::regulation
