/* SPDX-License-Identifier: Apache-2.0
 *
 * Driver of an SMMUv2 (IHI 0062), as the SMMU-500 is. Each stream of the manifest has an entry (SMR, S2CR)
 * with its number there, and each domain with streams a context bank with the domain's stage 2. Both are
 * complete from the start on. Only S2CR changes, between fault and translation, by one store. Invalidations
 * are complete when a synchronization that began after them is, and one is under way at most. What comes
 * meanwhile waits for the next one, which begins when a core asks.
 */
#include "core/spinlock.h"
#include "iommu/smmu.h"
#include "iommu/smmuv2_registers.h"
#include "memory/ptable.h"
#include "vm/domain.h"
#include <arch/barrier.h>
#include <stdatomic.h>
#include <string.h>

/* Every stream is a fault. Nothing stalls, and each fault aborts. */
#define SCR0_REFUSE                                                                                          \
    (SCR0_GFRE | SCR0_GCFGFRE | SCR0_STALLD | SCR0_USFCFG | SCR0_VMIDPNE | SCR0_PTM | SCR0_SMCFCFG)
/* CFCFG is 0: faults do not stall. */
#define SCTLR_STAGE2  (SCTLR_M | SCTLR_AFE | SCTLR_CFRE | SCTLR_CFIE | SCTLR_HUPCF)
#define TCR_T0SZ      0x3Full
#define TCR_LOW       0xFFFFull /* to TG0, at the same places as in VTCR_EL2 */
#define TCR_RES1      (1u << 31)
#define TCR_PS_SHIFT  16
#define VTCR_PS(vtcr) ((uint32_t)((vtcr) >> TCR_PS_SHIFT) & 7u)
#define NO_BANK       UINT32_MAX

static struct {
    uint32_t page_log2;
    uint32_t pages; /* of the lower half */
    uint32_t banks; /* in use */
    uint32_t bank[BH_MAX_DOMAINS];
} driver;

static struct {
    struct spinlock lock;
    _Atomic uint64_t asked; /* tickets that were given */
    _Atomic uint64_t done;  /* tickets whose invalidations are complete; read without the lock */
    uint64_t covered;       /* tickets that the synchronization under way is for */
    bool busy;
} sync;

uint32_t smmu_space1(uint32_t offset)
{
    return (1u << driver.page_log2) + offset;
}

uint32_t smmu_bank(uint32_t bank, uint32_t offset)
{
    return ((driver.pages + bank) << driver.page_log2) + offset;
}

uint32_t smmu_bank_count(void)
{
    return driver.banks;
}

uint32_t smmu_bank_domain(uint32_t bank)
{
    uint32_t domain = 0;

    while (driver.bank[domain] != bank) {
        domain++;
    }
    return domain;
}

/* Entries first, so that no stream is translated by what a boot loader has left, when a disabled SMMU is
 * enabled. After the synchronization, no access is under way that was translated before; the architecture
 * does not promise that of accesses that bypassed translation. */
bool smmu_silence(const struct manifest_header *manifest)
{
    uint64_t pa = manifest->smmu.pa;
    uint32_t entries;

    if (pa == 0) {
        return true;
    }
    if (manifest->smmu.version != BH_SMMU_VERSION_SMMUV2) {
        return false;
    }
    /* No entries at the places of the extension, and none that are found by a compressed index. */
    mmio_write32(paddr(pa + SMMU_SCR2), 0);
    entries = IDR0_NUMSMRG(mmio_read32(paddr(pa + SMMU_IDR0)));
    for (uint32_t i = 0; i < entries; i++) {
        mmio_write32(paddr(pa + SMMU_S2CR(i)), S2CR_FAULT);
        mmio_write32(paddr(pa + SMMU_SMR(i)), 0);
    }
    mmio_write32(paddr(pa + SMMU_SACR),
                 mmio_read32(paddr(pa + SMMU_SACR)) & ~(SACR_CACHE_LOCK | SACR_BYPASSES));
    mmio_write32(paddr(pa + SMMU_SCR0), SCR0_REFUSE);
    mmio_write32(paddr(pa + SMMU_TLBIALLNSNH), 0);
    mmio_write32(paddr(pa + SMMU_TLBIALLH), 0);
    mmio_write32(paddr(pa + SMMU_STLBGSYNC), 0);
    return smmu_wait(paddr(pa + SMMU_STLBGSTATUS), UINT32_MAX, 0, SMMU_START_WAIT_NS);
}

