// SPDX-License-Identifier: Apache-2.0
//
// What a guest program that is compiled for the build host calls instead of executing an instruction: the
// simulated machine (machine/hosted/) provides these, and fills in what hardware would before the hypervisor
// hears of it. Only the other headers of this directory and start.c may include this.
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

// What kinds of instruction need no more than their name.
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
// A store of two registers: its abort has no syndrome that describes it.
void guest_mmio_write_pair(uint64_t address, uint64_t first, uint64_t second);
void guest_execute(enum guest_instruction which);
void guest_invalidate_line(uint64_t address);
// What tables of its own would say: no cache may serve these bytes, whole pages at a guest-physical address,
// if stage 2 lets the guest decide. No bytes: caches may serve all of its memory, as they may at first.
void guest_map_past_caches(uint64_t address, uint64_t bytes);
// x0 onwards, in and out.
#define GUEST_CALL_REGISTERS 18 /* x0 to x17 */
void guest_hvc(uint64_t x[GUEST_CALL_REGISTERS]);
void guest_smc(uint64_t x[4]);

// Host address of guest-physical address 0, were it mapped.
uint64_t guest_memory_base(void);
// Host address of any guest-physical address, were it mapped: those behind BH_BROKER_WINDOW lie elsewhere.
uint64_t guest_memory_at(uint64_t address);

#ifdef __cplusplus
}
#endif

#endif
