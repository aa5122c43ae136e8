// SPDX-License-Identifier: Apache-2.0
// The budget of one simulated core: takes overflow, period and message interrupts as
// hypervisor/time/bandwidth.c does at EL2, and calls the same functions of core/. What runs on the core is
// stopped between two instructions, pays for the interrupt, and goes on or waits until its period ends.
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
    // A good budget (driver.h), whose periods begin at `start`, outside of a run. `shared`: of a regulated
    // core, else null. `published`: tells the others that there are budgets, which arrive at that time.
    core_driver(core &own, engine &timeline, const core_budget &wanted, const interrupt_cost &cost,
                shared_regulator *shared, picoseconds start,
                std::function<void(const core_driver &, picoseconds)> published);
    core_driver(const core_driver &) = delete;
    core_driver &operator=(const core_driver &) = delete;

    // Budgets were published: an interrupt at `when`.
    void tell(picoseconds when);

    [[nodiscard]] core &own() const { return own_; }
    [[nodiscard]] bool is_regulated() const { return shared_ != nullptr; }
    [[nodiscard]] const reservation &state() const { return budget_.reservation; }
    // Events so far, those of the present period included.
    [[nodiscard]] std::uint64_t used() const;
    // Of the interrupts that it took.
    struct interrupts {
        std::uint64_t overflows = 0;
        std::uint64_t periods = 0;
        std::uint64_t messages = 0;
        std::uint64_t time_ps = 0; // that they took
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
    void signal_message();
    void obey(budget_action action);
    void set_timer();

    core &own_;
    engine &timeline_;
    interrupt_cost cost_;
    shared_regulator *shared_;
    std::function<void(const core_driver &, picoseconds)> published_;
    ::budget budget_{};
    std::optional<regulated_core> regulated_;
    std::vector<std::unique_ptr<event_unit>> counters_;
    bool runs_ = true;
    bool attending_ = false;
    bool overflowed_ = false;
    bool timer_ = false;
    picoseconds message_at_ = engine::never;
    picoseconds timer_at_ = engine::never;
    engine::event_id timer_event_ = 0;
    interrupts taken_;
};

} // namespace bulkhead::machine::regulation
