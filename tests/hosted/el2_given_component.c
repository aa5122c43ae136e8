/* SPDX-License-Identifier: Apache-2.0
 *
 * Linked with the unchanged hypervisor (the linker's --wrap): each domain has the registers of the first MPAM
 * component in its address space, where the board has them. Shows the effect of leaving them out of stage 2.
 */
#include "memory/stage2.h"

bool __real_stage2_create(struct stage2 *stage2, const struct manifest_header *manifest,
                          const struct manifest_domain *domain, uint32_t vmid);
bool __wrap_stage2_create(struct stage2 *stage2, const struct manifest_header *manifest,
                          const struct manifest_domain *domain, uint32_t vmid);

bool __wrap_stage2_create(struct stage2 *stage2, const struct manifest_header *manifest,
                          const struct manifest_domain *domain, uint32_t vmid)
{
    const uint64_t page = 0x2C000000u; /* platforms/mpam4.yaml */
    const uint64_t bytes = 0x10000u;

    return __real_stage2_create(stage2, manifest, domain, vmid) &&
           stage2_map_device(stage2, page, paddr(page), bytes);
}
