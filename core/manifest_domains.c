/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Checks the domains of a manifest: names, flags, VCPUs and their cores, images, interrupts and devices. Part
 * of manifest_check(); runs after the memory has been checked.
 */
#include "core/manifest_internal.h"
#include "core/manifest_regions.h"

#define KNOWN_DOMAIN_FLAGS                                                                                   \
    (BH_DOMAIN_FLAG_REALTIME | BH_DOMAIN_FLAG_PREMAP | BH_DOMAIN_FLAG_CONSOLE | BH_DOMAIN_FLAG_MANAGER |     \
     BH_DOMAIN_FLAG_RESTART_ON_FAILURE | BH_DOMAIN_FLAG_BUDGET | BH_DOMAIN_FLAG_PMU |                        \
     BH_DOMAIN_FLAG_RECLAIM | BH_DOMAIN_FLAG_CONSOLE_RAW | BH_DOMAIN_FLAG_OWN_ATTRIBUTES |                   \
     BH_DOMAIN_FLAG_TRANSLATIONS_TRAPPED | BH_DOMAIN_FLAG_CACHES_TRAPPED | BH_DOMAIN_FLAG_FAULTS_ABORT)
#define SHORTEST_SLICE_NS 10000ull
#define LONGEST_SLICE_NS  10000000000ull

static bool is_name(const char name[BH_NAME_BYTES])
{
    uint32_t length = 0;

    while (length < BH_NAME_BYTES && name[length] > ' ' && name[length] < 0x7F) {
        length++;
    }
    return length > 0 && length < BH_NAME_BYTES && name[length] == '\0';
}

static bool has_rows(uint32_t first, uint32_t count, const struct table_ref *table)
{
    return first <= table->count && count <= table->count - first;
}

static bool check_domain(struct manifest_check *check, const struct manifest_domain *domain)
{
    const struct manifest_header *manifest = check->manifest;

    if (!is_name(domain->name) || (domain->flags & ~(uint32_t)KNOWN_DOMAIN_FLAGS) != 0 ||
        domain->vcpu_count == 0 || domain->segment_count == 0 ||
        domain->color_set >= manifest->color_sets.count ||
        !has_rows(domain->first_vcpu, domain->vcpu_count, &manifest->vcpus) ||
        !has_rows(domain->first_segment, domain->segment_count, &manifest->segments) ||
        !has_rows(domain->first_image, domain->image_count, &manifest->images) ||
        !has_rows(domain->first_irq, domain->irq_count, &manifest->irqs) ||
        !has_rows(domain->first_device, domain->device_count, &manifest->devices) ||
        !has_rows(domain->first_call, domain->call_count, &manifest->calls)) {
        return manifest_refuse(check, BH_MANIFEST_ERROR_DOMAIN, domain);
    }
    for (uint32_t i = 0; i < domain->segment_count; i++) {
        const struct manifest_segment *segment = &manifest_segments(manifest)[domain->first_segment + i];

        if ((segment->flags & BH_SEGMENT_FLAG_PROGRAMMABLE) != 0 &&
            !manifest_check_flash(check, domain, segment)) {
            return false;
        }
        for (uint32_t j = 0; j < i; j++) {
            const struct manifest_segment *other = &manifest_segments(manifest)[domain->first_segment + j];

            if (ranges_overlap(segment->ipa, segment->bytes, other->ipa, other->bytes)) {
                return manifest_refuse(check, BH_MANIFEST_ERROR_SEGMENT_OVERLAP, segment);
            }
        }
    }
    return true;
}

/* The tables of all domains follow each other without gaps, so no row has two owners or none. */
static bool check_rows_owned_once(struct manifest_check *check)
{
    const struct manifest_header *manifest = check->manifest;
    const struct manifest_domain *domains = manifest_domains(manifest);
    uint32_t vcpus = 0;
    uint32_t segments = 0;
    uint32_t images = 0;
    uint32_t irqs = 0;
    uint32_t devices = 0;
    uint32_t calls = 0;

    for (uint32_t i = 0; i < manifest->domains.count; i++) {
        if (domains[i].first_vcpu != vcpus || domains[i].first_segment != segments ||
            domains[i].first_image != images || domains[i].first_irq != irqs ||
            domains[i].first_device != devices || domains[i].first_call != calls) {
            return manifest_refuse(check, BH_MANIFEST_ERROR_DOMAIN, &domains[i].first_vcpu);
        }
        vcpus += domains[i].vcpu_count;
        segments += domains[i].segment_count;
        images += domains[i].image_count;
        irqs += domains[i].irq_count;
        devices += domains[i].device_count;
        calls += domains[i].call_count;
    }
    if (vcpus != manifest->vcpus.count || segments != manifest->segments.count ||
        images != manifest->images.count || irqs != manifest->irqs.count ||
        devices != manifest->devices.count || calls != manifest->calls.count) {
        return manifest_refuse(check, BH_MANIFEST_ERROR_DOMAIN, &manifest->domains);
    }
    return true;
}

