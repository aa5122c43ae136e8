// SPDX-License-Identifier: Apache-2.0
// The settings of a machine as one JSON object: every field of machine/settings.h by its name, those that are
// left out as they are there. src/bulkhead/machine/settings.py writes it. Names and types are checked here;
// what the values mean is checked by who builds from them (machine/machine.h).
#pragma once

#include <string>

#include "machine/settings.h"

namespace bulkhead::machine {

// Refuses what is no such object, with the path of the key: an unknown one, a value of another type, a number
// that does not fit.
result<settings> settings_from_json(const std::string &text);

} // namespace bulkhead::machine
