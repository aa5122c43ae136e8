// SPDX-License-Identifier: Apache-2.0
// The budget of one simulated core: takes overflow, period and message interrupts as
// hypervisor/time/bandwidth.c does at EL2, and calls the same functions of core/. The software on the core is
// stopped between two instructions, the interrupt's cost is added, and it continues or waits until its period
// ends.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "core/regulated_core.h"
#include "machine/core.h"
#include "machine/regulation/event_unit.h"
#include "machine/regulation/settings.h"
#include "machine/regulation/shared_regulator.h"

namespace bulkhead::machine::regulation {

class core_driver {
public:
    // Settings and parts that all drivers of a machine share.
    struct surroundings {
        engine &timeline;
        const interrupt_cost &cost;
        picoseconds latency; // from an overflow, a timer's expiry or another core's request to the handler
        picoseconds start;   // of the first period
        // Tells the other drivers of the mask that their budgets have changed: an interrupt that arrives at
        // that time.
        std::function<void(const core_driver &, std::uint32_t, picoseconds)> published;
    };
    // The budget must be valid (driver.h). Call it outside of a run. `shared`: for a regulated core, else
    // null.
    core_driver(core &own, const core_budget &wanted, shared_regulator *shared, const surroundings &around);
    core_driver(const core_driver &) = delete;
    core_driver &operator=(const core_driver &) = delete;

    // Another budget was published for this core: an interrupt arrives at `when`.
    void tell(picoseconds when);

    [[nodiscard]] core &own() const { return own_; }
    // Whether it is one of a mask of regulated cores.
    [[nodiscard]] bool is_in(std::uint32_t cores) const
    {
        return regulated_ && (cores >> regulated_->index & 1U) != 0;
    }
    [[nodiscard]] const reservation &state() const { return budget_.reservation; }
    // Events so far, including those of the present period.
    [[nodiscard]] std::uint64_t used() const;
    // Counts of the interrupts that the core took.
    struct interrupts {
        std::uint64_t overflows = 0;
        std::uint64_t periods = 0;
        std::uint64_t messages = 0;
        std::uint64_t time_ps = 0; // time that they took
    };
    [[nodiscard]] const interrupts &taken() const { return taken_; }

private:
    using readings = std::array<std::uint64_t, RESERVATION_COUNTERS>;

    void attend();
    bool take_one(picoseconds now);
    void overflow();
    void period();
    void message();
    picoseconds enter(std::uint32_t instructions);
    readings stop();
    void leave();
    void signal_next();
    void obey(budget_action action);
    void set_timer();

    core &own_;
    engine &timeline_;
    interrupt_cost cost_;
    picoseconds latency_;
    shared_regulator *shared_;
    std::function<void(const core_driver &, std::uint32_t, picoseconds)> published_;
    ::budget budget_{};
    std::optional<regulated_core> regulated_;
    std::vector<std::unique_ptr<event_unit>> counters_;
    bool runs_ = true;
    bool attending_ = false;
    // Arrival times of the raised interrupts; never: not raised.
    picoseconds overflow_at_ = engine::never;
    picoseconds period_at_ = engine::never;
    picoseconds message_at_ = engine::never;
    picoseconds deadline_ = engine::never; // of the timer
    engine::event_id timer_event_ = 0;
    interrupts taken_;
};

} // namespace bulkhead::machine::regulation
