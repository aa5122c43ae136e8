// SPDX-License-Identifier: Apache-2.0
// What a machine counted, as one JSON object: the answer of a run to Python. It reads, and changes nothing.
#pragma once

#include <nlohmann/json.hpp>

#include "machine/machine.h"

namespace bulkhead::machine {

// `at`: the time up to which the machine ran.
nlohmann::json results_of(simulated_machine &from, picoseconds at);

// How many lines of each owner of memory are in each shared level now.
nlohmann::json lines_held(simulated_machine &from);

} // namespace bulkhead::machine
