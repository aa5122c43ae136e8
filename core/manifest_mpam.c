/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Checks a manifest's MPAM components, PARTIDs and settings, and reads them for EL2. Part of
 * manifest_check(). A setting is checked against the features that the platform file states for its instance;
 * EL2 refuses to continue if the registers say something else.
 */
#include "core/manifest_mpam.h"
#include "core/manifest_internal.h"
#include "core/mpam_registers.h"

#define LAST_VERSION      0xFFu
#define MOST_NOT_READY_NS 1000000000ull
#define MOST_WIDTH        16u
#define FOUR_ENTRIES      4u /* PARTIDs per register MPAMVPM<n>_EL2 */

#define KNOWN_OFFERS                                                                                         \
    (BH_MPAM_OFFER_CMAX | BH_MPAM_OFFER_CMAX_SOFT | BH_MPAM_OFFER_CMIN | BH_MPAM_OFFER_MBW_MIN |             \
     BH_MPAM_OFFER_MBW_MAX | BH_MPAM_OFFER_PROPORTIONAL | BH_MPAM_OFFER_WINDOW |                             \
     BH_MPAM_OFFER_INTERNAL_ZERO_IS_LOW | BH_MPAM_OFFER_DOWNSTREAM_ZERO_IS_LOW |                             \
     BH_MPAM_OFFER_STORAGE_CAPTURE | BH_MPAM_OFFER_BANDWIDTH_CAPTURE | BH_MPAM_OFFER_BY_DIRECTION |          \
     BH_MPAM_OFFER_NARROWING)

static bool refuse(struct manifest_check *check, const void *place)
{
    return manifest_refuse(check, BH_MANIFEST_ERROR_MPAM, place);
}

uint64_t manifest_mpam_page(const struct manifest_header *manifest, uint32_t component)
{
    const uint64_t pages[BH_MAX_MPAM_COMPONENTS] = {manifest->mpam.page_0, manifest->mpam.page_1,
                                                    manifest->mpam.page_2, manifest->mpam.page_3};

    return pages[component];
}

uint32_t manifest_mpam_first_instance(const struct manifest_header *manifest, uint32_t component)
{
    uint32_t first = 0;

    for (uint32_t i = 0; i < component; i++) {
        first += manifest_mpam_components(manifest)[i].instance_count;
    }
    return first;
}

void manifest_mpam_features(const struct manifest_header *manifest, uint32_t component, uint32_t instance,
                            struct mpam_features *to)
{
    const struct manifest_mpam_component *of = &manifest_mpam_components(manifest)[component];
    const struct manifest_mpam_instance *stated =
        &manifest_mpam_instances(manifest)[manifest_mpam_first_instance(manifest, component) + instance];
    uint32_t offers = stated->offers;

    *to = (struct mpam_features){
        .version_major = of->version >> MPAMF_AIDR_MAJOR_SHIFT,
        .version_minor = of->version & MPAMF_AIDR_MINOR,
        .partid_max = manifest->mpam.partid_max,
        .pmg_max = manifest->mpam.pmg_max,
        .ris_max = of->instance_count - 1,
        .intpartid_max =
            (offers & BH_MPAM_OFFER_NARROWING) != 0 ? of->intpartid_max : manifest->mpam.partid_max,
        .narrowing = (offers & BH_MPAM_OFFER_NARROWING) != 0,
        .cache_portions = stated->cache_portions,
        .capacity_bits = stated->capacity_bits,
        .has_cmax = (offers & BH_MPAM_OFFER_CMAX) != 0,
        .has_cmin = (offers & BH_MPAM_OFFER_CMIN) != 0,
        .has_soft_cmax = (offers & BH_MPAM_OFFER_CMAX_SOFT) != 0,
        .associativity_bits = stated->associativity_bits,
        .bandwidth_bits = stated->bandwidth_bits,
        .has_min = (offers & BH_MPAM_OFFER_MBW_MIN) != 0,
        .has_max = (offers & BH_MPAM_OFFER_MBW_MAX) != 0,
        .has_proportional = (offers & BH_MPAM_OFFER_PROPORTIONAL) != 0,
        .window_writable = (offers & BH_MPAM_OFFER_WINDOW) != 0,
        .bandwidth_portions = stated->bandwidth_portions,
        .internal = {stated->internal_bits, (offers & BH_MPAM_OFFER_INTERNAL_ZERO_IS_LOW) != 0},
        .downstream = {stated->downstream_bits, (offers & BH_MPAM_OFFER_DOWNSTREAM_ZERO_IS_LOW) != 0},
        .storage_monitors = stated->storage_monitors,
        .storage_capture = (offers & BH_MPAM_OFFER_STORAGE_CAPTURE) != 0,
        .bandwidth_monitors = stated->bandwidth_monitors,
        .bandwidth_capture = (offers & BH_MPAM_OFFER_BANDWIDTH_CAPTURE) != 0,
        .bandwidth_by_direction = (offers & BH_MPAM_OFFER_BY_DIRECTION) != 0,
        .bandwidth_value_bits = stated->bandwidth_value_bits,
        .has_esr = of->error_irq != 0,
    };
}

