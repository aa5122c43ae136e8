/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Shared by the parts of the manifest's check only: the state of one check, and how a finding is reported.
 * The first finding wins; every check function returns false when it has reported one.
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

/* Records a finding at `place`, a pointer into the manifest. Always false. */
static inline bool manifest_refuse(struct manifest_check *check, enum bh_manifest_error error,
                                   const void *place)
{
    check->verdict = (struct manifest_verdict){
        .error = error,
        .offset = (uint32_t)((const char *)place - (const char *)check->manifest),
    };
    return false;
}

/* Largest guest-physical and physical addresses: 39 bits of guest space (one root table), 48 bits on the bus.
 */
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
/* manifest_regions.c: where the regions that EL2 keeps can be, apart from each other and from RAM, which has
 * been checked. */
bool manifest_check_regions(struct manifest_check *check);

/* manifest_budgets.c: budgets, and the regulation of them, with the memory for samples. The domain's VCPUs
 * have been checked; VCPUs and devices of all, for the second. Or manifest_space_only.c: that there are none,
 * and nothing else of time. */
bool manifest_check_budget(struct manifest_check *check, const struct manifest_domain *domain);
bool manifest_check_regulation(struct manifest_check *check);

/* manifest_flows.c: flows, sockets and the broker; domains and devices have been checked. Or
 * manifest_space_only.c: that there are none. */
bool manifest_check_flows(struct manifest_check *check);

/* manifest_admission.c: what the memory sustains, and that all budgets together are within it; everything
 * else has been checked. Or manifest_space_only.c: that nothing is said of it. */
bool manifest_check_bandwidth(struct manifest_check *check);

/* manifest_mpam.c: components, PARTIDs and what partitions ask of them; domains have been checked. Or
 * manifest_space_only.c: that there are none. */
bool manifest_check_mpam(struct manifest_check *check);

/* manifest_nothing.c: every field of a budget, of the regulation, of flows, of the bandwidth or of MPAM is
 * zero. */
bool manifest_has_no_mpam(const struct manifest_header *manifest);
bool manifest_has_no_bandwidth(const struct manifest_header *manifest);
bool manifest_has_no_flows(const struct manifest_header *manifest);
bool manifest_has_no_budget(const struct manifest_domain *domain);
bool manifest_has_no_regulation(const struct manifest_header *manifest);

/* manifest_calls.c: functions of firmware that a domain may call; VCPUs of all have been checked. Or
 * manifest_space_only.c: that there are none. */
bool manifest_check_calls(struct manifest_check *check, const struct manifest_domain *domain);

/* manifest_flash.c: what a segment can be in this program. */
extern const uint32_t manifest_segment_flags;

/* manifest_flash.c: a segment of the domain that takes commands of flash; it is sound as memory, and the
 * domain has the rows that it says. */
bool manifest_check_flash(struct manifest_check *check, const struct manifest_domain *domain,
                          const struct manifest_segment *flash);

/* manifest_domains.c: domains, VCPUs, images, interrupts, devices. */
bool manifest_check_domains(struct manifest_check *check);
/* Whether EL2 can have a shared interrupt for itself: no domain, no core's monitors and no UART has it. */
bool manifest_is_own_irq(const struct manifest_header *manifest, uint32_t intid);

/* manifest_memory.c: the pool and all segments: in RAM, and no frame with two owners. */
bool manifest_check_memory(struct manifest_check *check);
/* Whether a range starts in a granule of its set and ends in the same piece of RAM in which it starts. */
bool manifest_is_in_ram(const struct manifest_header *manifest, const struct color_range *range,
                        uint64_t bytes);

/* manifest_tables.c: the memory for stage-2 tables, before the segments; what a domain has of it; and the
 * part of it that is in RAM, false if there is none. Or manifest_space_only.c: that there is none. */
bool manifest_check_tables(struct manifest_check *check);
bool manifest_check_table_memory(struct manifest_check *check, const struct manifest_domain *domain);

#ifdef __cplusplus
}
#endif

#endif
