/* SPDX-License-Identifier: Apache-2.0
 *
 * Exceptions of Armv7-M. Threads run unprivileged on the process stack, the kernel in handlers on the main
 * stack. A refill of a dynamic region changes no register that the kernel has to save; every other exception
 * saves r4 to r11 in the running thread, calls C, and resumes the thread that C returns.
 */
#include "arch_offsets.h"

    .syntax unified
    .thumb

    .section .vectors, "a"
    .word   arch_stack_end
    .word   arch_reset
    .word   unexpected          /* NMI */
    .word   unexpected          /* HardFault */
    .word   memory_fault        /* MemManage */
    .word   other_fault         /* BusFault */
    .word   other_fault         /* UsageFault */
    .word   0, 0, 0, 0
    .word   system_call         /* SVCall */
    .word   unexpected
    .word   0
    .word   first_thread        /* PendSV */
    .word   tick                /* SysTick */

    .text
    /* r0 = the running thread, whose registers are saved. */
    .macro  save
    ldr     r3, =kernel
    ldr     r0, [r3, #KERNEL_CURRENT]
    mrs     r1, psp
    stmia   r0, {r1, r4-r11}
    .endm

    .thumb_func
system_call:
    save
    bl      kernel_syscall
    b       resume

    .thumb_func
tick:
    save
    bl      kernel_tick
    b       resume

    .thumb_func
other_fault:
    mov     r2, lr
    save
    mov     r1, r2
    bl      arch_other_fault
    b       resume

    .thumb_func
first_thread:
    movs    r0, #1              /* CONTROL: threads are unprivileged */
    msr     control, r0
    ldr     r3, =kernel
    ldr     r0, [r3, #KERNEL_CURRENT]
    /* fall through */

    /* Resumes the thread in r0. Loads the regions of its component if those of another one are loaded. */
resume:
    ldr     r3, =kernel
    ldr     r1, [r0, #THREAD_COMPONENT]
    ldr     r2, [r3, #KERNEL_LOADED]
    str     r0, [r3, #KERNEL_CURRENT]
    cmp     r1, r2
    beq     1f
    str     r1, [r3, #KERNEL_LOADED]
    ldr     r12, =MPU_RBAR      /* writes four pairs: RBAR and RASR, and their aliases */
    ldmia   r1!, {r4-r11}
    stmia   r12, {r4-r11}
    ldmia   r1, {r4-r11}
    stmia   r12, {r4-r11}
    dsb
1:
    ldmia   r0, {r1, r4-r11}
    msr     psp, r1
    mvn     lr, #2              /* EXC_RETURN 0xFFFFFFFD: return to a thread, process stack */
    bx      lr

    /* MemManage: loads the region that the access needs, and returns to the instruction. The handler and the
     * functions that it calls each begin at a cache line (../../board/armv7m.cmake): the bound of a refill
     * (src/bulkhead/bounds/) counts cache lines, whose number must not depend on the size of other code. */
    .balign 32
    .thumb_func
memory_fault:
    tst     lr, #4
    beq     unexpected
    push    {r4, lr}
    ldr     r4, =SCB_CFSR
    ldr     r0, =kernel
    ldrb    r3, [r4]
    ldr     r0, [r0, #KERNEL_CURRENT]
    mrs     r12, psp
    ldr     r0, [r0, #THREAD_COMPONENT]
    cmp     r3, #MMFSR_DATA
    bne     2f
    ldr     r3, [r12, #FRAME_PC]
    ldr     r2, [r4, #CFSR_TO_MMFAR]
    add     r1, r0, #COMPONENT_TRIE
    bl      mxu_regions_refill
3:  cbz     r0, violation
    ldrd    r0, r1, [r0]
    strd    r0, r1, [r4, #CFSR_TO_MPU_RBAR]
    movs    r0, #0xFF           /* MMFSR bits: write 1 to clear */
    strb    r0, [r4]
    dsb
    pop     {r4, pc}
2:  cmp     r3, #MMFSR_FETCH
    bne     violation
    ldr     r2, [r12, #FRAME_PC]
    add     r1, r0, #COMPONENT_TRIE
    bl      mxu_regions_refill_fetch
    b       3b
violation:
    pop     {r4, lr}
    save
    bl      arch_memory_fault
    b       resume

    .thumb_func
unexpected:
    bl      arch_unexpected

    .global arch_reset
    .thumb_func
arch_reset:
    ldr     r0, =arch_bss_start
    ldr     r1, =arch_bss_end
    movs    r2, #0
4:  cmp     r0, r1
    bhs     5f
    str     r2, [r0], #4
    b       4b
5:  bl      arch_main
    b       .
    .pool
