/* SPDX-License-Identifier: Apache-2.0
 *
 * Stage-2 translation: builds tables from manifest segments. Attribute bits are those of DDI 0487, D8.4
 * (stage 2). MemAttr has two encodings, selected by HCR_EL2.FWB (D8.6, rules R_VRJSW and R_RHWZM). Without
 * FWB, the memory type is the more restrictive one of both stages, so a guest can map its memory as
 * Non-cacheable or Device. With FWB, stage 2 can force Write-Back whatever stage 1 says, or leave the type to
 * stage 1. The encoding of Device is the same in both.
 */
#include "memory/stage2.h"
#include "memory/placement.h"
#include "memory/ptable.h"
#include "memory/table_memory.h"
#include "memory/table_update.h"
#include <arch/sysreg.h>

#define S2_NORMAL_WRITE_BACK (0xFull << 2)
#define S2_FWB_WRITE_BACK    (0x6ull << 2)
#define S2_FWB_AS_STAGE1     (0x7ull << 2)
#define S2_DEVICE_nGnRE      (0x1ull << 2)
#define S2_READ_WRITE        (3ull << 6)
#define S2_WRITE             (2ull << 6)
#define S2_INNER_SHAREABLE   (3ull << 8)
#define S2_ACCESS_FLAG       (1ull << 10)
#define S2_EXECUTE_NEVER     (2ull << 53)

#define S2_MEMORY (S2_READ_WRITE | S2_INNER_SHAREABLE | S2_ACCESS_FLAG) /* plus a memory type */
#define S2_DEVICE (S2_DEVICE_nGnRE | S2_READ_WRITE | S2_ACCESS_FLAG | S2_EXECUTE_NEVER)

#define VTCR_T0SZ             (64ull - PTABLE_INPUT_BITS)
#define VTCR_SL0_LEVEL1       (1ull << 6)
#define VTCR_IRGN0_WRITE_BACK (1ull << 8)
#define VTCR_ORGN0_WRITE_BACK (1ull << 10)
#define VTCR_SH0_INNER        (3ull << 12)
#define VTCR_PS_SHIFT         16
#define VTCR_RES1             (1ull << 31)
#define VTTBR_VMID_SHIFT      48

#define MMFR2_FWB(mmfr2) ((mmfr2) >> 40 & 0xF)

bool stage2_core_can_force(void)
{
    return MMFR2_FWB(sysreg_read(ID_AA64MMFR2_EL1)) != 0;
}

static uint64_t memory_attributes(const struct manifest_header *manifest,
                                  const struct manifest_domain *domain)
{
    bool own = (domain->flags & BH_DOMAIN_FLAG_OWN_ATTRIBUTES) != 0;

    if (manifest->platform.s2fwb == 0) {
        return S2_MEMORY | S2_NORMAL_WRITE_BACK;
    }
    return S2_MEMORY | (own ? S2_FWB_AS_STAGE1 : S2_FWB_WRITE_BACK);
}

/* Attributes of a segment's memory. Flash is memory that the guest cannot write. */
static uint64_t attributes_of(const struct stage2 *stage2, const struct manifest_segment *segment)
{
    bool read_only = (segment->flags & BH_SEGMENT_FLAG_READ_ONLY) != 0;

    return read_only ? stage2->memory & ~S2_WRITE : stage2->memory;
}

/* Maps a colored segment granule by granule. */
static bool map_colored(struct pool *pool, const struct stage2 *stage2, const struct color_range *range,
                        const struct manifest_segment *segment)
{
    uint64_t granule = color_granule_bytes(range->space);
    uint64_t attributes = attributes_of(stage2, segment);
    uint64_t bytes = segment->bytes;

    for (uint64_t offset = 0; offset < bytes; offset += granule) {
        uint64_t chunk = bytes - offset < granule ? bytes - offset : granule;

        if (!ptable_map(pool, stage2->root, segment->ipa + offset, color_at(range, offset), chunk,
                        attributes)) {
            return false;
        }
    }
    return true;
}

/* New tables come from `pool`. */
static bool map_segment(const struct stage2 *stage2, struct pool *pool,
                        const struct manifest_segment *segment)
{
    struct color_range range = manifest_segment_range(stage2->manifest, segment);
    bool premap = (stage2->domain->flags & BH_DOMAIN_FLAG_PREMAP) != 0;

    if (range.space.bits == 0) {
        /* Contiguous memory is mapped now: mapping blocks costs less than faults later. */
        return ptable_map(pool, stage2->root, segment->ipa, range.first, segment->bytes,
                          attributes_of(stage2, segment));
    }
    if (!premap) {
        return ptable_prepare(pool, stage2->root, segment->ipa, segment->bytes);
    }
    return map_colored(pool, stage2, &range, segment);
}

bool stage2_map_device(const struct stage2 *stage2, uint64_t ipa, paddr_t pa, uint64_t bytes)
{
    return ptable_map(stage2->pool, stage2->root, ipa, pa, bytes, S2_DEVICE);
}

