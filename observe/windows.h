// SPDX-License-Identifier: Apache-2.0
// The time series of a run: LLC misses and evictions by others of each owner, per window of a fixed number of
// LLC accesses. The caller holds the LLC's lock; memory is bounded, since neighbouring windows are merged
// when there are many.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "machine/cache_statistics.h"

namespace bulkhead::observe {

struct window {
    double end_ms; // since the start of the count, on the host's clock
    std::uint64_t accesses;
    std::vector<std::uint64_t> misses; // by owner id
    std::vector<std::uint64_t> evicted_by_others;
};

class windows {
public:
    explicit windows(std::uint64_t accesses) : accesses_(accesses) { restart(); }

    // The statistics have been reset.
    void restart();

    // One LLC access has been counted in `statistics`.
    void note(const machine::cache_statistics &statistics)
    {
        if (accesses_ != 0 && ++pending_ >= accesses_) {
            close(statistics);
        }
    }

    // All windows so far, with the one that has not ended yet.
    [[nodiscard]] std::vector<window> series(const machine::cache_statistics &statistics) const;

private:
    [[nodiscard]] window since_last(const machine::cache_statistics &statistics) const;
    void close(const machine::cache_statistics &statistics);
    void halve();

    std::uint64_t accesses_; // of one window; doubled by halve()
    std::uint64_t pending_ = 0;
    std::chrono::steady_clock::time_point started_;
    std::vector<window> closed_;
    std::vector<std::uint64_t> misses_before_; // at the end of the last closed window, by owner id
    std::vector<std::uint64_t> evicted_before_;
};

} // namespace bulkhead::observe
