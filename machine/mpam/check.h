// SPDX-License-Identifier: Apache-2.0
// Checks settings of MPAM components: what the architecture allows and the models support.
#pragma once

#include <optional>

#include "machine/settings.h"

namespace bulkhead::machine::mpam {

// The first refused key with its path and the reason; nothing if the settings are accepted.
std::optional<refusal> refused(const settings &wanted);

} // namespace bulkhead::machine::mpam
