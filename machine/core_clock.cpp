// SPDX-License-Identifier: Apache-2.0
// Where the budget is; see machine/budget.h for why there is one of it.
#include "machine/core_clock.h"

machine_running_core machine_running = {};
