/* SPDX-License-Identifier: Apache-2.0
 *
 * Driver of an SMMUv3: its start, and the entries for streams of domains. An entry of the stream table is
 * complete from the start on: root, VMID and format of the domain's stage 2. Only its first word changes,
 * between abort and stage 2, by one store. So the SMMU never sees an entry that is half of one domain's.
 */
#include "console/console.h"
#include "iommu/smmu.h"
#include "iommu/smmuv3_registers.h"
#include "memory/ptable.h"
#include "vm/domain.h"
#include <string.h>

/* Stream table entry, 64 bytes (IHI 0070, 5.2), and a descriptor of level 1. */
#define STE_WORDS           8u
#define STE_ABORT           1ull /* valid, Config 0b000: abort without an event */
#define STE_STAGE2          (1ull | 6ull << 1)
#define STE1_SHCFG_INCOMING (1ull << 44)
#define STE1_S2FWB          (1ull << 25)
#define STE2_VTCR_SHIFT     32
#define STE2_VTCR           0x7FFFFull /* T0SZ to PS are at the same places as in VTCR_EL2 */
#define STE2_S2AA64         (1ull << 51)
#define STE2_S2R            (1ull << 58) /* faults are events; S2S is 0: they do not stall */
#define AARCH32_BITS        40u          /* of addresses at stage 2, with tables of AArch32 */
#define LEAF_LOG2           6u           /* entries of a page */
#define LEAF_SPAN           (LEAF_LOG2 + 1)

_Static_assert(8 << (BH_MAX_STREAM_BITS - LEAF_LOG2) <= BH_PAGE_BYTES, "level 1 is a page");

static struct {
    paddr_t table;                              /* level 1, or the only leaf */
    volatile uint64_t *entries[BH_MAX_STREAMS]; /* of the manifest's streams */
} driver;

/* GBPA first: otherwise accesses would bypass the SMMU as soon as it is disabled. */
bool smmu_silence(const struct manifest_header *manifest)
{
    uint64_t pa = manifest->smmu.pa;
    paddr_t gbpa = paddr(pa + SMMU_GBPA);

    if (pa == 0) {
        return true;
    }
    if (manifest->smmu.version != BH_SMMU_VERSION_SMMUV3 ||
        !smmu_wait(gbpa, GBPA_UPDATE, 0, SMMU_START_WAIT_NS)) {
        return false;
    }
    mmio_write32(gbpa, mmio_read32(gbpa) | GBPA_ABORT | GBPA_UPDATE);
    if (!smmu_wait(gbpa, GBPA_UPDATE | GBPA_ABORT, GBPA_ABORT, SMMU_START_WAIT_NS)) {
        return false;
    }
    mmio_write32(paddr(pa + SMMU_IRQ_CTRL), 0);
    mmio_write32(paddr(pa + SMMU_CR0), 0);
    return smmu_wait(paddr(pa + SMMU_IRQ_CTRLACK), UINT32_MAX, 0, SMMU_START_WAIT_NS) &&
           smmu_wait(paddr(pa + SMMU_CR0ACK), UINT32_MAX, 0, SMMU_START_WAIT_NS);
}

static uint32_t table_bits(void)
{
    uint32_t bits = system_manifest()->smmu.stream_bits;

    return bits < BH_MAX_STREAM_BITS ? bits : BH_MAX_STREAM_BITS;
}

/* Addresses of devices at stage 2 (IAS; IHI 0070, 3.4): an entry with more is illegal. */
static uint32_t input_bits(uint32_t idr0, uint32_t idr5)
{
    uint32_t bits = smmu_address_bits(IDR5_OAS(idr5));

    return (idr0 & IDR0_TTF_AARCH32) != 0 && bits < AARCH32_BITS ? AARCH32_BITS : bits;
}

const char *smmu_missing(void)
{
    const struct manifest_header *manifest = system_manifest();
    uint32_t idr0 = smmu_read(SMMU_IDR0);
    uint32_t idr1 = smmu_read(SMMU_IDR1);
    uint32_t idr5 = smmu_read(SMMU_IDR5);

    return (idr0 & IDR0_S2P) == 0                            ? SMMU_NO_STAGE2
           : (idr0 & IDR0_TTF_AARCH64) == 0                  ? "no tables of AArch64"
           : (idr5 & IDR5_GRAN4K) == 0                       ? "no pages of 4 KiB"
           : !smmu_reaches_memory(IDR5_OAS(idr5))            ? "memory is beyond the addresses that it has"
           : input_bits(idr0, idr5) < PTABLE_INPUT_BITS      ? "guests have more addresses than it has"
           : (idr0 & IDR0_TTENDIAN_BIG) == IDR0_TTENDIAN_BIG ? "tables are big-endian"
           : (idr0 & IDR0_COHACC) == 0                       ? "walks are not coherent with caches"
           : (idr0 & IDR0_STALL_MASK) == IDR0_STALL_FORCED   ? "every fault stalls"
           : (idr1 & IDR1_PRESET) != 0                       ? "places of tables or queues are fixed"
           : IDR1_SIDSIZE(idr1) < manifest->smmu.stream_bits ? "fewer stream ids than the manifest has"
           : IDR1_CMDQS(idr1) < SMMU_COMMANDS_LOG2           ? "the command queue is too short"
           : IDR1_EVENTQS(idr1) < SMMU_EVENTS_LOG2           ? "the event queue is too short"
           : table_bits() > LEAF_LOG2 && (idr0 & IDR0_ST_LEVEL_2) == 0 ? "no stream tables of two levels"
           : manifest->platform.s2fwb != 0 && (smmu_read(SMMU_IDR3) & IDR3_FWB) == 0
               ? "stage 2 cannot force how memory is cached (FWB)"
               : NULL;
}

