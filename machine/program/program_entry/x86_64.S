/* SPDX-License-Identifier: Apache-2.0
 * Ways into and out of instrumented code on an x86-64 host (System V calling convention): calling it on a stack
 * of its own and leaving it for good, the calls of a basic block whose budget is spent or that must be fetched, and where the signal
 * handler of faults.cpp sends a program whose access failed. Called by callbacks and faults.cpp only. */
    .text

    .globl  bulkhead_program_call
    .type   bulkhead_program_call, @function
bulkhead_program_call:      /* rdi: function, rsi, rdx: its arguments, rcx: its stack's top, r8: void **left */
    pushq   %rbp
    pushq   %rbx
    pushq   %r12
    pushq   %r13
    pushq   %r14
    pushq   %r15
    movq    %rsp, (%r8)
    movq    %rsp, %rbx
    movq    %rdi, %rax
    movq    %rsi, %rdi
    movq    %rdx, %rsi
    movq    %rcx, %rsp
    andq    $-16, %rsp
    xorl    %ebp, %ebp
    callq   *%rax
    movq    %rbx, %rsp
.Lleave:
    popq    %r15
    popq    %r14
    popq    %r13
    popq    %r12
    popq    %rbx
    popq    %rbp
    ret
    .size   bulkhead_program_call, . - bulkhead_program_call

    .globl  bulkhead_program_leave
    .type   bulkhead_program_leave, @function
bulkhead_program_leave:     /* rdi: left, rsi: value */
    movq    %rdi, %rsp
    movq    %rsi, %rax
    jmp     .Lleave
    .size   bulkhead_program_leave, . - bulkhead_program_leave

    /* Everything but flags, which are free where blocks are charged (or saved there). */
    .macro  save_all
    pushq   %rbp
    movq    %rsp, %rbp
    pushq   %rax
    pushq   %rcx
    pushq   %rdx
    pushq   %rsi
    pushq   %rdi
    pushq   %r8
    pushq   %r9
    pushq   %r10
    pushq   %r11
    subq    $512, %rsp
    andq    $-16, %rsp
    fxsave64 (%rsp)
    .endm
    .macro  restore_all
    fxrstor64 (%rsp)
    movq    -72(%rbp), %r11
    movq    -64(%rbp), %r10
    movq    -56(%rbp), %r9
    movq    -48(%rbp), %r8
    movq    -40(%rbp), %rdi
    movq    -32(%rbp), %rsi
    movq    -24(%rbp), %rdx
    movq    -16(%rbp), %rcx
    movq    -8(%rbp), %rax
    leave
    .endm

    .globl  machine_program_spent
    .type   machine_program_spent, @function
machine_program_spent:
    save_all
    call    machine_budget_spent@PLT
    restore_all
    ret
    .size   machine_program_spent, . - machine_program_spent

    .globl  machine_program_fetch
    .type   machine_program_fetch, @function
machine_program_fetch:      /* r10: the block's word */
    save_all
    movq    %r10, %rdi
    call    machine_fetch@PLT
    restore_all
    ret
    .size   machine_program_fetch, . - machine_program_fetch

    /* The handler pushed the address of the instruction to try again, as a call would have. */
    .globl  bulkhead_program_trap
    .type   bulkhead_program_trap, @function
bulkhead_program_trap:
    pushfq
    save_all
    cld
    movq    16(%rbp), %rdi
    call    bulkhead_program_trapped@PLT
    restore_all
    popfq
    ret
    .size   bulkhead_program_trap, . - bulkhead_program_trap

    .section .note.GNU-stack, "", @progbits
