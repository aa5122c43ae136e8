/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Checks the manifest's envelope (size, versions, checksum, tables), then calls the checks of its contents in
 * the other manifest_*.c files. Called once at boot, and by the fuzzers.
 */
#include "core/manifest.h"
#include "core/crc32.h"
#include "core/manifest_internal.h"

static bool check_envelope(struct manifest_check *check, size_t available)
{
    const struct manifest_header *manifest = check->manifest;

    if (available < sizeof *manifest) {
        return manifest_refuse(check, BH_MANIFEST_ERROR_TRUNCATED, manifest);
    }
    if (manifest->magic != BH_MANIFEST_MAGIC) {
        return manifest_refuse(check, BH_MANIFEST_ERROR_MAGIC, &manifest->magic);
    }
    if (manifest->version != BH_LAYOUT_VERSION) {
        return manifest_refuse(check, BH_MANIFEST_ERROR_VERSION, &manifest->version);
    }
    if (manifest->layout_hash != BH_LAYOUT_HASH) {
        return manifest_refuse(check, BH_MANIFEST_ERROR_LAYOUT, &manifest->layout_hash);
    }
    if (manifest->total_bytes < sizeof *manifest || manifest->total_bytes > BH_MAX_MANIFEST_BYTES) {
        return manifest_refuse(check, BH_MANIFEST_ERROR_SIZE, &manifest->total_bytes);
    }
    if (manifest->total_bytes > available) {
        return manifest_refuse(check, BH_MANIFEST_ERROR_TRUNCATED, &manifest->total_bytes);
    }
    return true;
}

/* The checksum covers the whole manifest with its own field as zero. */
static bool check_checksum(struct manifest_check *check)
{
    static const uint32_t zero = 0;
    const struct manifest_header *manifest = check->manifest;
    const char *bytes = (const char *)manifest;
    size_t at = offsetof(struct manifest_header, crc32);
    uint32_t crc = crc32_update(0, bytes, at);

    crc = crc32_update(crc, &zero, sizeof zero);
    crc = crc32_update(crc, bytes + at + sizeof zero, manifest->total_bytes - at - sizeof zero);
    if (crc != manifest->crc32) {
        return manifest_refuse(check, BH_MANIFEST_ERROR_CHECKSUM, &manifest->crc32);
    }
    return true;
}

static bool check_table(struct manifest_check *check, const struct table_ref *table, size_t record_bytes,
                        uint32_t most)
{
    uint64_t bytes = (uint64_t)table->count * record_bytes;

    if (table->count > most || table->offset % 8 != 0 || table->offset < sizeof *check->manifest ||
        !range_within(table->offset, bytes, 0, check->manifest->total_bytes)) {
        return manifest_refuse(check, BH_MANIFEST_ERROR_TABLE, table);
    }
    return true;
}

static const struct table {
    uint32_t place; /* offset of the table's table_ref in the header */
    uint32_t record_bytes;
    uint32_t most;
} tables[] = {
#define TABLE(field, record, most)                                                                           \
    {                                                                                                        \
        (uint32_t) offsetof(struct manifest_header, field), (uint32_t)sizeof(struct record), (most)          \
    }
    TABLE(cpus, manifest_cpu, BH_MAX_CORES),
    TABLE(ram, manifest_ram, BH_MAX_RAM),
    TABLE(color_sets, color_set_record, BH_MAX_COLOR_SETS),
    TABLE(domains, manifest_domain, BH_MAX_DOMAINS),
    TABLE(vcpus, manifest_vcpu, BH_MAX_VCPUS),
    TABLE(segments, manifest_segment, BH_MAX_SEGMENTS),
    TABLE(images, manifest_image, BH_MAX_IMAGES),
    TABLE(irqs, manifest_irq, BH_MAX_IRQS),
    TABLE(devices, manifest_device, BH_MAX_DEVICES),
    TABLE(calls, manifest_call, BH_MAX_CALLS),
    TABLE(flows, manifest_flow, BH_MAX_FLOWS),
    TABLE(bandwidth_curve, manifest_bandwidth_point, BH_MAX_BANDWIDTH_POINTS),
    TABLE(bandwidth_table, manifest_bandwidth_row, BH_MAX_BANDWIDTH_ROWS),
    TABLE(mpam_components, manifest_mpam_component, BH_MAX_MPAM_COMPONENTS),
    TABLE(mpam_instances, manifest_mpam_instance, BH_MAX_MPAM_INSTANCES),
    TABLE(mpam_settings, manifest_mpam_setting, BH_MAX_MPAM_SETTINGS),
    TABLE(mpam_words, manifest_mpam_word, BH_MAX_MPAM_WORDS),
    TABLE(streams, manifest_stream, BH_MAX_STREAMS),
    TABLE(functions, manifest_function, BH_MAX_FUNCTIONS),
    TABLE(bridges, manifest_bridge, BH_MAX_BRIDGES),
    TABLE(resets, manifest_reset, BH_MAX_RESETS),
#undef TABLE
};

static bool check_tables(struct manifest_check *check)
{
    for (uint32_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        const void *table = (const char *)check->manifest + tables[i].place;

        if (!check_table(check, table, tables[i].record_bytes, tables[i].most)) {
            return false;
        }
    }
    return true;
}

struct manifest_verdict manifest_check(const void *data, size_t available, uint64_t package_bytes)
{
    struct manifest_check check = {
        .manifest = data,
        .package_bytes = package_bytes,
        .verdict = {BH_MANIFEST_ERROR_NONE, 0},
    };

    if (check_envelope(&check, available) && check_checksum(&check) && check_tables(&check) &&
        manifest_check_platform(&check) && manifest_check_memory(&check)) {
        (void)manifest_check_domains(&check);
    }
    return check.verdict;
}
