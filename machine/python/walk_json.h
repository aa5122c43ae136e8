// SPDX-License-Identifier: Apache-2.0
// A walk (machine/generator.h) from the JSON object that Python passes. Called by the bindings; it checks
// names and types, not values.
#pragma once

#include <string>

#include "machine/generator.h"

namespace bulkhead::machine {

// Refuses text that is not such an object and names the key.
result<walk_settings> walk_from_json(const std::string &text);

} // namespace bulkhead::machine
