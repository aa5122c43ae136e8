// SPDX-License-Identifier: Apache-2.0
// Resolves the undefined symbols of hosted images, and finds the machine that a call is for. Used in this
// directory only.
#pragma once

#include <string_view>

namespace bulkhead::machine::hosted {

class system;

// The machine that a call of hosted code is for: that of the running fiber.
[[nodiscard]] system &current();

// Address of a function that hypervisor, guest or runtime may call, by name; null: unknown. A symbol_table.
const void *symbol(std::string_view name);

} // namespace bulkhead::machine::hosted
