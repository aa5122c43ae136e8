/* SPDX-License-Identifier: Apache-2.0
 *
 * The functions of <string.h> that the compiler may call in a freestanding program. They are in assembly
 * because a compiler would translate such loops into calls of these functions themselves. Words are used only
 * if all addresses are aligned: with the MMU off, unaligned accesses fault. Uses no stack.
 */

/* void *memcpy(void *to, const void *from, size_t bytes) */
    .section .text.memcpy, "ax"
    .global memcpy
memcpy:
    mov     x3, x0
    orr     x4, x0, x1
    tst     x4, #7
    b.ne    5f
1:  subs    x2, x2, #64
    b.lo    2f
    ldp     x4, x5, [x1]
    ldp     x6, x7, [x1, #16]
    ldp     x8, x9, [x1, #32]
    ldp     x10, x11, [x1, #48]
    add     x1, x1, #64
    stp     x4, x5, [x3]
    stp     x6, x7, [x3, #16]
    stp     x8, x9, [x3, #32]
    stp     x10, x11, [x3, #48]
    add     x3, x3, #64
    b       1b
2:  add     x2, x2, #64
3:  subs    x2, x2, #8
    b.lo    4f
    ldr     x4, [x1], #8
    str     x4, [x3], #8
    b       3b
4:  add     x2, x2, #8
5:  cbz     x2, 6f
    sub     x2, x2, #1
    ldrb    w4, [x1], #1
    strb    w4, [x3], #1
    b       5b
6:  ret

/* void *memset(void *to, int value, size_t bytes) */
    .section .text.memset, "ax"
    .global memset
memset:
    mov     x3, x0
    and     x4, x1, #0xff
    mov     x5, #0x0101010101010101
    mul     x4, x4, x5
0:  tst     x3, #7
    b.eq    1f
    cbz     x2, 6f
    sub     x2, x2, #1
    strb    w4, [x3], #1
    b       0b
1:  subs    x2, x2, #64
    b.lo    2f
    stp     x4, x4, [x3]
    stp     x4, x4, [x3, #16]
    stp     x4, x4, [x3, #32]
    stp     x4, x4, [x3, #48]
    add     x3, x3, #64
    b       1b
2:  add     x2, x2, #64
3:  subs    x2, x2, #8
    b.lo    4f
    str     x4, [x3], #8
    b       3b
4:  add     x2, x2, #8
5:  cbz     x2, 6f
    sub     x2, x2, #1
    strb    w4, [x3], #1
    b       5b
6:  ret
