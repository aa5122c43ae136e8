/* SPDX-License-Identifier: Apache-2.0
 *
 * Boot on the first core, with the MMU off. The code runs where the loader put the package, at physical
 * addresses, so it must not use pointers that were initialized at link time. All stores go straight to
 * memory.
 */
#include "boot/boot.h"
#include "base/format.h"
#include "base/image.h"
#include "base/platform_check.h"
#include "boot/refuse.h"
#include "boot/trampoline.h"
#include "core/devicetree.h"
#include "core/manifest.h"
#include "iommu/smmu.h"
#include "its/its.h"
#include "memory/cache.h"
#include "memory/mmu.h"
#include "memory/placement.h"
#include "pci/pci.h"
#include "run/device_reset.h"
#include <arch/barrier.h>
#include <arch/gic.h>
#include <arch/physical.h>
#include <arch/sysreg.h>
#include <string.h>

struct boot_handover boot_handover;

/* Copies to frames of the pool, starting with frame `frame`. */
static void copy_to_pool(const struct color_range *range, uint64_t frame, const char *source, uint64_t bytes)
{
    for (uint64_t done = 0; done < bytes; done += BH_PAGE_BYTES) {
        uint64_t chunk = bytes - done < BH_PAGE_BYTES ? bytes - done : BH_PAGE_BYTES;
        paddr_t pa = color_at(range, frame * BH_PAGE_BYTES + done);

        cache_clean(pa, BH_PAGE_BYTES);
        memcpy(phys_pointer(pa), source + done, chunk);
    }
}

static void clear_in_pool(const struct color_range *range, uint64_t frame, uint64_t frames)
{
    for (uint64_t end = frame + frames; frame < end; frame++) {
        paddr_t pa = color_at(range, frame * BH_PAGE_BYTES);

        cache_clean(pa, BH_PAGE_BYTES);
        memset(phys_pointer(pa), 0, BH_PAGE_BYTES);
    }
}

/* Copies code and constants, and clears variables. Stacks are not cleared: like the free frames of the pool,
 * they are used only with the MMU on, so old cache lines of them do no harm. */
static void copy_image(const struct color_range *range)
{
    uint64_t copied = (uint64_t)(image_variables - image_start);

    copy_to_pool(range, 0, image_start, copied);
    clear_in_pool(range, copied / BH_PAGE_BYTES, (uint64_t)(cpu_stacks - image_variables) / BH_PAGE_BYTES);
}

static void load_image(const struct manifest_header *manifest, const struct manifest_domain *domain,
                       const struct manifest_image *image, uint64_t load_address)
{
    const char *source = phys_pointer(paddr(load_address + image->offset));

    for (uint64_t done = 0; done < image->bytes;) {
        struct placement place = placement_of(manifest, domain, image->ipa + done, image->bytes - done);

        cache_clean(place.pa, place.bytes);
        memcpy(phys_pointer(place.pa), source + done, place.bytes);
        done += place.bytes;
    }
}

static void load_images(const struct manifest_header *manifest, uint64_t load_address)
{
    const struct manifest_domain *domains = manifest_domains(manifest);
    const struct manifest_image *images = manifest_images(manifest);

    for (uint32_t i = 0; i < manifest->domains.count; i++) {
        for (uint32_t j = 0; j < domains[i].image_count; j++) {
            const struct manifest_image *image = &images[domains[i].first_image + j];

            if ((image->flags & BH_IMAGE_FLAG_IN_PLACE) == 0) {
                load_image(manifest, &domains[i], image, load_address);
            }
        }
    }
}

/* The frames of the package must belong to no domain and not to the hypervisor, or loading one guest could
 * overwrite another's source. */
static bool load_area_is_free(const struct manifest_header *manifest, uint64_t load_address,
                              uint64_t package_bytes)
{
    return manifest_owner_of(manifest, load_address, package_bytes) == NULL;
}

/* Checks the device tree that a boot loader passes if it follows the Linux protocol. The tree may be only in
 * the loader's caches. */
static void check_board(const struct manifest_header *manifest, uint64_t tree_pa)
{
    const void *blob = phys_pointer(paddr(tree_pa));
    struct manifest_verdict verdict = {BH_MANIFEST_ERROR_DEVICE_TREE, 0};
    struct devicetree tree;

    if (tree_pa == 0 || tree_pa % DEVICETREE_ALIGNMENT != 0) {
        return;
    }
    cache_clean(paddr(tree_pa), DEVICETREE_HEADER_BYTES);
    if (!devicetree_has_magic(blob)) {
        return;
    }
    if (devicetree_open(&tree, blob, DEVICETREE_MAX_BYTES)) {
        cache_clean(paddr(tree_pa), tree.used_bytes);
        verdict = manifest_check_board(manifest, &tree, tree_pa);
    }
    if (verdict.error != BH_MANIFEST_ERROR_NONE) {
        refuse(verdict.error, verdict.offset);
    }
}

