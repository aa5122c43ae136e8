// SPDX-License-Identifier: Apache-2.0
//
// Functions that a guest program compiled for the build host calls instead of executing an instruction. The
// simulated machine (machine/hosted/) implements them, and sets the registers that hardware would set before
// it enters the hypervisor. Only the other headers of this directory and start.c may include this.
#ifndef BULKHEAD_GUESTS_ARCH_MACHINE_H
#define BULKHEAD_GUESTS_ARCH_MACHINE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum guest_sysreg {
#define SYSREG(name, encoding)            GUEST_SYSREG_##name,
#define SYSREG_READ_ONLY(name, encoding)  GUEST_SYSREG_##name,
#define SYSREG_WRITE_ONLY(name, encoding) GUEST_SYSREG_##name,
#include "guests/arch/sysreg_table.h"
#undef SYSREG
#undef SYSREG_READ_ONLY
#undef SYSREG_WRITE_ONLY
    GUEST_SYSREG_COUNT
};

// Instructions without operands.
enum guest_instruction {
    GUEST_DSB,
    GUEST_ISB,
    GUEST_WFI,
    GUEST_WFE,
    GUEST_MASK_INTERRUPTS,
    GUEST_UNMASK_INTERRUPTS,
    GUEST_TLBI,
    GUEST_IC,
    GUEST_UNDEFINED,
};

uint64_t guest_sysreg_read(enum guest_sysreg which);
void guest_sysreg_write(enum guest_sysreg which, uint64_t value);
uint64_t guest_mmio_read(uint64_t address, unsigned bytes);
void guest_mmio_write(uint64_t address, unsigned bytes, uint64_t value);
// A store of two registers: the syndrome of its abort does not describe it.
void guest_mmio_write_pair(uint64_t address, uint64_t first, uint64_t second);
void guest_execute(enum guest_instruction which);
void guest_invalidate_line(uint64_t address);
// Stands for the guest's own tables: makes the bytes, whole pages at a guest-physical address, Non-cacheable,
// if stage 2 lets the guest decide. With no bytes, all of its memory is cacheable again, as it is at first.
void guest_map_past_caches(uint64_t address, uint64_t bytes);
// x0 onwards, in and out.
#define GUEST_CALL_REGISTERS 18 /* x0 to x17 */
void guest_hvc(uint64_t x[GUEST_CALL_REGISTERS]);
void guest_smc(uint64_t x[4]);

// Host address at which guest-physical address 0 would be mapped.
uint64_t guest_memory_base(void);
// Host address at which a guest-physical address would be mapped; those from BH_BROKER_WINDOW on lie
// elsewhere.
uint64_t guest_memory_at(uint64_t address);

#ifdef __cplusplus
}
#endif

#endif
