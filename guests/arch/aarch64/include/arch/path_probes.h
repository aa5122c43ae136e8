// SPDX-License-Identifier: Apache-2.0
//
// Probes that measure one path into the hypervisor and back by the guest's counter; the program `paths` calls
// them. A probe does nothing else between its two readings, so it returns the time of the path, plus the time
// that the corresponding empty probe returns. All need VBAR_EL1 = probe_vectors and interrupts masked.
#ifndef BULKHEAD_GUESTS_ARCH_PATH_PROBES_H
#define BULKHEAD_GUESTS_ARCH_PATH_PROBES_H

#include <stdint.h>

extern char probe_vectors[];

// Time from before an instruction to after it: first of no instruction, which is the cost of the readings,
// then of one of each kind.
uint64_t probe_nothing(void);
uint64_t probe_hvc(uint64_t function);
uint64_t probe_smc(uint64_t function);
uint64_t probe_load(uint64_t address);
uint64_t probe_store(uint64_t address, uint32_t value);
uint64_t probe_id_register(void);
uint64_t probe_invalidate_translation(uint64_t page);
uint64_t probe_clean_line(uint64_t address);

// The same around a loop of that many turns, of PROBE_TURN_INSTRUCTIONS each.
#define PROBE_TURN_INSTRUCTIONS 2
uint64_t probe_loop(uint64_t turns);

// Time up to the first instruction of the vector: of the reading alone, then of an access to a register that
// the guest does not have, and of a software-generated interrupt to the sender. The interrupt is sent by
// `value` in ICC_SGI1R_EL1, or in a register of the distributor.
uint64_t probe_nothing_interrupted(void);
uint64_t probe_undefined_register(void);
uint64_t probe_register_to_self(uint64_t value);
uint64_t probe_store_to_self(uint64_t value, uint64_t address);

// Sends an interrupt to another VCPU and waits until an interrupt wakes this one. Returns the counter before
// sending.
uint64_t probe_register_and_back(uint64_t value);
uint64_t probe_store_and_back(uint64_t value, uint64_t address);
uint64_t probe_register_and_wait(uint64_t value);
uint64_t probe_store_and_wait(uint64_t value, uint64_t address);

// Waits for an interrupt in a loop, or in WFI, and returns the counter at the first instruction of the
// vector.
uint64_t probe_interrupt_busy(void);
uint64_t probe_interrupt_asleep(void);

// Stores the counter to `stamp`, past the caches, and calls `function`, which is not expected to return.
void probe_reset(uint64_t function, uint64_t *stamp);

#endif
