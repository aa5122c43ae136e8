/* SPDX-License-Identifier: Apache-2.0
 *
 * Barriers, waiting, TLB and cache maintenance, target backend: one instruction or a short sequence each. The
 * hosted backend implements the same names as function calls. Architecture-neutral code uses these and never
 * inline assembly.
 */
#ifndef BULKHEAD_ARCH_BARRIER_H
#define BULKHEAD_ARCH_BARRIER_H

#include <stdbool.h>
#include <stdint.h>

/* Context synchronization: later instructions see the system-register writes before it. */
static inline void arch_isb(void)
{
    __asm__ volatile("isb" ::: "memory");
}

/* Waits for completion of all earlier memory accesses and maintenance, in the whole system. */
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

/* Spin-loop hint: waits for an event, or returns. Pairs with arch_sev(). */
static inline void arch_wfe(void)
{
    __asm__ volatile("wfe" ::: "memory");
}

static inline void arch_sev(void)
{
    __asm__ volatile("dsb ishst\n\tsev" ::: "memory");
}

/* Invalidates the TLB entries of EL2 and of all guests on this core only, and waits. */
static inline void arch_tlbi_local_all(void)
{
    __asm__ volatile("dsb nshst\n\ttlbi alle2\n\ttlbi alle1\n\tdsb nsh\n\tisb" ::: "memory");
}

/* The following functions invalidate TLB entries on this core, or on all cores if `everywhere`, and wait.
 * Earlier stores must be complete (arch_dsb_ishst()). This one: EL2's own entry for the page at `address`. */
static inline void arch_tlbi_el2_page(bool everywhere, uintptr_t address)
{
    if (everywhere) {
        __asm__ volatile("tlbi vae2is, %0\n\tdsb ish\n\tisb" ::"r"(address >> 12) : "memory");
    } else {
        __asm__ volatile("tlbi vae2, %0\n\tdsb nsh\n\tisb" ::"r"(address >> 12) : "memory");
    }
}

/* Stage-2 entries for the page at `ipa`, for the VMID in VTTBR_EL2. */
static inline void arch_tlbi_stage2_page(bool everywhere, uint64_t ipa)
{
    if (everywhere) {
        __asm__ volatile("tlbi ipas2e1is, %0\n\tdsb ish" ::"r"(ipa >> 12) : "memory");
    } else {
        __asm__ volatile("tlbi ipas2e1, %0\n\tdsb nsh" ::"r"(ipa >> 12) : "memory");
    }
}

/* Stage-1 entries, also those combined with stage 2, for all addresses and the VMID in VTTBR_EL2. */
static inline void arch_tlbi_stage1_all(bool everywhere)
{
    if (everywhere) {
        __asm__ volatile("tlbi vmalle1is\n\tdsb ish\n\tisb" ::: "memory");
    } else {
        __asm__ volatile("tlbi vmalle1\n\tdsb nsh\n\tisb" ::: "memory");
    }
}

/* Entries of both stages for all addresses and the VMID in VTTBR_EL2. */
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

/* Takes and drops a pending asynchronous abort, for example one that the guest's last instructions caused.
 * Returns true if there was one. ELR_EL2 and SPSR_EL2 are lost. Implemented in vectors.S. */
bool arch_take_serror(void);

/* Cleans and invalidates the data-cache line that holds `address` to the point of coherency. */
static inline void arch_dcache_clean_invalidate_line(uintptr_t address)
{
    __asm__ volatile("dc civac, %0" ::"r"(address) : "memory");
}

#endif