static bool check_vcpus(struct manifest_check *check, const struct manifest_domain *domain, uint32_t index)
{
    const struct manifest_header *manifest = check->manifest;
    const struct manifest_vcpu *vcpus = manifest_vcpus(manifest);

    for (uint32_t i = domain->first_vcpu; i < domain->first_vcpu + domain->vcpu_count; i++) {
        if (vcpus[i].domain != index || vcpus[i].core >= manifest->cpus.count) {
            return manifest_refuse(check, BH_MANIFEST_ERROR_VCPU, &vcpus[i]);
        }
        for (uint32_t j = domain->first_vcpu; j < i;
             j++) { /* two domains may share a core, two VCPUs of one domain may not */
            if (vcpus[j].core == vcpus[i].core) {
                return manifest_refuse(check, BH_MANIFEST_ERROR_VCPU, &vcpus[i]);
            }
        }
    }
    return true;
}

/* Bytes of the domain's memory that follow `ipa` without a gap, as far as its segments are sorted. */
static uint64_t contiguous_bytes(const struct manifest_header *manifest, const struct manifest_domain *domain,
                                 uint64_t ipa)
{
    const struct manifest_segment *segments = manifest_segments(manifest) + domain->first_segment;
    uint64_t end = ipa;

    for (uint32_t i = 0; i < domain->segment_count; i++) {
        if (end >= segments[i].ipa && end - segments[i].ipa < segments[i].bytes) {
            end = segments[i].ipa + segments[i].bytes;
        }
    }
    return end - ipa;
}

static bool check_images(struct manifest_check *check, const struct manifest_domain *domain)
{
    const struct manifest_header *manifest = check->manifest;
    const struct manifest_image *images = manifest_images(manifest) + domain->first_image;

    for (uint32_t i = 0; i < domain->image_count; i++) {
        const struct manifest_image *image = &images[i];
        bool in_place = (image->flags & BH_IMAGE_FLAG_IN_PLACE) != 0;

        if ((image->flags & ~(uint32_t)BH_IMAGE_FLAG_IN_PLACE) != 0 || image->bytes == 0 ||
            !is_page_aligned(image->offset) || image->ipa % 16 != 0 || image->bytes % 16 != 0 ||
            (!in_place && !range_within(image->offset, image->bytes, 0, check->package_bytes)) ||
            image->bytes > contiguous_bytes(manifest, domain, image->ipa)) {
            return manifest_refuse(check, BH_MANIFEST_ERROR_IMAGE, image);
        }
    }
    return true;
}

static bool is_pmu_line(const struct manifest_header *manifest, uint32_t intid)
{
    for (uint32_t i = 0; i < manifest->cpus.count; i++) {
        if (manifest_cpus(manifest)[i].pmu_irq == intid) {
            return true;
        }
    }
    return false;
}

bool manifest_is_own_irq(const struct manifest_header *manifest, uint32_t intid)
{
    const struct manifest_irq *irqs = manifest_irqs(manifest);

    for (uint32_t i = 0; i < manifest->irqs.count; i++) {
        if (irqs[i].intid == intid) {
            return false;
        }
    }
    return intid >= BH_FIRST_SHARED_INTID && intid < BH_MAX_INTID && intid != manifest->platform.uart_irq &&
           !is_pmu_line(manifest, intid);
}

static bool check_irqs(struct manifest_check *check, const struct manifest_domain *domain)
{
    const struct manifest_header *manifest = check->manifest;
    const struct manifest_irq *irqs = manifest_irqs(manifest);

    for (uint32_t i = domain->first_irq; i < domain->first_irq + domain->irq_count; i++) {
        if (irqs[i].intid < BH_FIRST_SHARED_INTID || irqs[i].intid >= BH_MAX_INTID ||
            irqs[i].intid == manifest->platform.uart_irq || is_pmu_line(manifest, irqs[i].intid) ||
            irqs[i].vcpu >= domain->vcpu_count) {
            return manifest_refuse(check, BH_MANIFEST_ERROR_IRQ, &irqs[i]);
        }
        for (uint32_t j = 0; j < i; j++) {
            if (irqs[j].intid == irqs[i].intid) {
                return manifest_refuse(check, BH_MANIFEST_ERROR_IRQ, &irqs[i]);
            }
        }
    }
    return true;
}

static bool device_is_sound(const struct manifest_header *manifest, const struct manifest_device *device)
{
    const struct manifest_ram *ram = manifest_ram_ranges(manifest);

    if (device->bytes == 0 || !is_page_aligned(device->bytes) || !is_page_aligned(device->ipa) ||
        !is_page_aligned(device->pa) || !range_within(device->ipa, device->bytes, 0, MANIFEST_IPA_LIMIT) ||
        !range_within(device->pa, device->bytes, 0, MANIFEST_PA_LIMIT) ||
        manifest_region_at(manifest, device->pa, device->bytes) != BH_REGION_COUNT ||
        manifest_is_guest_region(manifest, device->ipa, device->bytes)) {
        return false;
    }
    for (uint32_t i = 0; i < manifest->ram.count; i++) {
        if (ranges_overlap(device->pa, device->bytes, ram[i].pa, ram[i].bytes)) {
            return false;
        }
    }
    return true;
}

