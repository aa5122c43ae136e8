@ SPDX-License-Identifier: Apache-2.0
@ What the streams of random_streams.cpp execute in: each case has a record of the flags, r0 to
@ r12 and r14 before it, and of r0 to r12, r14 and the flags behind it; at the end the program writes the records and the buffer that loads and stores went to.
    .syntax unified
    .arch armv7ve
    .bss
    .balign 8
buffer:
    .space 32768
buffer_middle:
    .space 32768
buffer_end:

@ sp is at the case's record.
    .macro begin_case
    ldr r0, [sp]
    msr APSR_nzcvqg, r0
    add sp, sp, #4
    clrex
    ldm sp!, {r0-r12, lr}
    .endm

    .macro end_case
    stm sp, {r0-r12, lr}
    mrs r0, apsr
    str r0, [sp, #56]
    add sp, sp, #60
    .endm

    .text
    .global _start
    .type _start, %function
    .ifdef in_t32
    .thumb
    .thumb_func
    .else
    .arm
    .endif
    .space 8192
_start:
@ A buffer of bytes that differ: n * 0x9E3779B1.
    movw r0, #:lower16:buffer
    movt r0, #:upper16:buffer
    movw r1, #:lower16:0x9E3779B1
    movt r1, #:upper16:0x9E3779B1
    mov r2, #0
    mov r3, #16384
1:  add r2, r2, r1
    str r2, [r0], #4
    subs r3, r3, #1
    bne 1b
    movw r0, #:lower16:records
    movt r0, #:upper16:records
    mov sp, r0
    .include "cases.S"
    .text
    movw r1, #:lower16:records
    movt r1, #:upper16:records
    movw r2, #:lower16:buffer_end
    movt r2, #:upper16:buffer_end
    sub r2, r2, r1
    mov r0, #1
    mov r7, #4
    svc #0
    mov r0, #0
    mov r7, #1
    svc #0
    .space 8192
