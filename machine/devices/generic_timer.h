// SPDX-License-Identifier: Apache-2.0
// The generic timer (DDI 0487, chapter D12): one counter for all cores and, on each, an EL1 physical, an EL1
// virtual and an EL2 physical timer. Time comes from the engine; `line` is called with the levels of the
// outputs.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <vector>

#include "machine/engine.h"

namespace bulkhead::machine::devices {

enum class timer_kind : std::uint8_t { physical, virtual_, hypervisor };
inline constexpr std::size_t timer_kinds = 3;

class generic_timer {
public:
    using output = std::function<void(core_id, timer_kind, bool high)>;

    generic_timer(engine &timeline, std::uint64_t frequency_hz, std::size_t cores, output line);

    [[nodiscard]] std::uint64_t frequency_hz() const { return frequency_hz_; }
    [[nodiscard]] std::uint64_t counter() const;
    [[nodiscard]] std::uint64_t control(core_id core, timer_kind which) const;
    [[nodiscard]] std::uint64_t compare(core_id core, timer_kind which) const;
    // Called by the core itself, in order of time.
    void set_control(core_id core, timer_kind which, std::uint64_t value);
    void set_compare(core_id core, timer_kind which, std::uint64_t value);
    // Distance of the virtual counter behind the physical one; the virtual timer compares with the virtual
    // counter.
    void set_offset(core_id core, std::uint64_t ticks);
    [[nodiscard]] std::uint64_t offset(core_id core) const { return cores_[core.value].offset; }

private:
    struct timer {
        std::uint64_t compare = 0;
        std::uint32_t control = 0;
        bool high = false;
        std::optional<engine::event_id> due;
    };
    struct cpu {
        std::array<timer, timer_kinds> timers;
        std::uint64_t offset = 0;
    };

    [[nodiscard]] bool expired(core_id core, timer_kind which) const;
    [[nodiscard]] picoseconds time_of(std::uint64_t ticks) const;
    void update(core_id core, timer_kind which);
    [[nodiscard]] const timer &at(core_id core, timer_kind which) const
    {
        return cores_[core.value].timers[static_cast<std::size_t>(which)];
    }
    [[nodiscard]] timer &at(core_id core, timer_kind which)
    {
        return cores_[core.value].timers[static_cast<std::size_t>(which)];
    }
    [[nodiscard]] std::uint64_t counter_of(core_id core, timer_kind which) const
    {
        return counter() - (which == timer_kind::virtual_ ? cores_[core.value].offset : 0);
    }

    engine &timeline_;
    std::uint64_t frequency_hz_;
    std::vector<cpu> cores_;
    output line_;
};

} // namespace bulkhead::machine::devices
