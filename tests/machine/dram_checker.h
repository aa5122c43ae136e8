// SPDX-License-Identifier: Apache-2.0
// A checker of DRAM command streams that knows only the data sheet: it shares no code and no table with the
// scheduler except the parameters' names, and checks every pair of commands that a rule could apply to.
#pragma once

#include <string>
#include <vector>

#include "machine/dram/scheduler.h"

namespace bulkhead::machine::dram::test {

// Every violation as a sentence, at most ten.
std::vector<std::string> violations(const organization &shape, const timing &timing,
                                    const std::vector<issued> &log);

} // namespace bulkhead::machine::dram::test