uint32_t manifest_mpam_count(const struct manifest_domain *domain)
{
    return domain->mpam_virtual != 0 ? domain->mpam_virtual : 1;
}

bool manifest_mpam_owner(const struct manifest_header *manifest, uint32_t partid, uint32_t *owner)
{
    *owner = BH_ALL_DOMAINS;
    if (partid == manifest->mpam.partid) {
        return true;
    }
    for (uint32_t i = 0; i < manifest->domains.count; i++) {
        const struct manifest_domain *domain = &manifest_domains(manifest)[i];

        if (partid >= domain->mpam_partid && partid - domain->mpam_partid < manifest_mpam_count(domain)) {
            *owner = i;
            return true;
        }
    }
    return false;
}

/* Copies the words of a bitmap. The caller has checked that they fit. */
static void copy_words(const struct manifest_mpam_word *from, uint32_t count, struct mpam_portions *to)
{
    for (uint32_t i = 0; i < count; i++) {
        to->word[i] = from[i].bits;
    }
}

static void decode(const struct manifest_header *manifest, const struct manifest_mpam_setting *from,
                   struct mpam_settings *to)
{
    const struct manifest_mpam_word *words = manifest_mpam_words(manifest) + from->first_word;

    *to = (struct mpam_settings){
        .asked = from->asked,
        .cmax = {from->cmax_part, from->cmax_of},
        .cmin = {from->cmin_part, from->cmin_of},
        .associativity = {from->associativity_part, from->associativity_of},
        .mbw_min = {from->mbw_min_part, from->mbw_min_of},
        .mbw_max = {from->mbw_max_part, from->mbw_max_of},
        .stride = from->stride,
        .internal_priority = from->internal_priority,
        .downstream_priority = from->downstream_priority,
        .window_us = from->window_us,
    };
    copy_words(words, from->cache_words, &to->cache);
    copy_words(words + from->cache_words, from->bandwidth_words, &to->bandwidth);
}

static bool find_row(const struct manifest_header *manifest, uint32_t component, uint32_t instance,
                     uint32_t partid, struct mpam_settings *to)
{
    for (uint32_t i = 0; i < manifest->mpam_settings.count; i++) {
        const struct manifest_mpam_setting *row = &manifest_mpam_settings(manifest)[i];

        if (row->component == component && row->instance == instance && row->partid == partid) {
            decode(manifest, row, to);
            return true;
        }
    }
    return false;
}

void manifest_mpam_settings_of(const struct manifest_header *manifest, uint32_t component, uint32_t instance,
                               uint32_t partid, struct mpam_settings *to)
{
    uint32_t owner;

    *to = (struct mpam_settings){0};
    if (!find_row(manifest, component, instance, partid, to) &&
        !manifest_mpam_owner(manifest, partid, &owner)) {
        (void)find_row(manifest, component, instance, manifest->mpam.partid, to);
    }
}

