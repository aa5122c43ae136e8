// SPDX-License-Identifier: Apache-2.0
// A walk (machine/generator.h) from the JSON object by which Python asks for it. Called by the bindings; it
// checks names and types, not what the values mean.
#pragma once

#include <string>

#include "machine/generator.h"

namespace bulkhead::machine {

// Refuses text that is no such object, naming the key.
result<walk_settings> walk_from_json(const std::string &text);

} // namespace bulkhead::machine
