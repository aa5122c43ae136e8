// SPDX-License-Identifier: Apache-2.0
// The hypervisor's accessor headers, included so that the machine can provide what they declare. For
// machine/hosted/ only. Functions keep the hypervisor's names, because hosted code asks for them by name.
#pragma once

#include <arch/sysreg.h>
