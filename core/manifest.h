/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * The manifest: the one door through which configuration comes in. manifest_check() looks at every field
 * once; what it accepts needs no further checks. The accessors below are valid only on an accepted manifest.
 */
#ifndef BULKHEAD_CORE_MANIFEST_H
#define BULKHEAD_CORE_MANIFEST_H

#include "core/color.h"
#include "core/flow.h"
#include <bulkhead_layout.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The answer: error BH_MANIFEST_ERROR_NONE, or what is wrong and where in the manifest (byte offset). */
struct manifest_verdict {
    enum bh_manifest_error error;
    uint32_t offset;
};

/* Checks a manifest of at most `available` bytes at `data`, 8-byte aligned. `package_bytes` bounds the
 * images' sources. Reads only, never outside of the first min(available, total_bytes) bytes. */
struct manifest_verdict manifest_check(const void *data, size_t available, uint64_t package_bytes);

struct devicetree;

/* Checks an accepted manifest against the device tree of the board that it boots on, which lies at `tree_pa`:
 * the board has the manifest's memory and cores, its firmware keeps none of that memory, and PSCI is called
 * in the manifest's way. */
struct manifest_verdict manifest_check_board(const struct manifest_header *manifest,
                                             const struct devicetree *tree, uint64_t tree_pa);

struct regulator_parameters;

/* The regulator's parameters, with an interval of `interval_ticks`. */
void manifest_regulator(const struct manifest_regulation *from, const struct manifest_delays *delays,
                        uint64_t interval_ticks, struct regulator_parameters *parameters);

/* Whether the manifest's regulator, with the manifest's members, may have these parameters: the index of the
 * first of their words of 64 bits that is bad, BH_REGULATION_WORDS if none is. */
uint32_t manifest_regulation_bad_word(const struct manifest_header *manifest,
                                      const struct manifest_regulation *regulation);

/* Who owns a byte of [pa, pa + bytes): the place in the manifest of the pool, a segment or a device; NULL if
 * nobody does. Both are page-aligned. */
const void *manifest_owner_of(const struct manifest_header *manifest, uint64_t pa, uint64_t bytes);

/* True if a granule of both ranges has the same address. */
bool color_ranges_overlap(const struct color_range *a, uint64_t a_bytes, const struct color_range *b,
                          uint64_t b_bytes);

static inline struct color_space manifest_color_space(const struct manifest_header *manifest)
{
    struct color_space space = {manifest->platform.color_bits};

    return space;
}

#define MANIFEST_TABLE(name, field, record)                                                                  \
    static inline const struct record *manifest_##name(const struct manifest_header *manifest)               \
    {                                                                                                        \
        return (const struct record *)(const void *)((const char *)manifest + manifest->field.offset);       \
    }
MANIFEST_TABLE(cpus, cpus, manifest_cpu)
MANIFEST_TABLE(ram_ranges, ram, manifest_ram)
MANIFEST_TABLE(color_sets, color_sets, color_set_record)
MANIFEST_TABLE(domains, domains, manifest_domain)
MANIFEST_TABLE(vcpus, vcpus, manifest_vcpu)
MANIFEST_TABLE(segments, segments, manifest_segment)
MANIFEST_TABLE(images, images, manifest_image)
MANIFEST_TABLE(irqs, irqs, manifest_irq)
MANIFEST_TABLE(devices, devices, manifest_device)
MANIFEST_TABLE(calls, calls, manifest_call)
MANIFEST_TABLE(flows, flows, manifest_flow)
MANIFEST_TABLE(bandwidth_curve, bandwidth_curve, manifest_bandwidth_point)
MANIFEST_TABLE(bandwidth_table, bandwidth_table, manifest_bandwidth_row)
MANIFEST_TABLE(mpam_components, mpam_components, manifest_mpam_component)
MANIFEST_TABLE(mpam_instances, mpam_instances, manifest_mpam_instance)
MANIFEST_TABLE(mpam_settings, mpam_settings, manifest_mpam_setting)
MANIFEST_TABLE(mpam_words, mpam_words, manifest_mpam_word)
#undef MANIFEST_TABLE

static inline const struct color_set *manifest_color_set(const struct manifest_header *manifest,
                                                         uint32_t index)
{
    return (const struct color_set *)(const void *)(manifest_color_sets(manifest) + index);
}

/* The frames behind a segment, and behind the hypervisor's pool. */
static inline struct color_range manifest_segment_range(const struct manifest_header *manifest,
                                                        const struct manifest_segment *segment)
{
    struct color_range range = {manifest_color_space(manifest),
                                manifest_color_set(manifest, segment->color_set), paddr(segment->pa)};

    return range;
}

static inline struct color_range manifest_pool_range(const struct manifest_header *manifest)
{
    struct color_range range = {manifest_color_space(manifest),
                                manifest_color_set(manifest, manifest->hypervisor.pool_color_set),
                                paddr(manifest->hypervisor.pool_pa)};

    return range;
}

/* The frames for stage-2 tables in colored memory; false if there are none. */
bool manifest_tables_range(const struct manifest_header *manifest, struct color_range *range);

/* Whether a domain's budget may be so many events in each period of this length: 2^40 - 1, and 1 us to 1 h,
 * at most. Also of a change at run time. */
bool manifest_budget_is_sound(uint64_t events, uint64_t period_ns);

/* Whether a flow can be between domains of this system, by itself. Also of one that is added at run time. */
bool manifest_flow_is_sound(const struct manifest_header *manifest, const struct manifest_flow *flow);

static inline const struct flow_costs *manifest_costs(const struct manifest_header *manifest)
{
    return (const struct flow_costs *)(const void *)&manifest->broker.costs;
}

#ifdef __cplusplus
}
#endif

#endif