/* A context bank for each domain with streams. */
static void give_banks(void)
{
    const struct manifest_header *manifest = system_manifest();
    uint32_t idr1 = smmu_read(SMMU_IDR1);

    driver.page_log2 = IDR1_PAGE_LOG2(idr1);
    driver.pages = IDR1_PAGES(idr1);
    driver.banks = 0;
    memset(driver.bank, 0xFF, sizeof driver.bank);
    for (uint32_t i = 0; i < manifest->streams.count; i++) {
        uint32_t *bank = &driver.bank[manifest_streams(manifest)[i].domain];

        *bank = *bank == NO_BANK ? driver.banks++ : *bank;
    }
}

/* Of a device's addresses. With a GICv2, stage 2 maps the virtual CPU interface of the executing core, which
 * is beyond. */
static uint32_t input_bits(void)
{
    return system_manifest()->platform.gic_version == BH_GIC_VERSION_GICV2 ? BH_SMMU_GICV2_BITS
                                                                           : PTABLE_INPUT_BITS;
}

static bool has_prefetcher(void)
{
    bool found = false;

    for (uint32_t bank = 0; bank < driver.banks; bank++) {
        uint32_t actlr = smmu_bank(bank, SMMU_CB_ACTLR);

        smmu_write(actlr, smmu_read(actlr) & ~ACTLR_CPRE);
        found = found || (smmu_read(actlr) & ACTLR_CPRE) != 0;
    }
    return found;
}

/* The prefetcher is off because of errata of the SMMU-500. */
const char *smmu_missing(void)
{
    const struct manifest_header *manifest = system_manifest();
    uint32_t idr0 = smmu_read(SMMU_IDR0);
    uint32_t idr1 = smmu_read(SMMU_IDR1);
    uint32_t idr2 = smmu_read(SMMU_IDR2);

    give_banks();
    return (idr0 & IDR0_S2TS) == 0                           ? SMMU_NO_STAGE2
           : (idr0 & IDR0_SMS) == 0                          ? "no stream matching"
           : (idr2 & IDR2_PTFS_4K) == 0                      ? "no tables of AArch64 with pages of 4 KiB"
           : (idr0 & IDR0_CTTW) == 0                         ? "walks are not coherent with caches"
           : IDR0_NUMSIDB(idr0) < manifest->smmu.stream_bits ? "fewer stream ids than the manifest has"
           : IDR0_NUMSMRG(idr0) < manifest->streams.count    ? "fewer entries than the manifest has streams"
           : IDR1_NUMCB(idr1) < driver.banks                 ? "fewer context banks than domains with devices"
           : smmu_bank(0, 0) + smmu_bank(0, 0) > BH_SMMU_BYTES ? "its registers take more room than expected"
           : !smmu_reaches_memory(IDR2_OAS(idr2))              ? "memory is beyond the addresses that it has"
           : smmu_address_bits(IDR2_IAS(idr2)) < input_bits()  ? "guests have more addresses than it has"
           : has_prefetcher()                                  ? "its prefetcher cannot be turned off"
                                                               : NULL;
}

bool smmu_build(void)
{
    memset(&sync, 0, sizeof sync);
    smmu_faults_init();
    return true;
}

static uint32_t tcr_of(const struct stage2 *stage2)
{
    uint32_t sizes = IDR2_OAS(smmu_read(SMMU_IDR2));
    uint32_t size = VTCR_PS(stage2->vtcr) < sizes ? VTCR_PS(stage2->vtcr) : sizes;
    uint32_t tcr = (uint32_t)(stage2->vtcr & TCR_LOW & ~TCR_T0SZ) | (64 - input_bits());

    return tcr | size << TCR_PS_SHIFT | TCR_RES1;
}

