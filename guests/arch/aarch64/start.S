// SPDX-License-Identifier: Apache-2.0
//
// First instructions of a guest, on its first VCPU and on those that PSCI starts later, and the switch to
// virtual memory. Everything here runs with the MMU off and must not touch a stack before it has one; the
// rest of the start is C (runtime/start.c).

#define STACK_BYTES_LOG2 14 // matches stack_bytes in guest.ld

    .section .text.start, "ax"

// x0: device tree, or 0.
    .global _start
_start:
    mrs     x20, cntvct_el0             // for programs that measure how they were started
    msr     daifset, #0xf
    mov     x19, x0
    adrp    x1, vectors
    add     x1, x1, :lo12:vectors
    msr     vbar_el1, x1
    msr     tpidr_el1, xzr
    adrp    x1, bss_start
    add     x1, x1, :lo12:bss_start
    adrp    x2, bss_end
    add     x2, x2, :lo12:bss_end
1:  cmp     x1, x2
    b.hs    2f
    stp     xzr, xzr, [x1], #16
    b       1b
2:  adrp    x1, stacks
    add     x1, x1, :lo12:stacks
    add     sp, x1, #(1 << STACK_BYTES_LOG2)
    isb
    mov     x0, x19
    mov     x1, x20
    bl      start_first
1:  wfi
    b       1b

// x0: index of this VCPU, 1 or more; smp.c gives it to CPU_ON.
    .global start_secondary_entry
start_secondary_entry:
    msr     daifset, #0xf
    mov     x19, x0
    adrp    x1, vectors
    add     x1, x1, :lo12:vectors
    msr     vbar_el1, x1
    msr     tpidr_el1, x19
    adrp    x1, stacks
    add     x1, x1, :lo12:stacks
    add     x2, x19, #1
    add     x1, x1, x2, lsl #STACK_BYTES_LOG2
    mov     sp, x1
    isb
    bl      mmu_enable
    mov     x0, x19
    bl      start_secondary
1:  wfi
    b       1b

// void mmu_enable(void): turns on translation by `mmu_level1` and the caches. Leaf, uses no stack, so that no
// memory is written with the caches off that may be cached already.
    .global mmu_enable
mmu_enable:
    mov     x1, #0xff04                 // attribute 0: Device-nGnRE; 1: Normal, write-back, allocating
    movk    x1, #0x0044, lsl #16        // 2: Normal, non-cacheable
    msr     mair_el1, x1
    mov     x1, #0x3519                 // T0SZ 25 (39 bits), inner and outer write-back, inner shareable, 4 KiB
    movk    x1, #0x0080, lsl #16        // EPD1: no upper half
    mrs     x2, id_aa64mmfr0_el1
    and     x2, x2, #0xf
    mov     x3, #5                      // at most 48 bits of physical address
    cmp     x2, x3
    csel    x2, x2, x3, ls
    orr     x1, x1, x2, lsl #32         // IPS
    msr     tcr_el1, x1
    adrp    x1, mmu_level1
    add     x1, x1, :lo12:mmu_level1
    msr     ttbr0_el1, x1
    tlbi    vmalle1
    ic      iallu
    dsb     sy
    isb
    mov     x1, #0x180d                 // RES1 11, I, stack alignment check, C, M
    movk    x1, #0x30d5, lsl #16        // RES1 28, 29, 22, 23, 20; WFE and WFI not trapped
    msr     sctlr_el1, x1
    isb
    ret
