// SPDX-License-Identifier: Apache-2.0
// The performance monitors of one core of a hosted run: their registers (machine/devices/pmu.h), fed by the
// core model's counts. For events that the core can watch, the overflow comes during the access that causes
// it. For events without a watch (cycles, instructions) an engine event reads the count in time, with an
// error of at most `patience`.
#pragma once

#include <array>
#include <optional>

#include "machine/core.h"
#include "machine/devices/pmu.h"

namespace bulkhead::machine::hosted {

class monitors {
public:
    static constexpr picoseconds patience{100'000};

    // `line`: called with the level of the overflow interrupt when it changes.
    monitors(engine &timeline, core &counted, std::uint32_t counters, std::function<void(bool)> line);
    monitors(const monitors &) = delete;
    monitors &operator=(const monitors &) = delete;

    [[nodiscard]] devices::pmu &registers() { return registers_; }

    // The core begins or ends to wait for an interrupt; while it waits, nothing is counted.
    void set_asleep(bool asleep);

private:
    struct asked {
        std::uint64_t target = devices::pmu::never;
        std::optional<engine::event_id> again;
    };

    [[nodiscard]] std::uint64_t total(std::uint16_t event) const;
    void watch(std::uint16_t event, std::uint64_t target);
    void ask_again(std::uint16_t event);
    void look(std::uint16_t event);

    engine &timeline_;
    core &counted_;
    std::array<asked, 64> asked_{}; // by event; used for events that are read by engine events
    bool asleep_ = false;
    devices::pmu registers_;
};

} // namespace bulkhead::machine::hosted
