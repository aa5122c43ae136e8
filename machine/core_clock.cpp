// SPDX-License-Identifier: Apache-2.0
// Defines the budget; machine/budget.h explains why it is one variable.
#include "machine/core_clock.h"

machine_running_core machine_running = {};
