// SPDX-License-Identifier: Apache-2.0
// The ID registers of a component's feature page for the selected resource instance. They depend on settings
// only, not on state.
#pragma once

#include "machine/mpam/settings.h"

namespace bulkhead::machine::mpam {

// The 32 bits of the ID register at `offset` (below 0x100); 0 if there is no such register. `ris`: the
// selected instance, which may be undefined.
std::uint32_t id_register(const system_settings &whole, const component_settings &of, std::uint32_t ris,
                          std::uint64_t offset);

} // namespace bulkhead::machine::mpam