static void write_bank(uint32_t bank, const struct stage2 *stage2)
{
    uint64_t root = stage2->vttbr & VTTBR_ROOT;

    smmu_write(smmu_space1(SMMU_CBA2R(bank)), CBA2R_VA64);
    smmu_write(smmu_space1(SMMU_CBAR(bank)), (uint32_t)VTTBR_VMID(stage2->vttbr)); /* stage 2 alone */
    smmu_write(smmu_bank(bank, SMMU_CB_TCR), tcr_of(stage2));
    smmu_write(smmu_bank(bank, SMMU_CB_TTBR0), (uint32_t)root);
    smmu_write(smmu_bank(bank, SMMU_CB_TTBR0 + 4), (uint32_t)(root >> 32));
    smmu_write(smmu_bank(bank, SMMU_CB_SCTLR), SCTLR_STAGE2);
}

/* A boot loader may have left faults and interrupts in any bank, and all banks share an interrupt. No bank is
 * a bypass meanwhile, since the entries of all streams are faults. */
static void clear_banks(void)
{
    uint32_t banks = IDR1_NUMCB(smmu_read(SMMU_IDR1));

    for (uint32_t bank = 0; bank < banks; bank++) {
        smmu_write(smmu_bank(bank, SMMU_CB_SCTLR), 0);
        smmu_write(smmu_bank(bank, SMMU_CB_FSR), FSR_CAUSES | FAULT_MULTI);
    }
}

/* SCR0 has refused everything since smmu_silence(). */
bool smmu_enable(void)
{
    const struct manifest_header *manifest = system_manifest();

    clear_banks();
    for (uint32_t i = 0; i < manifest->domains.count; i++) {
        if (driver.bank[i] != NO_BANK) {
            write_bank(driver.bank[i], &domain_at(i)->stage2);
        }
    }
    arch_dsb_sy(); /* tables and banks are complete before an entry is valid */
    for (uint32_t i = 0; i < manifest->streams.count; i++) {
        smmu_write(SMMU_SMR(i), SMR_VALID | manifest_streams(manifest)[i].stream);
    }
    smmu_write(SMMU_SGFSR, smmu_read(SMMU_SGFSR));
    smmu_write(SMMU_TLBIALLNSNH, 0);
    smmu_write(SMMU_STLBGSYNC, 0);
    return smmu_wait(smmu_register(SMMU_STLBGSTATUS), UINT32_MAX, 0, SMMU_START_WAIT_NS);
}

/* The interrupts are levels: they stay until the fault's register is cleared. */
bool smmu_listen(bool *edge)
{
    *edge = false;
    smmu_write(SMMU_SCR0, SCR0_REFUSE | SCR0_GFIE | SCR0_GCFGFIE);
    return true;
}

/* Notes a synchronization that has ended, and begins one for what has come since. The lock is held. */
static void advance(void)
{
    if (sync.busy && smmu_read(SMMU_STLBGSTATUS) != 0) {
        return;
    }
    if (sync.busy) {
        atomic_store(&sync.done, sync.covered);
    }
    sync.busy = atomic_load(&sync.asked) != sync.covered;
    if (sync.busy) {
        sync.covered = atomic_load(&sync.asked);
        smmu_write(SMMU_STLBGSYNC, 0);
    }
}

/* The SMMU sees everything that was stored before. */
uint64_t smmu_forget(const struct domain *domain)
{
    uint64_t ticket;

    spin_lock(&sync.lock);
    arch_dsb_sy();
    smmu_write(SMMU_TLBIVMID, (uint32_t)VTTBR_VMID(domain->stage2.vttbr));
    ticket = atomic_load(&sync.asked) + 1;
    atomic_store(&sync.asked, ticket);
    advance();
    spin_unlock(&sync.lock);
    return ticket;
}

/* Entries change before translations are forgotten: otherwise an access in between would bring one back. */
uint64_t smmu_route(const struct domain *domain, bool on)
{
    const struct manifest_header *manifest = system_manifest();

    arch_dsb_sy(); /* what was loaded is visible before a stream is translated */
    for (uint32_t i = 0; i < manifest->streams.count; i++) {
        if (manifest_streams(manifest)[i].domain == domain->index) {
            smmu_write(SMMU_S2CR(i), on ? driver.bank[domain->index] : S2CR_FAULT);
        }
    }
    return on ? atomic_load(&sync.done) : smmu_forget(domain);
}

bool smmu_is_done(uint64_t ticket)
{
    if (atomic_load(&sync.done) < ticket) {
        spin_lock(&sync.lock);
        advance();
        spin_unlock(&sync.lock);
    }
    return atomic_load(&sync.done) >= ticket;
}
