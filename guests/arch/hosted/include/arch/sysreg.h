// SPDX-License-Identifier: Apache-2.0
//
// The processor, hosted backend: calls of the machine. Same interface as the target's.
#ifndef BULKHEAD_GUESTS_ARCH_SYSREG_H
#define BULKHEAD_GUESTS_ARCH_SYSREG_H

#include <arch/machine.h>

#define sysreg_read(name)         guest_sysreg_read(GUEST_SYSREG_##name)
#define sysreg_write(name, value) guest_sysreg_write(GUEST_SYSREG_##name, (value))

static inline void cpu_sync_memory(void)
{
    guest_execute(GUEST_DSB);
}

static inline void cpu_sync_context(void)
{
    guest_execute(GUEST_ISB);
}

static inline void cpu_wait_for_interrupt(void)
{
    guest_execute(GUEST_WFI);
}

static inline void cpu_wait_for_event(void)
{
    guest_execute(GUEST_WFE);
}

static inline void cpu_mask_interrupts(void)
{
    guest_execute(GUEST_MASK_INTERRUPTS);
}

static inline void cpu_unmask_interrupts(void)
{
    guest_execute(GUEST_UNMASK_INTERRUPTS);
}

static inline void cpu_invalidate_line(uint64_t address)
{
    guest_invalidate_line(address);
}

static inline void cpu_invalidate_translations(void)
{
    guest_execute(GUEST_TLBI);
}

static inline void cpu_invalidate_instructions(void)
{
    guest_execute(GUEST_IC);
}

static inline void cpu_undefined_instruction(void)
{
    guest_execute(GUEST_UNDEFINED);
}

#define CALL_REGISTERS GUEST_CALL_REGISTERS

static inline void cpu_hypervisor_call_all(uint64_t x[CALL_REGISTERS])
{
    guest_hvc(x);
}

static inline uint64_t cpu_hypervisor_call(uint64_t function, uint64_t a1, uint64_t a2, uint64_t a3)
{
    uint64_t x[CALL_REGISTERS] = {function, a1, a2, a3};

    guest_hvc(x);
    return x[0];
}

static inline uint64_t cpu_firmware_call(uint64_t function, uint64_t a1, uint64_t a2, uint64_t a3)
{
    uint64_t x[4] = {function, a1, a2, a3};

    guest_smc(x);
    return x[0];
}

#endif