static bool check_devices(struct manifest_check *check, const struct manifest_domain *domain)
{
    const struct manifest_header *manifest = check->manifest;
    const struct manifest_device *devices = manifest_devices(manifest);
    const struct manifest_segment *segments = manifest_segments(manifest) + domain->first_segment;

    for (uint32_t i = domain->first_device; i < domain->first_device + domain->device_count; i++) {
        if (!device_is_sound(manifest, &devices[i])) {
            return manifest_refuse(check, BH_MANIFEST_ERROR_DEVICE, &devices[i]);
        }
        for (uint32_t j = 0; j < domain->segment_count; j++) {
            if (ranges_overlap(devices[i].ipa, devices[i].bytes, segments[j].ipa, segments[j].bytes)) {
                return manifest_refuse(check, BH_MANIFEST_ERROR_DEVICE, &devices[i]);
            }
        }
        for (uint32_t j = 0; j < i; j++) {
            bool same_guest = j >= domain->first_device;

            if (ranges_overlap(devices[i].pa, devices[i].bytes, devices[j].pa, devices[j].bytes) ||
                (same_guest &&
                 ranges_overlap(devices[i].ipa, devices[i].bytes, devices[j].ipa, devices[j].bytes))) {
                return manifest_refuse(check, BH_MANIFEST_ERROR_DEVICE, &devices[i]);
            }
        }
    }
    return true;
}

/* A domain that owns the terminal is the only domain with a console. */
static bool check_console(struct manifest_check *check)
{
    const struct manifest_header *manifest = check->manifest;
    const struct manifest_hypervisor *hypervisor = &manifest->hypervisor;
    const struct manifest_domain *domains = manifest_domains(manifest);
    const struct manifest_domain *raw = NULL;
    uint32_t consoles = 0;

    for (uint32_t i = 0; i < manifest->domains.count; i++) {
        bool has_console = (domains[i].flags & BH_DOMAIN_FLAG_CONSOLE) != 0;

        consoles += has_console ? 1 : 0;
        if ((domains[i].flags & BH_DOMAIN_FLAG_CONSOLE_RAW) != 0) {
            raw = &domains[i];
            if (!has_console) {
                return manifest_refuse(check, BH_MANIFEST_ERROR_CONSOLE, &domains[i].flags);
            }
        }
    }
    if (raw != NULL && consoles != 1) {
        return manifest_refuse(check, BH_MANIFEST_ERROR_CONSOLE, &raw->flags);
    }
    if (hypervisor->console_core >= manifest->cpus.count ||
        (hypervisor->console_domain >= manifest->domains.count &&
         hypervisor->console_domain != BH_ALL_DOMAINS)) {
        return manifest_refuse(check, BH_MANIFEST_ERROR_CONSOLE, &hypervisor->console_core);
    }
    return true;
}

/* The scheduler's parameters apply to cores with several VCPUs, but must be valid in every manifest. */
static bool check_scheduler(struct manifest_check *check)
{
    const struct manifest_hypervisor *hypervisor = &check->manifest->hypervisor;

    if (hypervisor->scheduler >= BH_SCHEDULER_COUNT || hypervisor->slice_ns < SHORTEST_SLICE_NS ||
        hypervisor->slice_ns > LONGEST_SLICE_NS) {
        return manifest_refuse(check, BH_MANIFEST_ERROR_SCHEDULER, &hypervisor->scheduler);
    }
    return true;
}

bool manifest_check_domains(struct manifest_check *check)
{
    const struct manifest_header *manifest = check->manifest;
    const struct manifest_domain *domains = manifest_domains(manifest);

    if (manifest->domains.count == 0) {
        return manifest_refuse(check, BH_MANIFEST_ERROR_DOMAIN, &manifest->domains);
    }
    for (uint32_t i = 0; i < manifest->domains.count; i++) {
        if (!check_domain(check, &domains[i])) {
            return false;
        }
    }
    if (!check_rows_owned_once(check) || !check_console(check) || !check_scheduler(check)) {
        return false;
    }
    for (uint32_t i = 0; i < manifest->domains.count; i++) {
        if (!manifest_check_table_memory(check, &domains[i]) || !check_vcpus(check, &domains[i], i) ||
            !manifest_check_budget(check, &domains[i]) || !check_images(check, &domains[i]) ||
            !check_irqs(check, &domains[i]) || !check_devices(check, &domains[i]) ||
            !manifest_check_calls(check, &domains[i])) {
            return false;
        }
    }
    return manifest_check_flows(check) && manifest_check_regulation(check) &&
           manifest_check_bandwidth(check) && manifest_check_device_regulators(check) &&
           manifest_check_resets(check) && manifest_check_mpam(check) && manifest_check_smmu(check);
}
