// SPDX-License-Identifier: Apache-2.0
// Where the budget is; see machine/budget.h for why there is one word of it.
#include "machine/core_clock.h"

std::int64_t machine_budget = 0;
