// SPDX-License-Identifier: Apache-2.0
//
// What `paths` measures, to the instruction: each probe reads the counter, does one thing and reads the
// counter again (path_probes.h). Interrupts and exceptions are timed by the first instruction of the vectors
// here, which then resume the probe behind its wait, with interrupts masked. Only probes run on these vectors.

// x9: before; x10: after; x12: where the vectors resume.

    .macro stamp to
    isb                                 // not before what precedes
    mrs     \to, cntvct_el0
    .endm

// Waits for an interrupt, as the probe says: the vector goes on at the label 2 of the caller.
    .macro open_interrupts
    adr     x12, 2f
    msr     daifclr, #2
    isb
    .endm

// What software-generated interrupts are sent with: ICC_SGI1R_EL1 where x1 is 0, else the register at x1.
    .macro send_register
    msr     s3_0_c12_c11_5, x0
    .endm
    .macro send_store
    str     w0, [x1]
    .endm

    .text
    .balign 0x800
    .global probe_vectors
probe_vectors:
    .irp number, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
    .balign 0x80
    .if \number == 4 || \number == 5    // synchronous exception, IRQ: of EL1 with its own stack pointer
    mrs     x10, cntvct_el0
    msr     elr_el1, x12
    mrs     x11, spsr_el1
    orr     x11, x11, #0x80             // I
    msr     spsr_el1, x11
    eret
    .else
    b       .                           // nothing else is expected; the run ends by its time limit
    .endif
    .endr

    .global probe_nothing
probe_nothing:
    stamp   x9
    stamp   x10
    sub     x0, x10, x9
    ret

// x0 turns of two instructions each.
    .global probe_loop
probe_loop:
    stamp   x9
1:  subs    x0, x0, #1
    b.ne    1b
    stamp   x10
    sub     x0, x10, x9
    ret

// What an interrupt's probe counts although it does nothing: the first read itself.
    .global probe_nothing_interrupted
probe_nothing_interrupted:
    mrs     x9, cntvct_el0
    mrs     x10, cntvct_el0
    sub     x0, x10, x9
    ret

    .macro call_probe instruction
    stp     x19, x30, [sp, #-16]!
    stamp   x19
    \instruction #0
    stamp   x10
    sub     x0, x10, x19
    ldp     x19, x30, [sp], #16
    ret
    .endm

    .global probe_hvc
probe_hvc:
    call_probe hvc

    .global probe_smc
probe_smc:
    call_probe smc

    .global probe_load
probe_load:
    stamp   x9
    ldr     w1, [x0]
    stamp   x10
    sub     x0, x10, x9
    ret

    .global probe_store
probe_store:
    stamp   x9
    str     w1, [x0]
    stamp   x10
    sub     x0, x10, x9
    ret

    .global probe_id_register
probe_id_register:
    stamp   x9
    mrs     x1, id_aa64mmfr0_el1
    stamp   x10
    sub     x0, x10, x9
    ret

// The address in x0 is as TLBI wants it.
    .global probe_invalidate_translation
probe_invalidate_translation:
    stamp   x9
    tlbi    vae1is, x0
    stamp   x10
    sub     x0, x10, x9
    ret

    .global probe_clean_line
probe_clean_line:
    stamp   x9
    dc      cvau, x0
    stamp   x10
    sub     x0, x10, x9
    ret

// The vector stands for what comes behind.
    .global probe_undefined_register
probe_undefined_register:
    adr     x12, 2f
    stamp   x9
    mrs     x1, pmccfiltr_el0
2:  sub     x0, x10, x9
    ret

    .macro send_probes name, send
    .global probe_\name\()_to_self
probe_\name\()_to_self:
    open_interrupts
    mrs     x9, cntvct_el0
    \send
1:  b       1b
2:  sub     x0, x10, x9
    ret

// To another VCPU, which sends one back: until the vector here. This one waits meanwhile, so that only the
// paths are counted.
    .global probe_\name\()_and_back
probe_\name\()_and_back:
    open_interrupts
    mrs     x9, cntvct_el0
    \send
1:  wfi
    b       1b
2:  sub     x0, x10, x9
    ret

// To another VCPU: this one waits at once, so that only the path is counted.
    .global probe_\name\()_and_wait
probe_\name\()_and_wait:
    mrs     x9, cntvct_el0
    \send
    wfi
    mov     x0, x9
    ret
    .endm

    send_probes register, send_register
    send_probes store, send_store

    .global probe_interrupt_busy
probe_interrupt_busy:
    open_interrupts
1:  b       1b
2:  mov     x0, x10
    ret

    .global probe_interrupt_asleep
probe_interrupt_asleep:
    open_interrupts
1:  wfi
    b       1b
2:  mov     x0, x10
    ret

    .global probe_reset
probe_reset:
    stamp   x9
    str     x9, [x1]
    dc      civac, x1                   // the next life reads it with its caches off or on
    dsb     sy
    hvc     #0
    ret
