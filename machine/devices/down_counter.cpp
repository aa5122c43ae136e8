// SPDX-License-Identifier: Apache-2.0
// Computes the value at a time; see the header.
#include "machine/devices/down_counter.h"

namespace bulkhead::machine::devices {

std::uint32_t down_counter::value(picoseconds now) const
{
    if (!counts_) {
        return held_;
    }
    const std::uint64_t tick = clock_.ticks(now);
    return tick < loads_at_ || tick >= zero_at_ ? 0 : static_cast<std::uint32_t>(zero_at_ - tick);
}

void down_counter::start(std::uint32_t value, picoseconds now)
{
    if (counts_) {
        timeline_.cancel(event_);
        counts_ = false;
    }
    held_ = value;
    if (!running_ || (value == 0 && reload_ == 0)) {
        return;
    }
    const std::uint64_t tick = clock_.ticks(now);
    loads_at_ = value == 0 ? tick + 1 : tick;
    zero_at_ = value == 0 ? tick + 1 + reload_ : tick + value;
    counts_ = true;
    event_ = timeline_.at(clock_.time_of(zero_at_), [this] { zero(); });
}

void down_counter::zero()
{
    const picoseconds now = clock_.time_of(zero_at_);
    counts_ = false;
    start(0, now);
    reached_();
}

void down_counter::run(bool running, picoseconds now)
{
    if (running != running_) {
        const std::uint32_t kept = value(now);
        running_ = running;
        start(kept, now);
    }
}

void down_counter::set_value(std::uint32_t value, picoseconds now)
{
    start(value, now);
}

void down_counter::set_reload(std::uint32_t reload, picoseconds now)
{
    const bool waits = running_ && value(now) == 0; // it takes the new value, or stops
    reload_ = reload;
    if (waits) {
        start(0, now);
    }
}

} // namespace bulkhead::machine::devices