static const struct manifest_header *checked_manifest(const struct image_header *image, uint64_t load_address)
{
    const struct manifest_header *manifest =
        phys_pointer(paddr(load_address + image->package.manifest_offset));
    struct manifest_verdict verdict;

    if (image->package.magic != BH_PACKAGE_MAGIC || image->package.version != BH_PACKAGE_VERSION ||
        image->package.manifest_offset % BH_PAGE_BYTES != 0 ||
        !range_within(image->package.manifest_offset, image->package.manifest_bytes, 0,
                      image->package.package_bytes)) {
        refuse(BH_MANIFEST_ERROR_TRUNCATED, 0);
    }
    verdict = manifest_check(manifest, image->package.manifest_bytes, image->package.package_bytes);
    if (verdict.error != BH_MANIFEST_ERROR_NONE) {
        refuse(verdict.error, verdict.offset);
    }
    if (!platform_matches(&manifest->platform)) {
        refuse(BH_MANIFEST_ERROR_HARDWARE, offsetof(struct manifest_header, platform));
    }
    if (!load_area_is_free(manifest, load_address, image->package.package_bytes)) {
        refuse(BH_MANIFEST_ERROR_LOAD_AREA, 0);
    }
    return manifest;
}

/* Physical address of a symbol of the image in the pool. */
static paddr_t in_pool(const struct pool *pool, const void *symbol)
{
    return color_at(&pool->range, (uint64_t)((const char *)symbol - image_start));
}

uint64_t boot_prepare(uint64_t load_address, uint64_t device_tree)
{
    uint64_t entered_at = sysreg_read(CNTPCT_EL0);
    const struct image_header *image = phys_pointer(paddr(load_address));
    const struct manifest_header *manifest = checked_manifest(image, load_address);
    uint64_t image_frames = (uint64_t)(image_end - image_start) / BH_PAGE_BYTES;
    uint64_t manifest_frames = (manifest->total_bytes + BH_PAGE_BYTES - 1) / BH_PAGE_BYTES;
    struct pool pool = {
        .range = manifest_pool_range(manifest),
        .frames = manifest->hypervisor.pool_bytes / BH_PAGE_BYTES,
        .used = image_frames + manifest_frames,
    };
    const struct manifest_reset *stuck;
    struct boot_handover *handover;
    struct trampoline_values *values;
    paddr_t root;

    check_board(manifest, device_tree);
    if (pool.used >= pool.frames) {
        refuse(BH_MANIFEST_ERROR_POOL_EXHAUSTED, offsetof(struct manifest_header, hypervisor));
    }
    if (!smmu_silence(manifest)) { /* a device could write into what is loaded */
        refuse(BH_MANIFEST_ERROR_IOMMU, offsetof(struct manifest_header, smmu));
    }
    pci_silence(manifest);
    stuck = device_reset_all(manifest);
    if (stuck != NULL) {
        refuse_say("a register that resets a device does not hold what is written to it");
        refuse(BH_MANIFEST_ERROR_HARDWARE, (uint32_t)((const char *)stuck - (const char *)manifest));
    }
    if (!gic_silence(&manifest->platform)) {
        refuse_say("message interrupts that a boot loader has enabled cannot be disabled");
        refuse(BH_MANIFEST_ERROR_HARDWARE, offsetof(struct manifest_header, platform.gicr_pa));
    }
    if (!its_silence(manifest)) {
        refuse_say("the ITS does not stop");
        refuse(BH_MANIFEST_ERROR_ITS, offsetof(struct manifest_header, its));
    }
    load_images(manifest, load_address);
    copy_image(&pool.range);
    copy_to_pool(&pool.range, image_frames, (const char *)manifest, manifest->total_bytes);
    if (!mmu_create(&pool, manifest, &root)) {
        refuse(BH_MANIFEST_ERROR_POOL_EXHAUSTED, offsetof(struct manifest_header, hypervisor));
    }

    handover = phys_pointer(in_pool(&pool, &boot_handover));
    *handover = (struct boot_handover){
        .ttbr0 = root.value,
        .pool_used = pool.used,
        .manifest_frame = image_frames,
        .entered_at = entered_at,
        .load_address = load_address,
        .trampoline = in_pool(&pool, trampoline_entry),
    };
    values = phys_pointer(in_pool(&pool, &trampoline_values));
    *values = (struct trampoline_values){
        .ttbr0 = root.value,
        .tcr = mmu_tcr(),
        .mair = MMU_MAIR,
        .sctlr = mmu_sctlr(),
        .target = POOL_VA + (uint64_t)((const char *)cpu_start - image_start),
    };
    arch_dsb_sy();
    arch_icache_invalidate_local();
    return handover->trampoline.value;
}

_Noreturn void boot_wrong_level(uint64_t current_el)
{
    char text[64];

    (void)format_text(text, sizeof text, "entered at EL%u, must be started at EL2",
                      (unsigned)(current_el >> 2 & 3));
    refuse_say(text);
    for (;;) {
        arch_wfe();
    }
}
