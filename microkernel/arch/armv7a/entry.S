/* SPDX-License-Identifier: Apache-2.0
 *
 * Exceptions of Armv7-A. While a thread runs, the kernel's stack pointer is at the end of the thread's saved
 * context: an exception stores the return address and status there, then all registers. The C handler returns
 * the thread that runs next.
 */
#include "arch_offsets.h"

#define MODE_SVC 0x13

    .syntax unified
    .arm

    .section .boot, "ax"
    .global arch_boot
    /* At physical addresses, with the MMU off. The boot loader has left the caches empty. */
arch_boot:
    cpsid   if, #MODE_SVC
    mrc     p15, 0, r0, c0, c0, 5
    tst     r0, #3
5:  wfene
    bne     5b                  /* only one core runs */
    ldr     r0, =arch_bss_start - KERNEL_ALIAS
    ldr     r1, =arch_bss_end - KERNEL_ALIAS
    mov     r2, #0
1:  cmp     r0, r1
    strlo   r2, [r0], #4
    blo     1b
    /* The kernel's table maps: this MiB at its physical address, until the jump; DRAM in the upper half;
     * devices. */
    ldr     r4, =arch_kernel_table - KERNEL_ALIAS
    ldr     r1, =SECTION_NORMAL
    ldr     r2, =0x00100000
    orr     r0, r1, r2
    str     r0, [r4, #4]
    orr     r0, r1, #SECTION_XN
    add     r3, r4, #0x2000     /* entry of KERNEL_ALIAS */
    mov     r5, #1024
2:  str     r0, [r3], #4
    add     r0, r0, r2
    subs    r5, r5, #1
    bne     2b
    add     r3, r4, #0x2000
    orr     r0, r1, r2
    str     r0, [r3, #4]        /* only the kernel's own MiB is executable */
    ldr     r1, =SECTION_DEVICE | SECTION_XN
    adr     r5, devices
3:  ldr     r2, [r5], #4
    cmp     r2, #0
    beq     4f
    orr     r0, r1, r2
    str     r0, [r4, r2, lsr #18]
    b       3b
4:  ldr     r2, =0xFFF00000     /* on-chip memory */
    ldr     r0, =SECTION_NORMAL | SECTION_XN
    orr     r0, r0, r2
    str     r0, [r4, r2, lsr #18]
    orr     r0, r4, #WALK_CACHED
    mcr     p15, 0, r0, c2, c0, 0
    mcr     p15, 0, r0, c2, c0, 1
    mov     r0, #1              /* TTBCR.N = 1: each table covers half */
    mcr     p15, 0, r0, c2, c0, 2
    mcr     p15, 0, r0, c3, c0, 0 /* domain 0: client, permissions of descriptors apply */
    mov     r0, #0
    mcr     p15, 0, r0, c8, c7, 0
    mcr     p15, 0, r0, c7, c5, 0
    dsb
    isb
    mrc     p15, 0, r0, c1, c0, 0
    ldr     r1, =0x1805         /* instruction cache, branch prediction, data cache, MMU */
    orr     r0, r0, r1
    bic     r0, r0, #0x2000     /* vector base from VBAR */
    mcr     p15, 0, r0, c1, c0, 0
    dsb
    isb
    ldr     pc, =arch_high
devices:
    .word   0xE0000000, 0xF8000000, 0xF8F00000, 0
    .pool

    .text
arch_high:
    ldr     sp, =arch_stack_end
    ldr     r0, =arch_kernel_table
    mov     r1, #0
    str     r1, [r0, #4]
    dsb
    mcr     p15, 0, r1, c8, c7, 0
    dsb
    isb
    bl      arch_main
    b       resume

    .global arch_vectors
    .align  5
arch_vectors:
    b       unexpected
    b       undefined
    b       system_call
    b       prefetch_abort
    b       data_abort
    b       unexpected
    b       interrupt
    b       unexpected

    /* r0 = the running thread, whose registers are saved. */
    .macro  enter adjust
    .if \adjust
    sub     lr, lr, #\adjust
    .endif
    srsdb   sp!, #MODE_SVC
    cps     #MODE_SVC
    push    {r0-r12}
    sub     sp, sp, #8
    stmia   sp, {sp, lr}^
    mov     r0, sp
    ldr     sp, =arch_stack_end
    .endm

    /* An exception of the kernel itself has no thread whose registers could be saved. */
    .macro  only_of_threads
    mrs     sp, spsr
    tst     sp, #0xF
    bne     unexpected
    .endm

system_call:
    enter   0
    bl      kernel_syscall
    b       resume

interrupt:
    enter   4
    bl      arch_interrupt
    b       resume

undefined:
    only_of_threads
    enter   4
    bl      arch_undefined
    b       resume

prefetch_abort:
    only_of_threads
    enter   4
    bl      arch_prefetch_abort
    b       resume

data_abort:
    only_of_threads
    enter   8
    bl      arch_data_abort
    /* fall through */

    /* Resumes the thread in r0. Loads the tables of its component if those of another one are loaded. */
resume:
    ldr     r3, =kernel
    ldr     r1, [r0, #THREAD_COMPONENT]
    ldr     r2, [r3, #KERNEL_LOADED]
    str     r0, [r3, #KERNEL_CURRENT]
    cmp     r1, r2
    beq     1f
    str     r1, [r3, #KERNEL_LOADED]
    ldr     r2, [r1, #SPACE_TTBR0]
    ldr     r1, [r1, #SPACE_ASID]
    mov     r3, #0              /* an unused ASID, until table and ASID belong together again */
    mcr     p15, 0, r3, c13, c0, 1
    isb
    mcr     p15, 0, r2, c2, c0, 0
    isb
    mcr     p15, 0, r1, c13, c0, 1
    isb
1:  clrex
    ldmia   r0, {sp, lr}^
    add     sp, r0, #8
    pop     {r0-r12}
    rfeia   sp!

unexpected:
    cps     #MODE_SVC
    ldr     sp, =arch_stack_end
    bl      arch_unexpected
    .pool

    .section .bss.tables, "aw", %nobits
    .global arch_kernel_table
    .align  14
arch_kernel_table:
    .space  0x4000
