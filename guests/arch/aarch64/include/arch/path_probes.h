// SPDX-License-Identifier: Apache-2.0
//
// One path into the hypervisor and back, measured by the counter of the guest: the program `paths` calls
// these. A probe does nothing else between its two readings, so what it returns is the path, plus what the
// corresponding probe of nothing returns. All need VBAR_EL1 = probe_vectors and interrupts masked.
#ifndef BULKHEAD_GUESTS_ARCH_PATH_PROBES_H
#define BULKHEAD_GUESTS_ARCH_PATH_PROBES_H

#include <stdint.h>

extern char probe_vectors[];

// From before an instruction to behind it: what the two readings cost by themselves, then one of each kind.
uint64_t probe_nothing(void);
uint64_t probe_hvc(uint64_t function);
uint64_t probe_smc(uint64_t function);
uint64_t probe_load(uint64_t address);
uint64_t probe_store(uint64_t address, uint32_t value);
uint64_t probe_id_register(void);
uint64_t probe_invalidate_translation(uint64_t page);
uint64_t probe_clean_line(uint64_t address);

// The same around a loop of so many turns, of PROBE_TURN_INSTRUCTIONS each.
#define PROBE_TURN_INSTRUCTIONS 2
uint64_t probe_loop(uint64_t turns);

// From before something to the first instruction of the vector: what the reading costs by itself, then an
// access to a register that the guest is not given, and a software-generated interrupt to the sender. It is
// sent by `value` in ICC_SGI1R_EL1, or in a register of the distributor.
uint64_t probe_nothing_interrupted(void);
uint64_t probe_undefined_register(void);
uint64_t probe_register_to_self(uint64_t value);
uint64_t probe_store_to_self(uint64_t value, uint64_t address);

// Sends an interrupt to another VCPU and waits until something wakes this one. Returns the counter before.
uint64_t probe_register_and_back(uint64_t value);
uint64_t probe_store_and_back(uint64_t value, uint64_t address);
uint64_t probe_register_and_wait(uint64_t value);
uint64_t probe_store_and_wait(uint64_t value, uint64_t address);

// Waits for an interrupt in a loop, or in WFI, and returns the counter at the first instruction of the
// vector.
uint64_t probe_interrupt_busy(void);
uint64_t probe_interrupt_asleep(void);

// Puts the counter into `stamp`, past the caches, and calls `function`, which is not expected to return.
void probe_reset(uint64_t function, uint64_t *stamp);

#endif
