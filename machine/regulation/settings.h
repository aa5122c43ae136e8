// SPDX-License-Identifier: Apache-2.0
// What limits the cores of a machine on which no hypervisor runs, as plain values: budgets of cores, the
// regulator above them, what its interrupts cost. machine/python reads it from text, driver.h checks it and
// does it. Times are simulated; a tick of core/'s clocks is a picosecond here.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/regulator.h"
#include "core/reservation.h"
#include "machine/core_counts.h"

namespace bulkhead::machine::regulation {

// What one core may cause in each of its periods.
struct core_budget {
    std::uint32_t core = 0;
    reservation_kind kind = RESERVATION_ONE;
    std::vector<core_event> events{};    // of its counters: one, or two for `each` and `sum`
    std::vector<std::uint64_t> limits{}; // RESERVATION_UNLIMITED is none; two for `each`, else one
    std::uint64_t slack_events = 0;      // of a sum
    std::uint64_t period_ps = 0;
    bool regulated = false;    // by the feedback; the limit is what it starts with, the period its interval
    bool keep_running = false; // for measurements: what is spent stops nothing
};

// What an interrupt at EL2 costs. Its lines are read before the counters stop, so they are the core's own.
struct interrupt_cost {
    std::uint64_t entry_ps = 0;
    std::uint64_t exit_ps = 0;
    std::uint32_t overflow_instructions = 0;
    std::uint32_t period_instructions = 0;
    std::uint32_t step_instructions = 0;    // beside, of the last core of an interval
    std::uint32_t message_instructions = 0; // of the others, when budgets were published
    std::uint32_t lines = 0;                // of EL2's data that each of them touches
    std::vector<std::uint64_t> data{};      // where they are, for each core
};

// Without values for what the budgets say: who is regulated, and the initial budgets.
using feedback = regulator_parameters;

struct settings {
    std::vector<core_budget> budgets{};
    std::optional<feedback> regulator{};
    interrupt_cost cost{};
    std::uint64_t sample_ps = 0; // length of the intervals of the time series; 0: there is none
};

} // namespace bulkhead::machine::regulation