bool stage2_map_window(const struct stage2 *stage2, const struct manifest_segment *segment, uint64_t window)
{
    struct color_range range = manifest_segment_range(stage2->manifest, segment);
    uint64_t granule = range.space.bits == 0 ? segment->bytes : color_granule_bytes(range.space);
    uint64_t attributes = stage2->memory | S2_EXECUTE_NEVER;

    for (uint64_t offset = 0; offset < segment->bytes; offset += granule) {
        uint64_t bytes = segment->bytes - offset < granule ? segment->bytes - offset : granule;
        paddr_t pa = color_at(&range, offset);

        if (!ptable_map(stage2->pool, stage2->root, window + pa.value, pa, bytes, attributes)) {
            return false;
        }
    }
    return true;
}

/* Marked segments come first, so that tables that both kinds of segments need are in the memory for marked
 * ones. */
static bool map_segments(const struct stage2 *stage2)
{
    const struct manifest_domain *domain = stage2->domain;
    const struct manifest_segment *segments = manifest_segments(stage2->manifest) + domain->first_segment;

    for (uint32_t i = 0; i < domain->segment_count; i++) {
        if (table_memory_is_marked(&segments[i]) &&
            !map_segment(stage2, table_memory_of(domain, true), &segments[i])) {
            return false;
        }
    }
    for (uint32_t i = 0; i < domain->segment_count; i++) {
        if (!table_memory_is_marked(&segments[i]) && !map_segment(stage2, stage2->pool, &segments[i])) {
            return false;
        }
    }
    return true;
}

static uint64_t vtcr_of(const struct manifest_domain *domain)
{
    uint64_t walks = VTCR_IRGN0_WRITE_BACK | VTCR_ORGN0_WRITE_BACK | VTCR_SH0_INNER;

    return VTCR_T0SZ | VTCR_SL0_LEVEL1 | (table_memory_is_cached(domain) ? walks : 0) |
           (ptable_output_size() << VTCR_PS_SHIFT) | VTCR_RES1;
}

bool stage2_create(struct stage2 *stage2, const struct manifest_header *manifest,
                   const struct manifest_domain *domain, uint32_t vmid)
{
    const struct manifest_device *devices = manifest_devices(manifest) + domain->first_device;

    stage2->manifest = manifest;
    stage2->domain = domain;
    stage2->pool = table_memory_of(domain, false);
    stage2->memory = memory_attributes(manifest, domain);
    if (!ptable_create(table_memory_of(domain, true), &stage2->root)) {
        return false;
    }
    stage2->vttbr = stage2->root.value | ((uint64_t)vmid << VTTBR_VMID_SHIFT);
    stage2->vtcr = vtcr_of(domain);
    if (!map_segments(stage2)) {
        return false;
    }
    for (uint32_t i = 0; i < domain->device_count; i++) {
        if (!stage2_map_device(stage2, devices[i].ipa, paddr(devices[i].pa), devices[i].bytes)) {
            return false;
        }
    }
    return true;
}

bool stage2_owns(const struct stage2 *stage2, ipaddr_t ipa)
{
    return placement_segment(stage2->manifest, stage2->domain, ipa.value) != NULL;
}

/* The page after `pa` in the range, whose granules have `granule` bytes. */
static paddr_t page_after(const struct color_range *range, uint64_t granule, paddr_t pa)
{
    paddr_t next = paddr(pa.value + BH_PAGE_BYTES);

    return (next.value & (granule - 1)) != 0 ? next : color_after(range, pa);
}

bool stage2_map_lazily(const struct stage2 *stage2, ipaddr_t ipa)
{
    uint64_t page = ipa.value & ~(uint64_t)(BH_PAGE_BYTES - 1);
    const struct manifest_segment *segment = placement_segment(stage2->manifest, stage2->domain, page);
    paddr_t pages[STAGE2_LAZY_BYTES / BH_PAGE_BYTES];
    uint64_t first = page & ~(uint64_t)(STAGE2_LAZY_BYTES - 1);
    uint64_t end = first + STAGE2_LAZY_BYTES;
    uint32_t count = 1;
    struct color_range range;
    uint64_t granule;

    if (segment == NULL) {
        return false;
    }
    range = manifest_segment_range(stage2->manifest, segment);
    if (range.space.bits == 0) {
        return false; /* mapped from the start: the fault has another cause */
    }
    /* The fault and the table walk cost much more than an entry, and neighbouring pages are likely to be
     * accessed next. */
    first = first < segment->ipa ? segment->ipa : first;
    end = end > segment->ipa + segment->bytes ? segment->ipa + segment->bytes : end;
    granule = color_granule_bytes(range.space);
    pages[0] = color_at(&range, first - segment->ipa);
    for (uint64_t at = first + BH_PAGE_BYTES; at < end; at += BH_PAGE_BYTES) {
        pages[count] = page_after(&range, granule, pages[count - 1]);
        count++;
    }
    table_make_stage2(ptable_page_entry(stage2->pool, stage2->root, first), pages, count,
                      attributes_of(stage2, segment));
    return true;
}
