/* SPDX-License-Identifier: Apache-2.0
 *
 * Entry points: the image's first instruction, the trampoline from physical to virtual addresses, and the
 * first instruction there. The code uses the layouts of struct image_header (image.h) and struct
 * trampoline_values (trampoline.h).
 */

#define STACK_SHIFT 13 /* guard page and stack page: cpu_stacks in the linker script */

/* SCTLR_EL2: RES1 bits, everything off. Not loaded from a literal: until this write, data accesses may be
 * big-endian. */
    .macro sctlr_off scratch
    mov     \scratch, #0x0830
    movk    \scratch, #0x30C5, lsl #16
    msr     SCTLR_EL2, \scratch
    .endm

    .section .head, "ax"
    .global image_header
image_header:
    b       primary_entry
    .word   0
    .quad   0                       /* text_offset: any */
    .quad   image_end - image_header
    .quad   0xA                     /* flags: little-endian, 4 KiB pages, at any address */
    .quad   0, 0, 0
    .ascii  "ARM\x64"
    .word   0
    .word   0x504B4842              /* package descriptor: patched by the builder */
    .word   1
    .quad   0, 0, 0

/* The first core, with the MMU off, wherever the package was loaded. In the protocol of the Image header, x0
 * is the address of the device tree and x1 - x3 are zero; with a loader that does not follow this protocol
 * their values are arbitrary. */
    .section .text.start, "ax"
primary_entry:
    orr     x1, x1, x2
    orr     x1, x1, x3
    cmp     x1, #0
    csel    x19, x0, xzr, eq        /* device tree, or none */
    msr     DAIFSet, #15
    adrp    x0, cpu_stacks
    add     x0, x0, #(1 << STACK_SHIFT)
    mov     sp, x0
    mrs     x0, CurrentEL
    cmp     x0, #(2 << 2)
    b.ne    boot_wrong_level
    mov     x0, #(1 << 31)          /* HCR_EL2: EL1 is AArch64; E2H, which renames registers, is off */
    msr     HCR_EL2, x0
    sctlr_off x0
    adrp    x0, vectors             /* an access to absent memory or an absent device is reported */
    add     x0, x0, :lo12:vectors
    msr     VBAR_EL2, x0
    isb
    adrp    x0, image_header
    mov     x1, x19
    bl      boot_prepare            /* x0: physical address of the trampoline */
    mov     x1, x0
    mov     x0, #-1                 /* -1: the first core looks up its own index */
    br      x1

/* Every core starts here at its physical address, with the MMU off and its index in x0 (the first core comes
 * from above, the others from PSCI CPU_ON). This page, the image's first, is also mapped at its physical
 * address. */
    .section .head, "ax"
    .balign 64
    .global trampoline_entry
trampoline_entry:
    msr     DAIFSet, #15
    mov     x1, #(1 << 31)
    msr     HCR_EL2, x1
    sctlr_off x1
    isb
    adr     x1, trampoline_values
    ldp     x2, x3, [x1]
    msr     TTBR0_EL2, x2
    msr     TCR_EL2, x3
    ldp     x2, x3, [x1, #16]
    msr     MAIR_EL2, x2
    ldr     x4, [x1, #32]
    isb
    tlbi    alle2
    ic      iallu
    dsb     nsh
    isb
    msr     SCTLR_EL2, x3
    isb
    br      x4
    .ltorg
    .balign 8
    .global trampoline_values
trampoline_values:
    .quad   0, 0, 0, 0, 0

/* x0: index of the core. It is -1 on the first core, which stays on the first stack until it knows its
 * index. */
    .section .text.start, "ax"
    .global cpu_start
cpu_start:
    cmn     x0, #1
    b.ne    1f
    adrp    x1, cpu_stacks
    add     x1, x1, #(1 << STACK_SHIFT)
    mov     sp, x1
    bl      cpu_find_index
1:
    adrp    x1, cpu_stacks
    add     x2, x0, #1
    add     x1, x1, x2, lsl #STACK_SHIFT
    mov     sp, x1
    adr     x1, vectors
    msr     VBAR_EL2, x1
    isb
    sub     sp, sp, #256            /* struct guest_regs: SP_EL2 points to it while a guest runs */
    mov     x1, sp
    bl      cpu_main                /* returns when there is a guest to run */
    b       guest_enter
