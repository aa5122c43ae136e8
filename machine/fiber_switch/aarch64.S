/* SPDX-License-Identifier: Apache-2.0
 * The switch between two stacks on an AArch64 host (AAPCS64); machine/fiber.cpp says what each function does.
 * Callee-saved: x19 to x30 and the lower halves of v8 to v15. */
    .text

    .globl  bulkhead_fiber_switch
    .type   bulkhead_fiber_switch, %function
bulkhead_fiber_switch:              /* x0: void **from, x1: void *to */
    stp     x19, x20, [sp, #-160]!
    stp     x21, x22, [sp, #16]
    stp     x23, x24, [sp, #32]
    stp     x25, x26, [sp, #48]
    stp     x27, x28, [sp, #64]
    stp     x29, x30, [sp, #80]
    stp     d8, d9, [sp, #96]
    stp     d10, d11, [sp, #112]
    stp     d12, d13, [sp, #128]
    stp     d14, d15, [sp, #144]
    mov     x2, sp
    str     x2, [x0]
    mov     sp, x1
    ldp     x21, x22, [sp, #16]
    ldp     x23, x24, [sp, #32]
    ldp     x25, x26, [sp, #48]
    ldp     x27, x28, [sp, #64]
    ldp     x29, x30, [sp, #80]
    ldp     d8, d9, [sp, #96]
    ldp     d10, d11, [sp, #112]
    ldp     d12, d13, [sp, #128]
    ldp     d14, d15, [sp, #144]
    ldp     x19, x20, [sp], #160
    ret
    .size   bulkhead_fiber_switch, . - bulkhead_fiber_switch

    .globl  bulkhead_fiber_start
    .type   bulkhead_fiber_start, %function
bulkhead_fiber_start:               /* x19: argument, x20: function */
    mov     x0, x19
    mov     x29, #0
    mov     x30, #0
    blr     x20
    brk     #1
    .size   bulkhead_fiber_start, . - bulkhead_fiber_start

    .globl  bulkhead_fiber_prepare
    .type   bulkhead_fiber_prepare, %function
bulkhead_fiber_prepare:             /* x0: top, x1: function, x2: argument; returns the stack pointer */
    sub     x0, x0, #160
    mov     x4, x0
    mov     x5, #10
1:  stp     xzr, xzr, [x4], #16
    subs    x5, x5, #1
    b.ne    1b
    stp     x2, x1, [x0]            /* x19, x20 */
    adrp    x3, bulkhead_fiber_start
    add     x3, x3, :lo12:bulkhead_fiber_start
    str     x3, [x0, #88]           /* x30 */
    ret
    .size   bulkhead_fiber_prepare, . - bulkhead_fiber_prepare

    .section .note.GNU-stack, "", %progbits
