/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * The manifest: the only way in which configuration enters the hypervisor. manifest_check() checks every
 * field once; an accepted manifest needs no further checks. The accessors below may be used only on an
 * accepted manifest.
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

/* The verdict: error BH_MANIFEST_ERROR_NONE, or the kind of error and its byte offset in the manifest. */
struct manifest_verdict {
    enum bh_manifest_error error;
    uint32_t offset;
};

/* Checks a manifest of at most `available` bytes at `data`, 8-byte aligned. `package_bytes` is the size of
 * the package, in which the sources of the images must lie. Reads only the first min(available, total_bytes)
 * bytes and writes nothing. */
struct manifest_verdict manifest_check(const void *data, size_t available, uint64_t package_bytes);

struct devicetree;

/* Checks an accepted manifest against the device tree of the board that it boots on, which lies at physical
 * address `tree_pa`: the board has the memory and cores that the manifest names, its firmware reserves none
 * of that memory, and PSCI is called by the conduit that the manifest states. */
struct manifest_verdict manifest_check_board(const struct manifest_header *manifest,
                                             const struct devicetree *tree, uint64_t tree_pa);

struct regulator_parameters;

/* Fills in the regulator's parameters, with an interval of `interval_ticks`. */
void manifest_regulator(const struct manifest_regulation *from, const struct manifest_delays *delays,
                        uint64_t interval_ticks, struct regulator_parameters *parameters);

/* Whether the parameters are valid for the manifest's regulator with the manifest's member cores: the index
 * of the first bad one of their 64-bit words, or BH_REGULATION_WORDS if all are good. */
uint32_t manifest_regulation_bad_word(const struct manifest_header *manifest,
                                      const struct manifest_regulation *regulation);

/* The owner of a byte in [pa, pa + bytes): the record of the pool, of a segment or of a device in the
 * manifest, or for a region the header field with its address; NULL if nobody owns one. Both numbers are
 * multiples of the page size. */
const void *manifest_owner_of(const struct manifest_header *manifest, uint64_t pa, uint64_t bytes);

/* Whether the two ranges have a granule in common. */
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
MANIFEST_TABLE(streams, streams, manifest_stream)
MANIFEST_TABLE(functions, functions, manifest_function)
MANIFEST_TABLE(bridges, bridges, manifest_bridge)
MANIFEST_TABLE(resets, resets, manifest_reset)
#undef MANIFEST_TABLE

static inline const struct color_set *manifest_color_set(const struct manifest_header *manifest,
                                                         uint32_t index)
{
    return (const struct color_set *)(const void *)(manifest_color_sets(manifest) + index);
}

/* The frames of a segment, and those of the hypervisor's pool. */
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

/* The frames for stage-2 tables in colored memory; returns false if there are none. */
bool manifest_tables_range(const struct manifest_header *manifest, struct color_range *range);

/* Whether a domain's budget may be `events` in each period of `period_ns`: at most 2^40 - 1 events; a period
 * of 1 us to 1 h. Also used for changes at run time. */
bool manifest_budget_is_sound(uint64_t events, uint64_t period_ns);

/* Whether a flow by itself is valid between domains of this system. Also used for flows that are added at run
 * time. */
bool manifest_flow_is_sound(const struct manifest_header *manifest, const struct manifest_flow *flow);

/* The record of a broker, by number, which is below BH_MAX_BROKERS. */
static inline const struct manifest_broker *manifest_broker_at(const struct manifest_header *manifest,
                                                               uint32_t number)
{
    return number == 0 ? &manifest->broker : &manifest->second_broker;
}

/* Whether the system has the broker of this number. */
static inline bool manifest_has_broker(const struct manifest_header *manifest, uint32_t number)
{
    return number < BH_MAX_BROKERS && manifest_broker_at(manifest, number)->chunk_bytes != 0;
}

/* Whether a domain, by index, is a broker's own. */
static inline bool manifest_is_broker(const struct manifest_header *manifest, uint32_t domain)
{
    uint32_t number = manifest_domains(manifest)[domain].socket_broker;

    return manifest_has_broker(manifest, number) && manifest_broker_at(manifest, number)->domain == domain;
}

static inline const struct flow_costs *manifest_costs(const struct manifest_broker *broker)
{
    return (const struct flow_costs *)(const void *)&broker->costs;
}

#ifdef __cplusplus
}
#endif

#endif
