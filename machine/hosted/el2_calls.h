// SPDX-License-Identifier: Apache-2.0
// The hypervisor's accessor headers, as the machine must see them to provide what they declare. For
// machine/hosted/ only; their own names, because hosted code asks for these by name.
#pragma once

#include <arch/sysreg.h>
