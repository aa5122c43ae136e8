// SPDX-License-Identifier: Apache-2.0
//
// Starts the guest's further VCPUs. Called by programs on the first VCPU.
#ifndef BULKHEAD_GUESTS_SMP_H
#define BULKHEAD_GUESTS_SMP_H

#include <stdint.h>

// Index of the calling VCPU: 0 for the first.
uint32_t smp_self(void);

// Starts all other VCPUs of the device tree; they enter program_secondary() with their index. Returns the
// number of running VCPUs, including the first; a VCPU that cannot be started is reported on the console.
uint32_t smp_start(void);

#endif