/* PARTID 0 is used by firmware, and by all code that runs before EL2 sets labels. */
static bool check_partids(struct manifest_check *check)
{
    const struct manifest_header *manifest = check->manifest;
    const struct manifest_mpam *mpam = &manifest->mpam;

    if (mpam->partid_max > BH_MAX_MPAM_PARTID || mpam->pmg_max > MPAMF_IDR_PMG_MAX ||
        mpam->virtual_partids > BH_MAX_MPAM_VIRTUAL || mpam->virtual_partids % FOUR_ENTRIES != 0 ||
        mpam->firmware_allows > 1) {
        return refuse(check, &mpam->partid_max);
    }
    if (mpam->partid == 0 || mpam->partid > mpam->partid_max || mpam->pmg > mpam->pmg_max) {
        return refuse(check, &mpam->partid);
    }
    for (uint32_t i = 0; i < manifest->domains.count; i++) {
        const struct manifest_domain *domain = &manifest_domains(manifest)[i];
        uint32_t count = manifest_mpam_count(domain);

        if (domain->mpam_virtual > mpam->virtual_partids || domain->mpam_partid == 0 ||
            !range_within(domain->mpam_partid, count, 0, mpam->partid_max + 1ull) ||
            domain->mpam_pmg > mpam->pmg_max || ranges_overlap(domain->mpam_partid, count, mpam->partid, 1)) {
            return refuse(check, &domain->mpam_partid);
        }
        for (uint32_t j = 0; j < i; j++) {
            const struct manifest_domain *other = &manifest_domains(manifest)[j];

            if (ranges_overlap(domain->mpam_partid, count, other->mpam_partid, manifest_mpam_count(other))) {
                return refuse(check, &domain->mpam_partid);
            }
        }
    }
    return true;
}

static bool is_irq(const struct manifest_header *manifest, uint32_t intid)
{
    return intid == 0 || (manifest_is_own_irq(manifest, intid) && !manifest_is_engine_irq(manifest, intid));
}

static bool check_component(struct manifest_check *check, uint32_t index, uint32_t instances_left)
{
    const struct manifest_header *manifest = check->manifest;
    const struct manifest_mpam_component *component = &manifest_mpam_components(manifest)[index];
    bool has_instances =
        component->version >> MPAMF_AIDR_MAJOR_SHIFT > 1 || (component->version & MPAMF_AIDR_MINOR) > 0;

    if (manifest_mpam_page(manifest, index) == 0 || component->version > LAST_VERSION ||
        component->version == 0 || component->instance_count == 0 ||
        component->instance_count > instances_left || (!has_instances && component->instance_count > 1) ||
        component->not_ready_ns > MOST_NOT_READY_NS || component->reserved != 0) {
        return refuse(check, component);
    }
    if (!is_irq(manifest, component->error_irq) || !is_irq(manifest, component->overflow_irq) ||
        (component->error_irq != 0 && component->error_irq == component->overflow_irq)) {
        return refuse(check, &component->error_irq);
    }
    return true;
}

static bool is_value_width(uint32_t bits)
{
    return bits == 31 || bits == 44 || bits == 63;
}

/* With narrowing each PARTID has the internal PARTID of its own number: two PARTIDs with one internal PARTID
 * would share its settings. */
static bool check_narrowing(struct manifest_check *check, const struct manifest_mpam_component *component)
{
    const struct manifest_header *manifest = check->manifest;

    if (manifest->mpam.partid > component->intpartid_max) {
        return refuse(check, &component->intpartid_max);
    }
    for (uint32_t i = 0; i < manifest->domains.count; i++) {
        const struct manifest_domain *domain = &manifest_domains(manifest)[i];

        if (domain->mpam_partid + manifest_mpam_count(domain) - 1 > component->intpartid_max) {
            return refuse(check, &component->intpartid_max);
        }
    }
    return true;
}

static bool check_instance(struct manifest_check *check, const struct manifest_mpam_component *component,
                           const struct manifest_mpam_instance *instance)
{
    bool narrows = (instance->offers & BH_MPAM_OFFER_NARROWING) != 0;
    bool fits =
        instance->resource <= BH_MPAM_RESOURCE_MEMORY && (instance->offers & ~(uint32_t)KNOWN_OFFERS) == 0 &&
        instance->cache_portions <= MPAM_MAX_PORTIONS && instance->bandwidth_portions <= MPAM_MAX_PORTIONS &&
        instance->capacity_bits <= MOST_WIDTH && instance->associativity_bits <= MOST_WIDTH &&
        instance->bandwidth_bits <= MOST_WIDTH && instance->internal_bits <= MOST_WIDTH &&
        instance->downstream_bits <= MOST_WIDTH && instance->storage_monitors <= MPAMF_MON_IDR_NUM_MON &&
        instance->bandwidth_monitors <= MPAMF_MON_IDR_NUM_MON;

    if (!fits ||
        (instance->capacity_bits == 0 &&
         (instance->offers & (BH_MPAM_OFFER_CMAX | BH_MPAM_OFFER_CMAX_SOFT | BH_MPAM_OFFER_CMIN)) != 0) ||
        (instance->bandwidth_bits == 0 && (instance->offers & (BH_MPAM_OFFER_MBW_MIN | BH_MPAM_OFFER_MBW_MAX |
                                                               BH_MPAM_OFFER_PROPORTIONAL)) != 0)) {
        return refuse(check, instance);
    }
    if (instance->bandwidth_monitors == 0 ? instance->bandwidth_value_bits != 0
                                          : !is_value_width(instance->bandwidth_value_bits)) {
        return refuse(check, &instance->bandwidth_value_bits);
    }
    if (narrows ? component->intpartid_max > check->manifest->mpam.partid_max
                : component->intpartid_max != 0) {
        return refuse(check, &component->intpartid_max);
    }
    return !narrows || check_narrowing(check, component);
}

