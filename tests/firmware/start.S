/* SPDX-License-Identifier: Apache-2.0
 *
 * Where every core starts at EL3, where it leaves for EL2, and where it comes back by SMC. The way to EL2 fills all
 * that neither the boot protocol nor PSCI promises with garbage, so that software above cannot lean on it.
 */

#define STACK_SHIFT 12
#define SPSR_EL2H_MASKED 0x3C9
/* Non-secure, AArch64 below, HVC and pointer authentication allowed; interrupts and aborts stay below EL3. */
#define SCR_VALUE 0x30531
#define ICC_SRE_ALL 0xF

    .section .text.start, "ax"
    .global firmware_start
firmware_start:
    msr     DAIFSet, #15
    mov     x0, #0x0830
    movk    x0, #0x30C5, lsl #16    /* RES1 bits, everything off */
    msr     SCTLR_EL3, x0
    adr     x0, firmware_vectors
    msr     VBAR_EL3, x0
    mov     x0, #SCR_VALUE & 0xFFFF
    movk    x0, #SCR_VALUE >> 16, lsl #16
    msr     SCR_EL3, x0
    msr     CPTR_EL3, xzr           /* floating point and tracing do not trap to EL3, nor do performance */
    msr     MDCR_EL3, xzr           /* monitors and debug registers */
    mov     x0, #0xCA00
    movk    x0, #0x03B9, lsl #16    /* 62.5 MHz */
    msr     CNTFRQ_EL0, x0
    isb
    mrs     x0, MPIDR_EL1
    and     x0, x0, #0xFF
    bl      set_stack
    b       firmware_core           /* x0: number of the core; does not return */

set_stack:
    ldr     x1, =stacks
    add     x2, x0, #1
    add     x1, x1, x2, lsl #STACK_SHIFT
    mov     sp, x1
    ret

    .text
/* void firmware_gic_system_registers(void): GICv3 only. */
    .global firmware_gic_system_registers
firmware_gic_system_registers:
    mov     x0, #ICC_SRE_ALL
    msr     S3_6_C12_C12_5, x0      /* ICC_SRE_EL3: system registers, and EL2 may choose too */
    isb
    mov     x1, #-1                 /* the hypervisor's interface: as another one left it */
    .irp    n, 0, 1, 2, 3
    msr     S3_4_C12_C12_\n, x1     /* ICH_LR0_EL2 ... */
    .endr
    msr     S3_4_C12_C9_0, x1       /* ICH_AP1R0_EL2 */
    msr     S3_4_C12_C11_7, x1      /* ICH_VMCR_EL2 */
    msr     S3_4_C12_C11_0, x1      /* ICH_HCR_EL2 */
    msr     S3_4_C12_C9_5, xzr      /* ICC_SRE_EL2: off */
    isb
    ret

/* _Noreturn void firmware_enter(uint64_t pc, uint64_t x0): at EL2, with x1 - x3 as the boot protocol wants. */
    .global firmware_enter
