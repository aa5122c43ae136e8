// SPDX-License-Identifier: Apache-2.0
// A judge of DRAM command streams that knows only the data sheet: it shares no code and no table with the
// scheduler but the parameters' names, and looks at every pair of commands that a rule could join.
#pragma once

#include <string>
#include <vector>

#include "machine/dram/scheduler.h"

namespace bulkhead::machine::dram::test {

// Every violation as a sentence, at most ten.
std::vector<std::string> violations(const organization &shape, const timing &timing,
                                    const std::vector<issued> &log);

} // namespace bulkhead::machine::dram::test
