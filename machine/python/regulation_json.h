// SPDX-License-Identifier: Apache-2.0
// Budgets and regulators (machine/regulation/) from the JSON object by which Python asks for them, and what
// became of them. Called by the bindings; it checks names and types, not what the values mean.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "machine/regulation/driver.h"

namespace bulkhead::machine {

// Refuses text that is no such object, naming the key.
result<regulation::settings> regulation_from_json(const std::string &text);

// budgets[] (core, what was counted, interrupts), regulator, intervals (columns of the time series). `now`:
// up to which the machine ran.
nlohmann::json regulation_results(const regulation::driver &of, picoseconds now);

} // namespace bulkhead::machine
