// SPDX-License-Identifier: Apache-2.0
// Limits for the cores of a machine without a hypervisor, as plain values: budgets of cores, the regulator
// above them, the cost of its interrupts. machine/python reads them from text; driver.h checks and applies
// them. Times are simulated; a tick of core/'s clocks is a picosecond here.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/regulator.h"
#include "core/reservation.h"
#include "machine/core_counts.h"

namespace bulkhead::machine::regulation {

// The events that one core may cause in each of its periods.
struct core_budget {
    std::uint32_t core = 0;
    reservation_kind kind = RESERVATION_ONE;
    std::vector<core_event> events{};    // events of its counters: one, or two for `each` and `sum`
    std::vector<std::uint64_t> limits{}; // RESERVATION_UNLIMITED: no limit; two for `each`, else one
    std::uint64_t slack_events = 0;      // slack of a sum
    std::uint64_t period_ps = 0;
    bool regulated = false;    // regulated by the feedback: the limit is the initial one, the period is its
                               // interval
    bool keep_running = false; // for measurements: the core is not stopped when the budget is spent
};

// Cost of an interrupt at EL2. Its lines are read before the counters stop, so they count as the core's own.
struct interrupt_cost {
    std::uint64_t entry_ps = 0;
    std::uint64_t exit_ps = 0;
    std::uint32_t overflow_instructions = 0;
    std::uint32_t period_instructions = 0;
    std::uint32_t step_instructions = 0;    // in addition, for the last core of an interval
    std::uint32_t message_instructions = 0; // for the other cores, when budgets were published
    std::uint32_t lines = 0;                // lines of EL2's data that each interrupt accesses
    std::vector<std::uint64_t> data{};      // address of these lines, for each core
};

// Parameters of the regulator. The fields that the budgets determine (regulated cores and initial budgets)
// are not set.
using feedback = regulator_parameters;

struct settings {
    std::vector<core_budget> budgets{};
    std::optional<feedback> regulator{};
    interrupt_cost cost{};
    std::uint64_t sample_ps = 0; // length of the intervals of the time series; 0: no series
};

} // namespace bulkhead::machine::regulation
