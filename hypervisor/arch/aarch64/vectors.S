/* SPDX-License-Identifier: Apache-2.0
 *
 * Exception vectors of EL2. While a guest runs, SP_EL2 points to the space for its registers at the top of
 * the core's stack (struct guest_regs, vcpu.h); all other guest state stays in the core. Most exits are
 * handled by a short handler that saves only the registers that C functions may change. If it cannot complete
 * the exit, the remaining registers are saved for the full handler. Exceptions of EL2 itself are fatal:
 * interrupts stay masked at EL2.
 */

/* Registers that the procedure call standard lets a function change; x19 only completes the pair. */
    .macro save_volatile
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
    str     x30, [sp, #240]
    .endm

/* These registers still hold the guest's values, also after calls of C functions. */
    .macro save_rest
    stp     x19, x20, [sp, #152]
    stp     x21, x22, [sp, #168]
    stp     x23, x24, [sp, #184]
    stp     x25, x26, [sp, #200]
    stp     x27, x28, [sp, #216]
    str     x29, [sp, #232]
    .endm

    .macro enter_with_volatile
    ldp     x2, x3, [sp, #16]
    ldp     x4, x5, [sp, #32]
    ldp     x6, x7, [sp, #48]
    ldp     x8, x9, [sp, #64]
    ldp     x10, x11, [sp, #80]
    ldp     x12, x13, [sp, #96]
    ldp     x14, x15, [sp, #112]
    ldp     x16, x17, [sp, #128]
    ldr     x18, [sp, #144]
    ldr     x30, [sp, #240]
    ldp     x0, x1, [sp]
    eret
    dsb     nsh                     /* never executed: stops speculation beyond the return */
    isb
    .endm

/* `short` returns in bit 0 whether the guest may continue (the other bits of a bool are undefined). If not,
 * `whole` handles the rest of the exit. */
    .macro guest_vector short, whole
    .balign 128
    save_volatile
    mov     x0, sp
    bl      \short
    tbz     w0, #0, \whole\()_way
    enter_with_volatile
    .endm

    .macro serror_vector
    .balign 128
    save_volatile
    b       trap_serror_way
    .endm

/* For cores on which a guest could influence EL2's predictions: first clears the predictors as w0 says. */
    .macro hardened_vector next
    .balign 128
    save_volatile
    mrs     x1, TPIDR_EL2
    ldr     w0, [x1]                /* cpu->predictors.at_entry (branch_predictors.h) */
    b       \next
    .endm

    .macro forget
    tbnz    w0, #31, 3f
    tbnz    w0, #8, 4f
1:  b       2f                      /* each branch replaces an older one in the history */
2:  subs    w0, w0, #1
    b.ne    1b
    dsb     nsh
    isb
    b       5f
3:  smc     #0                      /* destroys x0 - x3 */
    b       5f
4:  hint    #22                     /* CLRBHB */
    isb
5:
    .endm

    .macro hardened_exit short, whole
    forget
    mov     x0, sp
    bl      \short
    tbz     w0, #0, \whole\()_way
    b       enter_from_short_way
    .endm

    .macro whole_way handler
\handler\()_way:
    save_rest
    mov     x0, sp
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

/* Fatal, unless arch_mpam_probe() tests whether its access is undefined. */
    .macro own_sync_vector kind
    .balign 128
    mrs     x1, ESR_EL2
    mrs     x2, ELR_EL2
    adr     x3, mpam_window
    cmp     x2, x3
    b.ne    1f
    lsr     x3, x1, #26             /* class 0 (unknown reason) is that of an undefined instruction */
    cbz     x3, mpam_undefined
1:  mov     x0, #\kind
    mrs     x3, FAR_EL2
    mov     x4, sp
    mov     x5, x30
    b       panic_enter
    .endm

/* An asynchronous abort at EL2: fatal, unless arch_take_serror() waits for it. */
    .macro own_serror_vector kind
    .balign 128
    mrs     x1, ELR_EL2
    adr     x2, serror_window
    sub     x2, x1, x2
    cmp     x2, #8                  /* in arch_take_serror(): one of two instructions, or the next */
    b.ls    serror_taken
    mov     x0, #\kind
    mrs     x1, ESR_EL2
    mrs     x2, ELR_EL2
    mrs     x3, FAR_EL2
    mov     x4, sp
    mov     x5, x30
    b       panic_enter
    .endm

    .section .vectors, "ax"
    .balign 2048
    .global vectors
vectors:
    fatal_vector 0                  /* current EL with SP_EL0: never used */
    fatal_vector 1
    fatal_vector 2
    fatal_vector 3
    own_sync_vector 4               /* current EL with SP_EL2 */
    fatal_vector 5
    fatal_vector 6
    own_serror_vector 7
    guest_vector trap_sync_short, trap_sync     /* lower EL, AArch64 */
    guest_vector trap_irq_short, trap_settle
    guest_vector trap_irq_short, trap_settle
    serror_vector
    guest_vector trap_sync_short, trap_sync     /* lower EL, AArch32 (EL0 of a guest) */
    guest_vector trap_irq_short, trap_settle
    guest_vector trap_irq_short, trap_settle
    serror_vector

/* Code that does not fit into the guests' vectors is placed in unused space of the fatal vectors. */
    .balign 2048
    .global vectors_hardened
vectors_hardened:
    fatal_vector 0
sync_hardened:
    hardened_exit trap_sync_short, trap_sync
    fatal_vector 1
irq_hardened:
    hardened_exit trap_irq_short, trap_settle
    fatal_vector 2
serror_hardened:
    forget
    b       trap_serror_way
    fatal_vector 3
    own_sync_vector 4
    fatal_vector 5
    fatal_vector 6
    own_serror_vector 7
    .rept   2
    hardened_vector sync_hardened
    hardened_vector irq_hardened
    hardened_vector irq_hardened
    hardened_vector serror_hardened
    .endr

    .section .text.vector_ways, "ax"
    whole_way trap_sync
    whole_way trap_settle
    whole_way trap_serror

/* bool arch_take_serror(void): completes the core's accesses first, so that their abort is pending. */
    .global arch_take_serror
arch_take_serror:
    mov     w0, #0
    dsb     sy
    msr     DAIFClr, #4
serror_window:
    isb
    nop
    msr     DAIFSet, #4
    ret

serror_taken:
    mov     w0, #1
    mrs     x1, SPSR_EL2
    orr     x1, x1, #0x100          /* PSTATE.A: take no second abort */
    msr     SPSR_EL2, x1
    eret
    dsb     nsh
    isb

/* bool arch_mpam_probe(void) */
    .global arch_mpam_probe
arch_mpam_probe:
    mov     w0, #1
mpam_window:
    mrs     x1, S3_4_C10_C5_0       /* MPAM2_EL2 */
    ret

mpam_undefined:
    mov     w0, #0
    add     x2, x2, #4
    msr     ELR_EL2, x2
    eret
    dsb     nsh
    isb

/* sp points to all of the guest's registers. */
    .global guest_enter
guest_enter:
    ldp     x19, x20, [sp, #152]
    ldp     x21, x22, [sp, #168]
    ldp     x23, x24, [sp, #184]
    ldp     x25, x26, [sp, #200]
    ldp     x27, x28, [sp, #216]
    ldr     x29, [sp, #232]
enter_from_short_way:
    enter_with_volatile

/* The stack may be the cause of the exception, so the report uses a separate stack. */
panic_enter:
    adrp    x7, panic_stack
    add     x7, x7, #4096
    mov     sp, x7
    bl      panic_exception         /* x0 - x5 as set above */
2:  wfe
    b       2b
