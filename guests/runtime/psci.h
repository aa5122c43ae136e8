// SPDX-License-Identifier: Apache-2.0
//
// Calls of the Power State Coordination Interface (Arm DEN 0022), by the method (HVC or SMC) in the device
// tree.
#ifndef BULKHEAD_GUESTS_PSCI_H
#define BULKHEAD_GUESTS_PSCI_H

#include <stdint.h>
#include <stdnoreturn.h>

// PSCI_VERSION: major in the upper, minor in the lower 16 bits.
uint32_t psci_version(void);

// Starts the VCPU with these affinity fields at `entry` with x0 = `context`. 0, or a negative PSCI error.
int32_t psci_cpu_on(uint64_t mpidr, uint64_t entry, uint64_t context);

noreturn void psci_cpu_off(void);
noreturn void psci_system_off(void);
noreturn void psci_system_reset(void);

#endif