firmware_enter:
    msr     ELR_EL3, x0
    mov     x2, #SPSR_EL2H_MASKED
    msr     SPSR_EL3, x2
    mov     x30, x1

    mov     x1, #-1
    mov     x2, #0x5A5A
    movk    x2, #0xA5A5, lsl #16
    movk    x2, #0x5A5A, lsl #32
    movk    x2, #0x0000, lsl #48
    bic     x3, x1, #(1 << 34)      /* not E2H: it would rename the registers that are filled here */
    msr     HCR_EL2, x3
    mov     x3, #0x083E
    movk    x3, #0x32CD, lsl #16    /* MMU off; big-endian, alignment and stack checks, WXN, caches */
    msr     SCTLR_EL2, x3
    bic     x3, x1, #0x1E           /* HPMN: a number that exists */
    msr     MDCR_EL2, x3
    msr     CPTR_EL2, x1
    msr     HSTR_EL2, x1
    msr     CNTHCTL_EL2, xzr        /* no counter below EL2 */
    .irp    register, VBAR_EL2, VTTBR_EL2, VTCR_EL2, TTBR0_EL2, TCR_EL2, MAIR_EL2, AMAIR_EL2, TPIDR_EL2, SP_EL2, \
                      ELR_EL2, SPSR_EL2, ESR_EL2, FAR_EL2, HPFAR_EL2, AFSR0_EL2, AFSR1_EL2, CNTVOFF_EL2, \
                      VPIDR_EL2, VMPIDR_EL2, TTBR0_EL1, TTBR1_EL1, TCR_EL1, MAIR_EL1, AMAIR_EL1, VBAR_EL1, \
                      ELR_EL1, SPSR_EL1, ESR_EL1, FAR_EL1, AFSR0_EL1, AFSR1_EL1, PAR_EL1, SP_EL1, SP_EL0, \
                      TPIDR_EL1, TPIDR_EL0, TPIDRRO_EL0, CONTEXTIDR_EL1, CPACR_EL1, CSSELR_EL1
    msr     \register, x2
    .endr
    .irp    register, SCTLR_EL1, CNTKCTL_EL1, MDSCR_EL1, PMCR_EL0, PMUSERENR_EL0, PMCNTENSET_EL0, PMINTENSET_EL1
    msr     \register, x1
    .endr
    .irp    timer, CNTHP, CNTV, CNTP /* enabled and overdue */
    .ifc    \timer, CNTHP
    msr     CNTHP_CVAL_EL2, xzr
    msr     CNTHP_CTL_EL2, x1
    .else
    msr     \timer\()_CVAL_EL0, xzr
    msr     \timer\()_CTL_EL0, x1
    .endif
    .endr
    .irp    n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
    dup     v\n\().2d, x2
    .endr
    .irp    n, 4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29
    mov     x\n, x2
    .endr
    mov     x0, x30
    mov     x30, x2
    mov     x1, xzr
    mov     x2, xzr
    mov     x3, xzr
    eret

/* void firmware_fill(uint64_t start, uint64_t end, uint64_t pattern): as far as the board has memory. */
    .global firmware_fill
firmware_fill:
    cmp     x0, x1
    b.hs    filled
fill_store:
    str     x2, [x0], #8
    b       firmware_fill
filled:
    ret

/* An exception of EL3 itself: the only one that is foreseen ends the filling. */
abort:
    mrs     x3, ELR_EL3
    adr     x4, fill_store
    cmp     x3, x4
    b.ne    firmware_stuck
    adr     x4, filled
    msr     ELR_EL3, x4
    eret

/* A call from below. The convention lets a call change x0 - x17: this one does. */
call:
    stp     x18, x30, [sp, #-32]!
    mrs     x18, ESR_EL3
    lsr     x18, x18, #26
    cmp     x18, #0x17              /* SMC from AArch64 */
    b.ne    firmware_stuck
    mrs     x4, ELR_EL3
    mrs     x5, SPSR_EL3
    stp     x4, x5, [sp, #16]
    bl      firmware_call
    ldp     x4, x5, [sp, #16]
    msr     ELR_EL3, x4
    msr     SPSR_EL3, x5
    ldp     x18, x30, [sp], #32
    .irp    n, 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17
    mov     x\n, #-\n
    .endr
    eret

/* _Noreturn void firmware_forget_stack(uint64_t core): a core that was turned off starts anew. */
    .global firmware_forget_stack
firmware_forget_stack:
    bl      set_stack
    b       firmware_wait

    .global firmware_stuck
firmware_stuck:
    wfi
    b       firmware_stuck

    .balign 2048
firmware_vectors:
    .rept   4
    b       firmware_stuck          /* EL3 itself, with SP_EL0 */
    .balign 128
    .endr
    b       abort                   /* EL3 itself, synchronous */
    .balign 128
    .rept   3
    b       firmware_stuck
    .balign 128
    .endr
    b       call                    /* lower EL, AArch64, synchronous */
    .balign 128
    .rept   7
    b       firmware_stuck
    .balign 128
    .endr
