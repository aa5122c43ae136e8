// SPDX-License-Identifier: Apache-2.0
// The settings of the machine that the benchmark runs on: those of platforms/zcu102.yaml. Not for
// experiments, which read the platform's file.
#pragma once

#include "machine/settings.h"

namespace bulkhead::machine::bench {

settings board();

} // namespace bulkhead::machine::bench
