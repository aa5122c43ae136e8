/* SPDX-License-Identifier: Apache-2.0
 * The switch between two stacks on an x86-64 host (System V calling convention); machine/fiber.cpp says what
 * each function does. It leaves by `ret`, so that the processor's return predictor stays in step. Floating
 * point control words are not switched: no program of the machine changes them. */
    .text

    .globl  bulkhead_fiber_switch
    .type   bulkhead_fiber_switch, @function
bulkhead_fiber_switch:              /* rdi: void **from, rsi: void *to */
    pushq   %rbp
    pushq   %rbx
    pushq   %r12
    pushq   %r13
    pushq   %r14
    pushq   %r15
    movq    %rsp, (%rdi)
    movq    %rsi, %rsp
    popq    %r15
    popq    %r14
    popq    %r13
    popq    %r12
    popq    %rbx
    popq    %rbp
    ret
    .size   bulkhead_fiber_switch, . - bulkhead_fiber_switch

    .globl  bulkhead_fiber_start
    .hidden bulkhead_fiber_start
    .type   bulkhead_fiber_start, @function
bulkhead_fiber_start:               /* r12: argument, r13: function; the stack is aligned */
    movq    %r12, %rdi
    xorl    %ebp, %ebp
    callq   *%r13
    ud2
    .size   bulkhead_fiber_start, . - bulkhead_fiber_start

    .globl  bulkhead_fiber_prepare
    .type   bulkhead_fiber_prepare, @function
bulkhead_fiber_prepare:             /* rdi: top, rsi: function, rdx: argument; returns the stack pointer */
    leaq    -72(%rdi), %rax
    movq    $0, 0(%rax)             /* r15 */
    movq    $0, 8(%rax)             /* r14 */
    movq    %rsi, 16(%rax)          /* r13 */
    movq    %rdx, 24(%rax)          /* r12 */
    movq    $0, 32(%rax)            /* rbx */
    movq    $0, 40(%rax)            /* rbp */
    leaq    bulkhead_fiber_start(%rip), %rcx
    movq    %rcx, 48(%rax)
    movq    $0, 56(%rax)
    ret
    .size   bulkhead_fiber_prepare, . - bulkhead_fiber_prepare

    .section .note.GNU-stack, "", @progbits
