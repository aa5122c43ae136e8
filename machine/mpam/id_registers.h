// SPDX-License-Identifier: Apache-2.0
// The ID registers of a component's feature page: what it offers, of the resource instance that is selected.
// Only settings go in, no state.
#pragma once

#include "machine/mpam/settings.h"

namespace bulkhead::machine::mpam {

// The 32 bits at an offset below 0x100 that only tell what there is; 0 where there is no such register.
// `ris`: the selected instance, perhaps none of the component's.
std::uint32_t id_register(const system_settings &whole, const component_settings &of, std::uint32_t ris,
                          std::uint64_t offset);

} // namespace bulkhead::machine::mpam
