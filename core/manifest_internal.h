/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * State of one check of a manifest, and how an error is reported; for the source files of the manifest's
 * check only. The first error wins: every check function returns false when it has reported one.
 */
#ifndef BULKHEAD_CORE_MANIFEST_INTERNAL_H
#define BULKHEAD_CORE_MANIFEST_INTERNAL_H

#include "core/manifest.h"

#ifdef __cplusplus
extern "C" {
#endif

struct manifest_check {
    const struct manifest_header *manifest;
    uint64_t package_bytes;
    struct manifest_verdict verdict;
};

/* Records an error at `place`, a pointer into the manifest. Always returns false. */
static inline bool manifest_refuse(struct manifest_check *check, enum bh_manifest_error error,
                                   const void *place)
{
    check->verdict = (struct manifest_verdict){
        .error = error,
        .offset = (uint32_t)((const char *)place - (const char *)check->manifest),
    };
    return false;
}

/* Limits of guest-physical and physical addresses: 39 bits for guests (one root table), 48 bits on the
 * bus. */
#define MANIFEST_IPA_LIMIT (1ull << 39)
#define MANIFEST_PA_LIMIT  (1ull << 48)

static inline bool is_page_aligned(uint64_t value)
{
    return (value & (BH_PAGE_BYTES - 1)) == 0;
}

static inline bool ranges_overlap(uint64_t a, uint64_t a_bytes, uint64_t b, uint64_t b_bytes)
{
    return a < b + b_bytes && b < a + a_bytes;
}

/* manifest_platform.c: board facts, cores, RAM, color sets. */
bool manifest_check_platform(struct manifest_check *check);
/* manifest_regions.c: whether the regions that EL2 keeps for itself are at valid places, apart from each
 * other and from RAM, which has been checked before. */
bool manifest_check_regions(struct manifest_check *check);

/* manifest_budgets.c: budgets, and their regulation with the memory for samples. The domain's VCPUs have been
 * checked before; for manifest_check_regulation(), VCPUs and devices of all domains. In a space-only program,
 * manifest_space_only.c instead checks that there are no budgets and nothing else about time. */
bool manifest_check_budget(struct manifest_check *check, const struct manifest_domain *domain);
bool manifest_check_regulation(struct manifest_check *check);

/* manifest_flows.c: flows, sockets and the broker; domains and devices have been checked before. Or
 * manifest_space_only.c: that there are none. */
bool manifest_check_flows(struct manifest_check *check);

/* manifest_admission.c: the stated memory bandwidth, and that all budgets together are within it; everything
 * else has been checked before. Or manifest_space_only.c: that no bandwidth is stated. */
bool manifest_check_bandwidth(struct manifest_check *check);

/* manifest_device_regulators.c: rates of regulators in front of devices. Or manifest_space_only.c: that there
 * are none. */
bool manifest_check_device_regulators(struct manifest_check *check);

/* manifest_resets.c: registers that reset devices, and which bits are whose; domains have been checked
 * before. */
bool manifest_check_resets(struct manifest_check *check);

/* manifest_mpam.c: components, PARTIDs and the settings of partitions; domains have been checked before. Or
 * manifest_space_only.c: that there are none. */
bool manifest_check_mpam(struct manifest_check *check);

/* manifest_smmu.c: the SMMU and the streams of domains' devices, and then PCI and the ITS; domains have been
 * checked before. Or, in programs without their drivers, manifest_no_smmu.c: that there are none. */
bool manifest_check_smmu(struct manifest_check *check);

/* manifest_pci.c: the PCI host bridge and the functions of domains, and then the ITS; devices and streams
 * have been checked before. */
bool manifest_check_pci(struct manifest_check *check);

/* manifest_bridges.c: the PCI bridges; and whether a function is on bus 0 or behind a bridge, with its BARs
 * in the window of that bridge and of no other. */
bool manifest_check_bridges(struct manifest_check *check);
bool manifest_function_is_behind_its_bridge(const struct manifest_header *manifest,
                                            const struct manifest_function *function);

/* manifest_its.c: the ITS and the functions' message interrupts. */
bool manifest_check_its(struct manifest_check *check);

/* manifest_nothing.c: whether every field of MPAM, of the bandwidth, of flows, of a budget or of the
 * regulation is zero. */
bool manifest_has_no_mpam(const struct manifest_header *manifest);
bool manifest_has_no_bandwidth(const struct manifest_header *manifest);
bool manifest_has_no_flows(const struct manifest_header *manifest);
bool manifest_has_nothing_of(const struct manifest_broker *broker);
bool manifest_has_no_budget(const struct manifest_domain *domain);
bool manifest_has_no_regulation(const struct manifest_header *manifest);

/* manifest_calls.c: firmware functions that a domain may call; VCPUs of all domains have been checked before.
 * Or manifest_space_only.c: that there are none. */
bool manifest_check_calls(struct manifest_check *check, const struct manifest_domain *domain);

/* manifest_flash.c: flags that a segment may have in this program. */
extern const uint32_t manifest_segment_flags;

/* manifest_flash.c: a segment that accepts flash commands. It has been checked as memory, and the table rows
 * that the domain states exist. */
bool manifest_check_flash(struct manifest_check *check, const struct manifest_domain *domain,
                          const struct manifest_segment *flash);

/* manifest_domains.c: domains, VCPUs, images, interrupts and devices. */
bool manifest_check_domains(struct manifest_check *check);
/* Whether EL2 can use a shared interrupt itself: no domain, no core's performance monitors and no UART has
 * it. */
bool manifest_is_own_irq(const struct manifest_header *manifest, uint32_t intid);
/* Whether an engine of EL2 has it. */
static inline bool manifest_is_engine_irq(const struct manifest_header *manifest, uint32_t intid)
{
    return intid == manifest->broker.engine_irq || intid == manifest->second_broker.engine_irq;
}

/* manifest_memory.c: the pool and all segments lie in RAM, and no frame has two owners. */
bool manifest_check_memory(struct manifest_check *check);
/* Whether a range starts in a granule whose color is in its set, and ends in the RAM range in which it
 * starts. */
bool manifest_is_in_ram(const struct manifest_header *manifest, const struct color_range *range,
                        uint64_t bytes);

/* manifest_tables.c: the memory for stage-2 tables, checked before the segments, and the part of it that a
 * domain has. Or manifest_space_only.c: that there is none. */
bool manifest_check_tables(struct manifest_check *check);
bool manifest_check_table_memory(struct manifest_check *check, const struct manifest_domain *domain);

#ifdef __cplusplus
}
#endif

#endif
