// SPDX-License-Identifier: Apache-2.0
// The settings of a machine as one JSON object. Keys are the names of the fields in machine/settings.h; a key
// that is left out keeps the default from there. src/bulkhead/machine/settings.py writes it. Names and types
// are checked here; the values are checked by the code that builds from them (machine/machine.h).
#pragma once

#include <string>

#include "machine/settings.h"

namespace bulkhead::machine {

// Refuses text that is not an object with these keys and gives the path of the key: an unknown key, a value
// of the wrong type, a number out of range.
result<settings> settings_from_json(const std::string &text);

} // namespace bulkhead::machine
