/* SPDX-License-Identifier: Apache-2.0
 *
 * Exception vectors of EL2. A trap of a guest saves all of its general registers at the top of the core's stack
 * (struct guest_regs, vcpu.h: 256 bytes), calls C and returns; everything else of the guest stays in the
 * core. Exceptions of EL2 itself are fatal: interrupts stay masked there, the idle loop polls.
 */

    .macro save_guest
    sub     sp, sp, #256
    stp     x0, x1, [sp]
    stp     x2, x3, [sp, #16]
    stp     x4, x5, [sp, #32]
    stp     x6, x7, [sp, #48]
    stp     x8, x9, [sp, #64]
    stp     x10, x11, [sp, #80]
    stp     x12, x13, [sp, #96]
    stp     x14, x15, [sp, #112]
    stp     x16, x17, [sp, #128]
    stp     x18, x19, [sp, #144]
    stp     x20, x21, [sp, #160]
    stp     x22, x23, [sp, #176]
    stp     x24, x25, [sp, #192]
    stp     x26, x27, [sp, #208]
    stp     x28, x29, [sp, #224]
    str     x30, [sp, #240]
    mov     x0, sp
    .endm

    .macro guest_vector handler
    .balign 128
    save_guest
    bl      \handler
    b       guest_enter
    .endm

    .macro fatal_vector kind
    .balign 128
    mov     x0, #\kind
    mrs     x1, ESR_EL2
    mrs     x2, ELR_EL2
    mrs     x3, FAR_EL2
    mov     x4, sp
    mov     x5, x30
    b       panic_enter
    .endm

    .text
    .balign 2048
    .global vectors
vectors:
    fatal_vector 0                  /* current EL with SP_EL0: never used */
    fatal_vector 1
    fatal_vector 2
    fatal_vector 3
    fatal_vector 4                  /* current EL with SP_EL2 */
    fatal_vector 5
    fatal_vector 6
    fatal_vector 7
    guest_vector trap_sync          /* lower EL, AArch64 */
    guest_vector trap_irq
    guest_vector trap_irq
    guest_vector trap_serror
    guest_vector trap_sync          /* lower EL, AArch32 (EL0 of a guest) */
    guest_vector trap_irq
    guest_vector trap_irq
    guest_vector trap_serror

/* sp points at the guest's registers. */
    .global guest_enter
guest_enter:
    ldp     x2, x3, [sp, #16]
    ldp     x4, x5, [sp, #32]
    ldp     x6, x7, [sp, #48]
    ldp     x8, x9, [sp, #64]
    ldp     x10, x11, [sp, #80]
    ldp     x12, x13, [sp, #96]
    ldp     x14, x15, [sp, #112]
    ldp     x16, x17, [sp, #128]
    ldp     x18, x19, [sp, #144]
    ldp     x20, x21, [sp, #160]
    ldp     x22, x23, [sp, #176]
    ldp     x24, x25, [sp, #192]
    ldp     x26, x27, [sp, #208]
    ldp     x28, x29, [sp, #224]
    ldr     x30, [sp, #240]
    ldp     x0, x1, [sp]
    add     sp, sp, #256
    eret

/* The stack may be what is broken: the report is made on one of its own. */
panic_enter:
    adrp    x7, panic_stack
    add     x7, x7, #4096
    mov     sp, x7
    bl      panic_exception         /* x0 - x5 as set above */
2:  wfe
    b       2b
