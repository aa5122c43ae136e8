// SPDX-License-Identifier: Apache-2.0
// A counter that counts down to 0, reports this, and starts again from a reload value, as SysTick and the
// CMSDK timer do. The value is computed when it is read; engine events exist only for the zeros. Callers have
// made the access in order.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>

#include "machine/devices/device_clock.h"
#include "machine/engine.h"

namespace bulkhead::machine::devices {

class down_counter {
public:
    // `reached` is called when the value goes from 1 to 0.
    down_counter(engine &timeline, device_clock clock, std::function<void()> reached)
        : timeline_(timeline), clock_(clock), reached_(std::move(reached))
    {
    }
    down_counter(const down_counter &) = delete;
    down_counter &operator=(const down_counter &) = delete;

    [[nodiscard]] bool running() const { return running_; }
    [[nodiscard]] std::uint32_t reload() const { return reload_; }
    [[nodiscard]] std::uint32_t value(picoseconds now) const;

    // Both take effect at `now`. A counter at 0 takes the reload value a tick later; one that is reloaded
    // with 0 stays at 0.
    void run(bool running, picoseconds now);
    void set_value(std::uint32_t value, picoseconds now);
    // Takes effect at the next reload.
    void set_reload(std::uint32_t reload, picoseconds now);

private:
    void start(std::uint32_t value, picoseconds now);
    void zero();

    engine &timeline_;
    device_clock clock_;
    std::function<void()> reached_;
    bool running_ = false;
    std::uint32_t reload_ = 0;
    std::uint32_t held_ = 0;     // value while it is stopped, or while the reload value is 0
    bool counts_ = false;        // counts down, to 0 at tick zero_at_
    std::uint64_t zero_at_ = 0;  // tick
    std::uint64_t loads_at_ = 0; // tick before which its value is still 0
    engine::event_id event_ = 0;
};

} // namespace bulkhead::machine::devices
