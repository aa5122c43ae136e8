// SPDX-License-Identifier: Apache-2.0
// What hosted images' undefined symbols mean, and which machine their calls are for. Used by this directory
// only.
#pragma once

#include <string_view>

namespace bulkhead::machine::hosted {

class system;

// The machine that the calls of hosted code are for: the one that the running fiber belongs to.
[[nodiscard]] system &current();

// A call of hypervisor or guest, or of the runtime, by its name; null: unknown. A symbol_table.
const void *symbol(std::string_view name);

} // namespace bulkhead::machine::hosted
