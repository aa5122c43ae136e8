// SPDX-License-Identifier: Apache-2.0
//
// The processor, as the guests' C code accesses it: system registers and the few instructions that C cannot
// express. The runtime and the programs call these; on the target each is one instruction. Nothing outside
// this file, mmio.h and the assembly files may contain an instruction.
#ifndef BULKHEAD_GUESTS_ARCH_SYSREG_H
#define BULKHEAD_GUESTS_ARCH_SYSREG_H

#include <stdint.h>

#define SYSREG(name, encoding)                                                                               \
    static inline uint64_t sysreg_read_##name(void)                                                          \
    {                                                                                                        \
        uint64_t value;                                                                                      \
        __asm__ volatile("mrs %0, " encoding : "=r"(value) : : "memory");                                    \
        return value;                                                                                        \
    }                                                                                                        \
    static inline void sysreg_write_##name(uint64_t value)                                                   \
    {                                                                                                        \
        __asm__ volatile("msr " encoding ", %0" : : "r"(value) : "memory");                                  \
    }
#define SYSREG_READ_ONLY(name, encoding)                                                                     \
    static inline uint64_t sysreg_read_##name(void)                                                          \
    {                                                                                                        \
        uint64_t value;                                                                                      \
        __asm__ volatile("mrs %0, " encoding : "=r"(value) : : "memory");                                    \
        return value;                                                                                        \
    }
#define SYSREG_WRITE_ONLY(name, encoding)                                                                    \
    static inline void sysreg_write_##name(uint64_t value)                                                   \
    {                                                                                                        \
        __asm__ volatile("msr " encoding ", %0" : : "r"(value) : "memory");                                  \
    }
#include "guests/arch/sysreg_table.h"
#undef SYSREG
#undef SYSREG_READ_ONLY
#undef SYSREG_WRITE_ONLY

#define sysreg_read(name)         sysreg_read_##name()
#define sysreg_write(name, value) sysreg_write_##name(value)

// Waits until all earlier accesses are complete for the whole system.
static inline void cpu_sync_memory(void)
{
    __asm__ volatile("dsb sy" : : : "memory");
}

// Makes changed system registers and code effective for the following instructions.
static inline void cpu_sync_context(void)
{
    __asm__ volatile("isb" : : : "memory");
}

static inline void cpu_wait_for_interrupt(void)
{
    __asm__ volatile("dsb sy\n\twfi" : : : "memory");
}

// Waits for an event or an interrupt; returns at once if an event came since the last call. May return
// without a reason.
static inline void cpu_wait_for_event(void)
{
    __asm__ volatile("wfe" : : : "memory");
}

static inline void cpu_mask_interrupts(void)
{
    __asm__ volatile("msr daifset, #2" : : : "memory");
}

static inline void cpu_unmask_interrupts(void)
{
    __asm__ volatile("msr daifclr, #2\n\tisb" : : : "memory");
}

// Invalidates the data-cache line that holds `address` without writing it back.
static inline void cpu_invalidate_line(uint64_t address)
{
    __asm__ volatile("dc ivac, %0" : : "r"(address) : "memory");
}

// Cleans and invalidates the data-cache line that holds `address`.
static inline void cpu_clean_and_invalidate_line(uint64_t address)
{
    __asm__ volatile("dc civac, %0" : : "r"(address) : "memory");
}

// Invalidates all translations of this stage, on all processors of the guest.
static inline void cpu_invalidate_translations(void)
{
    __asm__ volatile("dsb ishst\n\ttlbi vmalle1is\n\tdsb ish\n\tisb" : : : "memory");
}

// Invalidates the instruction caches of all processors.
static inline void cpu_invalidate_instructions(void)
{
    __asm__ volatile("ic ialluis\n\tdsb ish\n\tisb" : : : "memory");
}

// Executes an instruction that no architecture version defines. For tests of containment.
static inline void cpu_undefined_instruction(void)
{
    __asm__ volatile("udf #0" : : : "memory");
}

// A call by the SMC calling convention: up to three arguments; returns x0.
static inline uint64_t cpu_hypervisor_call(uint64_t function, uint64_t a1, uint64_t a2, uint64_t a3)
{
    register uint64_t x0 __asm__("x0") = function;
    register uint64_t x1 __asm__("x1") = a1;
    register uint64_t x2 __asm__("x2") = a2;
    register uint64_t x3 __asm__("x3") = a3;
    __asm__ volatile("hvc #0"
                     : "+r"(x0), "+r"(x1), "+r"(x2), "+r"(x3)
                     :
                     : "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15", "x16",
                       "x17", "memory");
    return x0;
}

// A call with all registers of arguments and results, x0 to x17.
#define CALL_REGISTERS 18

static inline void cpu_hypervisor_call_all(uint64_t x[CALL_REGISTERS])
{
    __asm__ volatile("ldp x0, x1, [%0]\n\t"
                     "ldp x2, x3, [%0, #16]\n\t"
                     "ldp x4, x5, [%0, #32]\n\t"
                     "ldp x6, x7, [%0, #48]\n\t"
                     "ldp x8, x9, [%0, #64]\n\t"
                     "ldp x10, x11, [%0, #80]\n\t"
                     "ldp x12, x13, [%0, #96]\n\t"
                     "ldp x14, x15, [%0, #112]\n\t"
                     "ldp x16, x17, [%0, #128]\n\t"
                     "hvc #0\n\t"
                     "stp x0, x1, [%0]\n\t"
                     "stp x2, x3, [%0, #16]\n\t"
                     "stp x4, x5, [%0, #32]\n\t"
                     "stp x6, x7, [%0, #48]\n\t"
                     "stp x8, x9, [%0, #64]\n\t"
                     "stp x10, x11, [%0, #80]\n\t"
                     "stp x12, x13, [%0, #96]\n\t"
                     "stp x14, x15, [%0, #112]\n\t"
                     "stp x16, x17, [%0, #128]"
                     :
                     : "r"(x)
                     : "x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13",
                       "x14", "x15", "x16", "x17", "memory");
}

// A call to firmware: up to three arguments; returns x0.
static inline uint64_t cpu_firmware_call(uint64_t function, uint64_t a1, uint64_t a2, uint64_t a3)
{
    register uint64_t x0 __asm__("x0") = function;
    register uint64_t x1 __asm__("x1") = a1;
    register uint64_t x2 __asm__("x2") = a2;
    register uint64_t x3 __asm__("x3") = a3;
    __asm__ volatile("smc #0"
                     : "+r"(x0), "+r"(x1), "+r"(x2), "+r"(x3)
                     :
                     : "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15", "x16",
                       "x17", "memory");
    return x0;
}

#endif
