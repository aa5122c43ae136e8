// SPDX-License-Identifier: Apache-2.0
// The machine that the benchmark runs on: what platforms/zcu102.yaml describes, as the machine's settings.
// Not for experiments, which take theirs from the platform's file.
#pragma once

#include "machine/settings.h"

namespace bulkhead::machine::bench {

settings board();

} // namespace bulkhead::machine::bench
