/* SPDX-License-Identifier: Apache-2.0
 *
 * Barriers, waiting, TLB and cache maintenance, target backend: one instruction or short sequence each. The
 * hosted backend has the same names as calls. Architecture-neutral code uses these and never inline assembly.
 */
#ifndef BULKHEAD_ARCH_BARRIER_H
#define BULKHEAD_ARCH_BARRIER_H

#include <stdbool.h>
#include <stdint.h>

/* Context synchronization: system-register writes before it are seen by what follows. */
static inline void arch_isb(void)
{
    __asm__ volatile("isb" ::: "memory");
}

/* Completion of all memory accesses and maintenance before it, whole system. */
static inline void arch_dsb_sy(void)
{
    __asm__ volatile("dsb sy" ::: "memory");
}

/* Orders stores (table entries, mailboxes) before later stores, inner shareable. */
static inline void arch_dsb_ishst(void)
{
    __asm__ volatile("dsb ishst" ::: "memory");
}

/* Waits in a low-power state until an interrupt is pending, masked or not. */
static inline void arch_wfi(void)
{
    __asm__ volatile("dsb sy\n\twfi" ::: "memory");
}

/* Spin-loop hint: waits for an event or returns. Pairs with arch_sev(). */
static inline void arch_wfe(void)
{
    __asm__ volatile("wfe" ::: "memory");
}

static inline void arch_sev(void)
{
    __asm__ volatile("dsb ishst\n\tsev" ::: "memory");
}

/* Invalidates EL2's own and all guests' entries of this core only, and waits. */
static inline void arch_tlbi_local_all(void)
{
    __asm__ volatile("dsb nshst\n\ttlbi alle2\n\ttlbi alle1\n\tdsb nsh\n\tisb" ::: "memory");
}

/* Each invalidates on this core, or on all, and waits; what was stored must be complete (arch_dsb_ishst()).
 * EL2's own entry for the page at `address`. */
static inline void arch_tlbi_el2_page(bool everywhere, uintptr_t address)
{
    if (everywhere) {
        __asm__ volatile("tlbi vae2is, %0\n\tdsb ish\n\tisb" ::"r"(address >> 12) : "memory");
    } else {
        __asm__ volatile("tlbi vae2, %0\n\tdsb nsh\n\tisb" ::"r"(address >> 12) : "memory");
    }
}

/* What stage 2 alone makes of the page at `ipa`, for the VMID of VTTBR_EL2. */
static inline void arch_tlbi_stage2_page(bool everywhere, uint64_t ipa)
{
    if (everywhere) {
        __asm__ volatile("tlbi ipas2e1is, %0\n\tdsb ish" ::"r"(ipa >> 12) : "memory");
    } else {
        __asm__ volatile("tlbi ipas2e1, %0\n\tdsb nsh" ::"r"(ipa >> 12) : "memory");
    }
}

/* What stage 1, alone or with stage 2, makes of every address, for the VMID of VTTBR_EL2. */
static inline void arch_tlbi_stage1_all(bool everywhere)
{
    if (everywhere) {
        __asm__ volatile("tlbi vmalle1is\n\tdsb ish\n\tisb" ::: "memory");
    } else {
        __asm__ volatile("tlbi vmalle1\n\tdsb nsh\n\tisb" ::: "memory");
    }
}

/* What both stages make of every address, for the VMID of VTTBR_EL2. */
static inline void arch_tlbi_guest_all(bool everywhere)
{
    if (everywhere) {
        __asm__ volatile("tlbi vmalls12e1is\n\tdsb ish\n\tisb" ::: "memory");
    } else {
        __asm__ volatile("tlbi vmalls12e1\n\tdsb nsh\n\tisb" ::: "memory");
    }
}

/* Invalidates this core's instruction cache, and waits. */
static inline void arch_icache_invalidate_local(void)
{
    __asm__ volatile("dsb ish\n\tic iallu\n\tdsb nsh\n\tisb" ::: "memory");
}

/* Takes an asynchronous abort that is pending, as after what a guest has done, and forgets it. Returns
 * whether there was one. ELR_EL2 and SPSR_EL2 are lost. In vectors.S. */
bool arch_take_serror(void);

/* Cleans and invalidates the data-cache line that holds `address` to the point of coherency. */
static inline void arch_dcache_clean_invalidate_line(uintptr_t address)
{
    __asm__ volatile("dc civac, %0" ::"r"(address) : "memory");
}

#endif
