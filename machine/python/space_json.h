// SPDX-License-Identifier: Apache-2.0
// A program's address space from JSON: the keys are the fields of space_settings (machine/address_space.h),
// pieces as [address, output, bytes].
#pragma once

#include <nlohmann/json.hpp>

#include "machine/address_space.h"

namespace bulkhead::machine {

// Throws std::exception with the reason, as the JSON library does: the code that reads JSON catches it.
space_settings space_from(const nlohmann::json &value);

// Returns nothing for an empty text.
result<std::optional<space_settings>> space_from_text(const std::string &text);

} // namespace bulkhead::machine
