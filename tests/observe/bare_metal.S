// SPDX-License-Identifier: Apache-2.0
// What the small programs of the observer's tests are made of: boot at EL2, loops with a known number of
// accesses, the store that starts the count, and the end of the machine. The body comes from the test, by the
// macro `body` in an included file. Scratch registers: x9 to x15.

.equ START_WORD, 0x4020F000
.equ SYSTEM_OFF, 0x84000008
.equ CPU_ON, 0xC4000003
.equ UART, 0x09000000

// One 8-byte load from (or store to) each `step` bytes of [base, base + bytes).
.macro sweep instruction, base, bytes, step=64
    ldr x9, =\base
    ldr x10, =(\base + \bytes)
1:  \instruction x11, [x9]
    add x9, x9, #\step
    cmp x9, x10
    b.lo 1b
.endm

.macro read base, bytes, step=64
    sweep ldr, \base, \bytes, \step
.endm

.macro write base, bytes, step=64
    sweep str, \base, \bytes, \step
.endm

// DC ZVA over [base, base + bytes); memory must be Normal.
.macro zero base, bytes
    ldr x9, =\base
    ldr x10, =(\base + \bytes)
1:  dc zva, x9
    add x9, x9, #64
    cmp x9, x10
    b.lo 1b
.endm

.macro start_counting
    ldr x9, =START_WORD
    mov w10, #1
    str w10, [x9]
.endm

// Identity map of [0, 4 GiB) in 1 GiB blocks: the first one Device, RAM Normal; 0x80000000 is RAM once more.
.macro mmu_on
    ldr x9, =translation_table
    msr ttbr0_el2, x9
    ldr x9, =0xFF00
    msr mair_el2, x9
    ldr x9, =0x80823519         // 39 bits, 4 KiB granule, inner shareable, write-back, 40 bits out
    msr tcr_el2, x9
    tlbi alle2
    dsb sy
    isb
    mrs x9, sctlr_el2
    orr x9, x9, #1
    msr sctlr_el2, x9
    isb
.endm

.macro cpu_on core, entry
    ldr x0, =CPU_ON
    mov x1, #\core
    ldr x2, =\entry
    mov x3, #0
    smc #0
.endm

// One core tells another one by a word in memory.
.macro signal_word word
    ldr x9, =\word
    mov w10, #1
    stlr w10, [x9]
.endm

.macro wait_word word
    ldr x9, =\word
1:  ldar w10, [x9]
    cbz w10, 1b
.endm

.macro print_char character
    ldr x9, =UART
    mov w10, #\character
    strb w10, [x9]
.endm

.section .text.start, "ax"
.global _start
_start:
    b main
.ltorg

.include "body.S"

.text
power_off: // without a load, which would push out a line
    mov x0, #(SYSTEM_OFF & 0xFFFF)
    movk x0, #(SYSTEM_OFF >> 16), lsl #16
    smc #0
park:
    wfi
    b park
.ltorg

.section .tables, "a"
.balign 4096
translation_table:
    .quad 0x00000000 | 0x441
    .quad 0x40000000 | 0x745
    .quad 0x40000000 | 0x745
    .quad 0xC0000000 | 0x745
    .space 4096 - 32
