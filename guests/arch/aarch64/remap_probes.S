// SPDX-License-Identifier: Apache-2.0
//
// The instructions of arch/remap_probes.h, each a function of its own.
    .arch   armv8.4-a                   // ranges and outer shareable forms; called only where the core has them
    .text

    .macro invalidate name, operand
    .global remap_\name
remap_\name:
    dsb     ish                         // what was written to the tables is seen by their walks
    .ifb \operand
    tlbi    \name
    .else
    tlbi    \name, \operand
    .endif
    dsb     ish
    isb
    ret
    .endm

    .macro form name, operand
    invalidate \name, \operand
    invalidate \name\()is, \operand
    invalidate \name\()os, \operand
    .endm

    form    vmalle1
    .irp    name, vae1, aside1, vaae1, vale1, vaale1, rvae1, rvaae1, rvale1, rvaale1
    form    \name, x0
    .endr

    .global remap_load, remap_load_at
remap_load:
remap_load_at:
    ldr     x0, [x0]
    ret

    .global remap_clean, remap_clean_at
remap_clean:
    mov     x1, x0
    mov     x0, #0
remap_clean_at:
    dc      cvau, x1
    dsb     ish
    ret

    .global remap_forget_line
remap_forget_line:
    ic      ivau, x0
    dsb     ish
    isb
    ret

    .global remap_forget_all
remap_forget_all:
    ic      iallu
    dsb     ish
    isb
    ret

    .global remap_forget_everywhere
remap_forget_everywhere:
    ic      ialluis
    dsb     ish
    isb
    ret
