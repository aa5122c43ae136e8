// SPDX-License-Identifier: Apache-2.0
//
// The single instructions that the program `breakout` tries, each a leaf function: x0 is an address, x1 a value,
// the answer is in x0. If the instruction faults, the program's exception hook lets it go on behind it, so
// nothing here may need the stack or what the instruction should have done.

    .macro probe name, instruction:vararg
    .balign 16
    .global probe_\name
probe_\name:
    \instruction
    ret
    .endm

    .text
    .balign 16
    .global probes_start
probes_start:
    probe load8, ldrb w0, [x0]
    probe load16, ldrh w0, [x0]
    probe load32, ldr w0, [x0]
    probe load64, ldr x0, [x0]
    probe store8, strb w1, [x0]
    probe store16, strh w1, [x0]
    probe store32, str w1, [x0]
    probe store64, str x1, [x0]
    probe load_pair, ldp x0, x1, [x0]
    probe store_pair, stp x1, x1, [x0]
    probe load_write_back, ldr w1, [x0], #4
    probe store_write_back, str w1, [x0], #4
    probe load_exclusive, ldaxr w0, [x0]
    probe load_acquire, ldar w0, [x0]
    probe store_release, stlr w1, [x0]
    probe store_unprivileged, sttr w1, [x0]
    probe atomic_add, .inst 0xB8210001          // ldadd w1, w1, [x0]
    probe atomic_swap, .inst 0xF8A18001         // swpa x1, x1, [x0]
    probe clean_line, dc civac, x0
    probe invalidate_line, dc ivac, x0
    probe zero_line, dc zva, x0
    probe invalidate_code, ic ivau, x0
    probe prefetch_load, prfm pldl1keep, [x0]
    probe prefetch_store, prfm pstl1strm, [x0]

// The translation that the own tables give: PAR_EL1.
    .balign 16
    .global probe_translate
probe_translate:
    at      s1e1r, x0
    isb
    mrs     x0, par_el1
    ret

// A load and store exclusive, as a lock does it.
    .balign 16
    .global probe_exclusive_pair
probe_exclusive_pair:
    ldxr    w2, [x0]
    stxr    w3, w1, [x0]
    mov     x0, x2
    ret
    .global probes_end
probes_end:

// uint64_t probe_call(uint64_t address): jumps there; the hook comes back to the caller.
    .balign 16
    .global probe_call
probe_call:
    stp     x29, x30, [sp, #-16]!
    blr     x0
    ldp     x29, x30, [sp], #16
    ret

// void probe_run(const uint32_t *code, void *answers, const void *values): executes a buffer that ends in `br x12`
// and may change any register but x1, x2, x12 and those that a function must keep.
    .balign 16
    .global probe_run
probe_run:
    stp     x29, x30, [sp, #-16]!
    adr     x12, 1f
    br      x0
1:  ldp     x29, x30, [sp], #16
    ret

// uint64_t probe_walk(uint64_t table): lets the table walker go to `table` for a moment: TTBR1 is turned on, and an
// address of its half is read.
    .balign 16
    .global probe_walk
probe_walk:
    mrs     x2, tcr_el1
    bic     x3, x2, #(1 << 23)                  // EPD1 off
    mov     x4, #25
    bfi     x3, x4, #16, #6                     // T1SZ: 39 bits
    mov     x4, #2
    bfi     x3, x4, #30, #2                     // TG1: 4 KiB
    msr     ttbr1_el1, x0
    msr     tcr_el1, x3
    isb
    mov     x0, #0xFFFFFFFFFFFFF000
    ldr     x0, [x0]                            // the hook goes on behind it
    .global probe_walk_end
probe_walk_end:
    msr     tcr_el1, x2
    msr     ttbr1_el1, xzr
    isb
    tlbi    vmalle1
    dsb     nsh
    isb
    ret

// uint64_t probe_return_to(uint64_t spsr): an exception return to the next instruction with that PSTATE. An illegal
// one leaves the level as it is and sets PSTATE.IL, and the hook goes on at probe_returned.
    .balign 16
    .global probe_return_to
probe_return_to:
    adr     x1, probe_returned
    msr     elr_el1, x1
    msr     spsr_el1, x0
    isb
    eret
    .global probe_returned
probe_returned:
    mrs     x0, currentel
    ret

// void probe_make_visible(uint64_t start, uint64_t bytes): what was stored can be executed.
    .balign 16
    .global probe_make_visible
probe_make_visible:
    add     x1, x0, x1
    mov     x2, x0
1:  dc      cvau, x2
    add     x2, x2, #16
    cmp     x2, x1
    b.lo    1b
    dsb     ish
2:  ic      ivau, x0
    add     x0, x0, #16
    cmp     x0, x1
    b.lo    2b
    dsb     ish
    isb
    ret

// Maintenance that reaches further than the own core.
    .balign 16
    .global probe_broadcast
probe_broadcast:
    tlbi    vmalle1is
    ic      ialluis
    dsb     ish
    isb
    ret
