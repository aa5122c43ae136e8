/* SPDX-License-Identifier: Apache-2.0
 *
 * Builds EL2's own address space.
 */
#include "memory/mmu.h"
#include "base/image.h"
#include "core/manifest_regions.h"
#include "memory/ptable.h"
#include "memory/window.h"
#include <arch/sysreg.h>

#define TCR_T0SZ             (64ull - PTABLE_INPUT_BITS)
#define TCR_IRGN0_WRITE_BACK (1ull << 8)
#define TCR_ORGN0_WRITE_BACK (1ull << 10)
#define TCR_SH0_INNER        (3ull << 12)
#define TCR_PS_SHIFT         16
#define TCR_RES1             ((1ull << 31) | (1ull << 23))

#define SCTLR_RES1 0x30C50830ull
#define SCTLR_M    (1ull << 0)
#define SCTLR_A    (1ull << 1)
#define SCTLR_C    (1ull << 2)
#define SCTLR_SA   (1ull << 3)
#define SCTLR_I    (1ull << 12)
#define SCTLR_WXN  (1ull << 19)

static uint64_t frame_of(const char *symbol)
{
    return (uint64_t)(symbol - image_start) / BH_PAGE_BYTES;
}

/* The number of physically contiguous bytes from `offset` on, at most `most`. */
static uint64_t contiguous_bytes(const struct color_range *range, uint64_t offset, uint64_t most)
{
    uint64_t granule = color_granule_bytes(range->space);
    uint64_t bytes = granule - (offset & (granule - 1));

    return range->space.bits == 0 || bytes > most ? most : bytes;
}

/* Maps frames [first, end) of the pool, in blocks where memory is not colored. */
static bool map_frames(struct pool *pool, paddr_t root, uint64_t first, uint64_t end, uint64_t attributes)
{
    uint64_t offset = first * BH_PAGE_BYTES;

    while (offset < end * BH_PAGE_BYTES) {
        uint64_t bytes = contiguous_bytes(&pool->range, offset, end * BH_PAGE_BYTES - offset);

        if (!ptable_map(pool, root, POOL_VA + offset, color_at(&pool->range, offset), bytes, attributes)) {
            return false;
        }
        offset += bytes;
    }
    return true;
}

/* Below every stack is an unmapped page, so that an overflow faults instead of overwriting the neighbour. */
static bool map_stacks(struct pool *pool, paddr_t root)
{
    uint64_t first = frame_of(cpu_stacks);

    for (uint64_t stack = first + 1; stack < first + UINT64_C(2) * BH_MAX_CORES; stack += 2) {
        if (!map_frames(pool, root, stack, stack + 1, MMU_DATA)) {
            return false;
        }
    }
    return true;
}

static bool map_pool(struct pool *pool, paddr_t root)
{
    return map_frames(pool, root, 0, frame_of(image_text_end), MMU_CODE) &&
           map_frames(pool, root, frame_of(image_text_end), frame_of(image_rodata_end), MMU_CONST) &&
           map_frames(pool, root, frame_of(image_rodata_end), frame_of(cpu_stacks), MMU_DATA) &&
           map_stacks(pool, root) && map_frames(pool, root, frame_of(image_end), pool->frames, MMU_DATA);
}

/* Maps device registers at their physical addresses: the regions of the manifest, whose check has ensured
 * that they lie below the pool and do not overlap. */
static bool map_regions(struct pool *pool, paddr_t root, const struct manifest_header *manifest)
{
    struct manifest_region region;

    for (uint32_t i = 0; i < BH_REGION_COUNT; i++) {
        if (manifest_region(manifest, i, &region) && region.mapped &&
            !ptable_map(pool, root, region.pa, paddr(region.pa), region.bytes, MMU_DEVICE)) {
            return false;
        }
    }
    return true;
}

/* Maps the image's first page, where cores turn the MMU on, also at its physical address. */
static bool map_trampoline(struct pool *pool, paddr_t root)
{
    paddr_t page = color_at(&pool->range, 0);

    return ptable_map(pool, root, page.value, page, BH_PAGE_BYTES, MMU_CODE);
}

bool mmu_create(struct pool *pool, const struct manifest_header *manifest, paddr_t *root)
{
    return ptable_create(pool, root) && map_pool(pool, *root) && map_regions(pool, *root, manifest) &&
           map_trampoline(pool, *root) && window_prepare(pool, *root);
}

uint64_t mmu_tcr(void)
{
    return TCR_T0SZ | TCR_IRGN0_WRITE_BACK | TCR_ORGN0_WRITE_BACK | TCR_SH0_INNER |
           (ptable_output_size() << TCR_PS_SHIFT) | TCR_RES1;
}

uint64_t mmu_sctlr(void)
{
    return SCTLR_RES1 | SCTLR_M | SCTLR_A | SCTLR_C | SCTLR_SA | SCTLR_I | SCTLR_WXN;
}
