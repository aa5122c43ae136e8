// SPDX-License-Identifier: Apache-2.0
// Closing and merging of windows; see the header.
#include "observe/windows.h"

namespace bulkhead::observe {

namespace {

constexpr std::size_t most_windows = 1024;

std::uint64_t at(const std::vector<std::uint64_t> &values, std::size_t index)
{
    return index < values.size() ? values[index] : 0;
}

} // namespace

void windows::restart()
{
    pending_ = 0;
    started_ = std::chrono::steady_clock::now();
    closed_.clear();
    misses_before_.clear();
    evicted_before_.clear();
}

window windows::since_last(const machine::cache_statistics &statistics) const
{
    const std::chrono::duration<double, std::milli> elapsed = std::chrono::steady_clock::now() - started_;
    window made{elapsed.count(), pending_, {}, {}};
    for (std::size_t id = 0; id < statistics.owner_count(); ++id) {
        const machine::owner_id owner{static_cast<std::uint8_t>(id)};
        made.misses.push_back(statistics.of(owner).misses.get() - at(misses_before_, id));
        made.evicted_by_others.push_back(statistics.evicted_by_others(owner) - at(evicted_before_, id));
    }
    return made;
}

void windows::close(const machine::cache_statistics &statistics)
{
    closed_.push_back(since_last(statistics));
    pending_ = 0;
    misses_before_.resize(statistics.owner_count());
    evicted_before_.resize(statistics.owner_count());
    for (std::size_t id = 0; id < statistics.owner_count(); ++id) {
        misses_before_[id] += closed_.back().misses[id];
        evicted_before_[id] += closed_.back().evicted_by_others[id];
    }
    if (closed_.size() >= most_windows) {
        halve();
    }
}

void windows::halve()
{
    std::vector<window> merged;
    for (std::size_t index = 0; index + 1 < closed_.size(); index += 2) {
        window both = std::move(closed_[index + 1]);
        const window &early = closed_[index];
        both.accesses += early.accesses;
        for (std::size_t id = 0; id < both.misses.size(); ++id) {
            both.misses[id] += early.misses[id];
            both.evicted_by_others[id] += early.evicted_by_others[id];
        }
        merged.push_back(std::move(both));
    }
    closed_ = std::move(merged);
    accesses_ *= 2;
}

std::vector<window> windows::series(const machine::cache_statistics &statistics) const
{
    std::vector<window> all = closed_;
    if (pending_ != 0) {
        all.push_back(since_last(statistics));
    }
    return all;
}

} // namespace bulkhead::observe
