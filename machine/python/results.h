// SPDX-License-Identifier: Apache-2.0
// The counts of a machine as one JSON object, which is a run's answer to Python. It only reads.
#pragma once

#include <nlohmann/json.hpp>

#include "machine/machine.h"

namespace bulkhead::machine {

// `at`: the time up to which the machine ran.
nlohmann::json results_of(simulated_machine &from, picoseconds at);

// Number of lines of each owner of memory in each shared level now.
nlohmann::json lines_held(simulated_machine &from);

} // namespace bulkhead::machine