static bool check_components(struct manifest_check *check)
{
    const struct manifest_header *manifest = check->manifest;
    uint32_t count = manifest->mpam_components.count;
    uint32_t next = 0;

    for (uint32_t i = 0; i < count; i++) {
        const struct manifest_mpam_component *component = &manifest_mpam_components(manifest)[i];

        if (!check_component(check, i, manifest->mpam_instances.count - next)) {
            return false;
        }
        for (uint32_t j = 0; j < component->instance_count; j++) {
            if (!check_instance(check, component, &manifest_mpam_instances(manifest)[next + j])) {
                return false;
            }
        }
        next += component->instance_count;
    }
    for (uint32_t i = count; i < BH_MAX_MPAM_COMPONENTS; i++) {
        if (manifest_mpam_page(manifest, i) != 0) {
            return refuse(check, &manifest->mpam);
        }
    }
    return next == manifest->mpam_instances.count || refuse(check, &manifest->mpam_instances);
}

static bool is_later(const struct manifest_mpam_setting *row, const struct manifest_mpam_setting *before)
{
    if (row->component != before->component) {
        return row->component > before->component;
    }
    return row->instance != before->instance ? row->instance > before->instance
                                             : row->partid > before->partid;
}

/* The words of all rows follow each other: each word belongs to exactly one row. */
static bool check_words(struct manifest_check *check, const struct manifest_mpam_setting *row, uint32_t *next)
{
    uint32_t count = check->manifest->mpam_words.count;
    uint32_t words = row->cache_words + row->bandwidth_words;

    if (row->cache_words > MPAM_PORTION_WORDS || row->bandwidth_words > MPAM_PORTION_WORDS ||
        row->first_word != *next || words > count - *next) {
        return refuse(check, &row->first_word);
    }
    *next += words;
    return true;
}

static bool check_setting(struct manifest_check *check, const struct manifest_mpam_setting *row)
{
    const struct manifest_header *manifest = check->manifest;
    struct mpam_features features;
    struct mpam_settings settings;
    uint32_t owner;

    if (row->component >= manifest->mpam_components.count ||
        row->instance >= manifest_mpam_components(manifest)[row->component].instance_count ||
        !manifest_mpam_owner(manifest, row->partid, &owner) || row->reserved != 0) {
        return refuse(check, row);
    }
    manifest_mpam_features(manifest, row->component, row->instance, &features);
    decode(manifest, row, &settings);
    if (mpam_settings_check(&features, &settings).refusal != MPAM_ACCEPTED) {
        return refuse(check, row);
    }
    return true;
}

static bool check_settings(struct manifest_check *check)
{
    const struct manifest_header *manifest = check->manifest;
    const struct manifest_mpam_setting *rows = manifest_mpam_settings(manifest);
    uint32_t next = 0;

    for (uint32_t i = 0; i < manifest->mpam_settings.count; i++) {
        if (i > 0 && !is_later(&rows[i], &rows[i - 1])) {
            return refuse(check, &rows[i]);
        }
        if (!check_words(check, &rows[i], &next) || !check_setting(check, &rows[i])) {
            return false;
        }
    }
    return next == manifest->mpam_words.count || refuse(check, &manifest->mpam_words);
}

bool manifest_check_mpam(struct manifest_check *check)
{
    const struct manifest_header *manifest = check->manifest;

    if (manifest->mpam_components.count == 0) {
        return manifest_has_no_mpam(manifest) || refuse(check, &manifest->mpam);
    }
    return check_partids(check) && check_components(check) && check_settings(check);
}