/* The entry of a stream; NULL if the pool is exhausted. A leaf has a page, which is aligned and contiguous
 * also in a colored pool. Entries of other streams in it are invalid. */
static volatile uint64_t *entry_of(uint32_t stream)
{
    struct pool *pool = system_pool();
    volatile uint64_t *table = pool_pointer(pool, driver.table);
    paddr_t leaf = driver.table;

    if (table_bits() > LEAF_LOG2) {
        volatile uint64_t *descriptor = &table[stream >> LEAF_LOG2];

        if (*descriptor == 0) {
            if (!pool_allocate(pool, &leaf)) {
                return NULL;
            }
            *descriptor = leaf.value | LEAF_SPAN;
        }
        table = pool_pointer(pool, paddr(*descriptor & ~(uint64_t)(BH_PAGE_BYTES - 1)));
    }
    return &table[(size_t)(stream & ((1u << LEAF_LOG2) - 1)) * STE_WORDS];
}

static bool build_table(void)
{
    const struct manifest_header *manifest = system_manifest();
    const struct manifest_stream *streams = manifest_streams(manifest);

    if (!pool_allocate(system_pool(), &driver.table)) {
        return false;
    }
    for (uint32_t i = 0; i < manifest->streams.count; i++) {
        const struct stage2 *stage2 = &domain_at(streams[i].domain)->stage2;
        volatile uint64_t *entry = entry_of(streams[i].stream);

        if (entry == NULL) {
            return false;
        }
        entry[1] = STE1_SHCFG_INCOMING | (manifest->platform.s2fwb != 0 ? STE1_S2FWB : 0);
        entry[2] = VTTBR_VMID(stage2->vttbr) | (stage2->vtcr & STE2_VTCR) << STE2_VTCR_SHIFT | STE2_S2AA64 |
                   STE2_S2R;
        entry[3] = stage2->vttbr & VTTBR_ROOT;
        entry[0] = STE_ABORT;
        driver.entries[i] = entry;
    }
    return true;
}

static bool set_cr0(uint32_t value)
{
    smmu_write(SMMU_CR0, value);
    return smmu_wait(smmu_register(SMMU_CR0ACK), UINT32_MAX, value, SMMU_START_WAIT_NS);
}

/* The order of IHI 0070, 3.11 and 6.3.9: tables and queues are in place before what uses them is enabled.
 * Bits that are written together take effect in any order, so ATSCHK is there before SMMUEN, and all entries
 * are forgotten in between (6.3.9.2). */
bool smmu_enable(void)
{
    uint32_t bits = table_bits();
    uint32_t queues = CR0_CMDQEN | CR0_EVENTQEN;
    uint32_t checks = (smmu_read(SMMU_IDR0) & IDR0_ATS) != 0 ? CR0_ATSCHK : 0;
    uint32_t format = bits > LEAF_LOG2 ? STRTAB_FORMAT_2LEVEL | LEAF_LOG2 << STRTAB_SPLIT_SHIFT : 0;

    smmu_write(SMMU_CR1, CR1_COHERENT);
    smmu_write(SMMU_CR2, CR2_PTM | CR2_RECINVSID);
    mmio_write64(smmu_register(SMMU_STRTAB_BASE), BASE_ALLOCATE | driver.table.value);
    smmu_write(SMMU_STRTAB_BASE_CFG, format | bits);
    smmu_commands_place();
    smmu_events_place();
    /* No message interrupts: the SMMU would write to addresses that a boot loader has left. */
    mmio_write64(smmu_register(SMMU_GERROR_IRQ_CFG0), 0);
    mmio_write64(smmu_register(SMMU_EVENTQ_IRQ_CFG0), 0);
    smmu_write(SMMU_GERRORN, smmu_read(SMMU_GERROR));
    return set_cr0(CR0_CMDQEN | checks) &&
           smmu_commands_wait(smmu_commands_forget_all(), SMMU_START_WAIT_NS) && set_cr0(queues | checks) &&
           set_cr0(queues | checks | CR0_SMMUEN);
}

bool smmu_build(void)
{
    memset(&driver, 0, sizeof driver);
    return build_table() && smmu_commands_init() && smmu_events_init();
}

/* Sets the first word of the domain's entries. */
static void set_entries(const struct domain *domain, uint64_t word)
{
    const struct manifest_header *manifest = system_manifest();

    for (uint32_t i = 0; i < manifest->streams.count; i++) {
        if (manifest_streams(manifest)[i].domain == domain->index) {
            *driver.entries[i] = word;
        }
    }
}

uint64_t smmu_route(const struct domain *domain, bool on)
{
    set_entries(domain, on ? STE_STAGE2 : STE_ABORT);
    return smmu_commands_domain(domain, !on);
}
