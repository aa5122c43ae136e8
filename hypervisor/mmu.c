/* SPDX-License-Identifier: Apache-2.0
 *
 * EL2's own address space.
 */
#include "mmu.h"
#include "image.h"
#include "ptable.h"
#include "window.h"
#include <arch/gic.h>
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

static uint64_t attributes_of(uint64_t frame)
{
    if (frame < frame_of(image_text_end)) {
        return MMU_CODE;
    }
    return frame < frame_of(image_rodata_end) ? MMU_CONST : MMU_DATA;
}

/* Under every stack is a page that is not there: an overflow faults instead of reaching the neighbour. */
static bool is_stack_guard(uint64_t frame)
{
    uint64_t first = frame_of(cpu_stacks);

    return frame >= first && frame < first + 2 * BH_MAX_CORES && (frame - first) % 2 == 0;
}

static bool map_pool(struct pool *pool, paddr_t root)
{
    for (uint64_t frame = 0; frame < pool->frames; frame++) {
        uint64_t offset = frame * BH_PAGE_BYTES;

        if (is_stack_guard(frame)) {
            continue;
        }
        if (!ptable_map(pool, root, POOL_VA + offset, color_at(&pool->range, offset), BH_PAGE_BYTES,
                        attributes_of(frame))) {
            return false;
        }
    }
    return true;
}

static bool map_device(struct pool *pool, paddr_t root, uint64_t pa, uint64_t bytes)
{
    return ptable_map(pool, root, pa, paddr(pa), bytes, MMU_DEVICE);
}

static bool map_devices(struct pool *pool, paddr_t root, const struct manifest_header *manifest)
{
    const struct manifest_platform *platform = &manifest->platform;

    if (!map_device(pool, root, platform->uart_pa, BH_PAGE_BYTES)) {
        return false;
    }
    if (platform->gic_version == BH_GIC_VERSION_GICV3) {
        return map_device(pool, root, platform->gicd_pa, GICV3_DISTRIBUTOR_BYTES) &&
               map_device(pool, root, platform->gicr_pa, GICV3_REDISTRIBUTOR_BYTES);
    }
    return map_device(pool, root, platform->gicd_pa, GICV2_DISTRIBUTOR_BYTES) &&
           map_device(pool, root, platform->gicc_pa, GICV2_INTERFACE_BYTES) &&
           map_device(pool, root, platform->gich_pa, GICV2_HYPERVISOR_BYTES);
}

/* The image's first page, where cores turn the MMU on, also at its physical address. */
static bool map_trampoline(struct pool *pool, paddr_t root)
{
    paddr_t page = color_at(&pool->range, 0);

    return ptable_map(pool, root, page.value, page, BH_PAGE_BYTES, MMU_CODE);
}

bool mmu_create(struct pool *pool, const struct manifest_header *manifest, paddr_t *root)
{
    return ptable_create(pool, root) && map_pool(pool, *root) && map_devices(pool, *root, manifest) &&
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
