// SPDX-License-Identifier: Apache-2.0
// Whether MPAM components can be as settings ask for: what the architecture allows and the models have.
#pragma once

#include <optional>

#include "machine/settings.h"

namespace bulkhead::machine::mpam {

// Why not, with the path of the key; nothing: they can.
std::optional<refusal> refused(const settings &wanted);

} // namespace bulkhead::machine::mpam
