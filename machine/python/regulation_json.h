// SPDX-License-Identifier: Apache-2.0
// Budgets and regulators (machine/regulation/) from the JSON object that Python passes, and their results.
// Called by the bindings; it checks names and types, not values.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "machine/regulation/driver.h"

namespace bulkhead::machine {

// Refuses text that is not such an object and names the key.
result<regulation::settings> regulation_from_json(const std::string &text);

// budgets[] (core, counts, interrupts), regulator, intervals (columns of the time series). `now`: time up to
// which the machine ran.
nlohmann::json regulation_results(const regulation::driver &of, picoseconds now);

} // namespace bulkhead::machine
