// SPDX-License-Identifier: Apache-2.0
// The observer's result as JSON; docs/design/observer.md has its format, and the tool's report reads it.
// Called at the end of a run and on request.
#pragma once

#include <string>

#include "observe/observer.h"

namespace bulkhead::observe {

std::string result_json(observer &from);

} // namespace bulkhead::observe
