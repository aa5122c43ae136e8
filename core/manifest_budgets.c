/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Checks budgets and their regulation in a manifest, so that reservation_init(), reclaim_init() and
 * regulated_init() accept what EL2 derives from them. Part of manifest_check(); manifest_space_only.c
 * replaces it in programs without budgets.
 */
#include "core/event_pool.h"
#include "core/manifest_internal.h"
#include "core/regulated_device.h"
#include "core/regulator_policy.h"
#include "core/reservation.h"
#include <stddef.h>

#define SHORTEST_PERIOD_NS     1000u
#define LONGEST_PERIOD_NS      3600000000000u
#define SHORTEST_CPU_PERIOD_NS 100000u /* many times the duration of a switch between VCPUs */
#define SHORTEST_INTERVAL_NS   10000u
#define LONGEST_INTERVAL_NS    1000000000u
#define PS_PER_NS              1000u
#define WORD_OF(field)         ((uint32_t)(offsetof(struct manifest_regulation, field) / sizeof(uint64_t)))

_Static_assert(REGULATOR_MAX_CORES == BH_MAX_CORES, "a budget for each core");
_Static_assert(sizeof(struct manifest_regulation) == BH_REGULATION_WORDS * sizeof(uint64_t),
               "the regulation consists of these words");
_Static_assert(REGULATOR_UNLIMITED == BH_UNLIMITED_EVENTS, "both constants must agree");
_Static_assert((uint32_t)REGULATOR_STATIC == BH_REGULATION_POLICY_FIXED &&
                   (uint32_t)REGULATOR_UTILIZATION == BH_REGULATION_POLICY_DYNAMIC &&
                   (uint32_t)REGULATOR_BANDWIDTH == BH_REGULATION_POLICY_DYNAMIC_BANDWIDTH &&
                   (uint32_t)REGULATOR_DELAY == BH_REGULATION_POLICY_DYNAMIC_DELAY &&
                   (uint32_t)REGULATOR_TURNS == BH_REGULATION_POLICY_DYNAMIC_TURNS &&
                   (uint32_t)REGULATOR_PHASES == BH_REGULATION_POLICY_DYNAMIC_PHASES,
               "both enumerations must agree");
_Static_assert((uint32_t)REGULATOR_HOLD_KEEP == BH_REGULATION_HOLD_KEEP &&
                   (uint32_t)REGULATOR_HOLD_DECREASE == BH_REGULATION_HOLD_DECREASE,
               "both enumerations must agree");

bool manifest_budget_is_sound(uint64_t events, uint64_t period_ns)
{
    return events <= EVENT_POOL_MAX_EVENTS && period_ns >= SHORTEST_PERIOD_NS &&
           period_ns <= LONGEST_PERIOD_NS;
}

static bool is_unlimited(const struct manifest_domain *domain)
{
    return domain->budget_events == BH_UNLIMITED_EVENTS;
}

static bool is_member(const struct manifest_header *manifest, uint32_t core)
{
    return (manifest->regulation.members >> core & 1) != 0;
}

/* Whether the platform has a counter for the events that a budget counts besides refills. */
static bool events_are_there(const struct manifest_platform *platform, uint32_t counts)
{
    switch (counts) {
    case BH_BUDGET_COUNTS_REFILLS:
        return true;
    case BH_BUDGET_COUNTS_ACCESSES:
        return platform->access_event != 0;
    default:
        return platform->writeback_event != 0;
    }
}

/* A sum is exact to this many events. More slack would not be admitted: admission counts budgets alone. A
 * VCPU that shares its domain's budget has a chunk at a time. */
static bool slack_fits(const struct manifest_domain *domain)
{
    bool shares = domain->budget_chunk_events != 0 && (domain->flags & BH_DOMAIN_FLAG_RECLAIM) == 0;
    uint64_t events = shares ? domain->budget_chunk_events : domain->budget_events;

    return domain->budget_slack_events <= (is_unlimited(domain) ? 0 : reservation_most_slack(events));
}

/* Second budget and slack must be zero except for the kinds that have them. A domain without a limit has
 * neither. */
static bool counts_fit(const struct manifest_platform *platform, const struct manifest_domain *domain)
{
    if (!events_are_there(platform, domain->budget_counts)) {
        return false;
    }
    switch (domain->budget_counts) {
    case BH_BUDGET_COUNTS_REFILLS:
    case BH_BUDGET_COUNTS_WRITEBACKS:
        return domain->budget_second_events == 0 && domain->budget_slack_events == 0;
    case BH_BUDGET_COUNTS_EACH:
    case BH_BUDGET_COUNTS_ACCESSES:
        return domain->budget_second_events <= EVENT_POOL_MAX_EVENTS && domain->budget_slack_events == 0 &&
               domain->budget_chunk_events == 0 && !is_unlimited(domain);
    case BH_BUDGET_COUNTS_SUM:
        return domain->budget_second_events == 0 && slack_fits(domain);
    default:
        return false;
    }
}

/* Only members of a regulator's set may be counted without a limit. */
static bool limit_fits(const struct manifest_domain *domain)
{
    if (is_unlimited(domain)) {
        return domain->budget_chunk_events == 0;
    }
    return domain->budget_events <= EVENT_POOL_MAX_EVENTS &&
           domain->budget_chunk_events <= domain->budget_events;
}

/* All domains that take part in reclaiming have the same period, and each core has a budget of its own. */
static bool reclaim_fits(const struct manifest_header *manifest, const struct manifest_domain *domain)
{
    const struct manifest_domain *domains = manifest_domains(manifest);

    if ((domain->flags & BH_DOMAIN_FLAG_RECLAIM) == 0) {
        return true;
    }
    if ((domain->flags & BH_DOMAIN_FLAG_REALTIME) != 0 || domain->budget_chunk_events == 0) {
        return false;
    }
    for (uint32_t i = 0; i < manifest->domains.count; i++) {
        if ((domains[i].flags & BH_DOMAIN_FLAG_RECLAIM) != 0 &&
            (domains[i].budget_period_ns != domain->budget_period_ns ||
             domains[i].budget_counts != domain->budget_counts)) {
            return false;
        }
    }
    return true;
}

/* Every core of the domain needs its counter's overflow interrupt. */
static bool has_counters(const struct manifest_header *manifest, const struct manifest_domain *domain)
{
    const struct manifest_vcpu *vcpus = manifest_vcpus(manifest) + domain->first_vcpu;

    for (uint32_t i = 0; i < domain->vcpu_count; i++) {
        if (manifest_cpus(manifest)[vcpus[i].core].pmu_irq == 0) {
            return false;
        }
    }
    return true;
}

static bool cpu_time_is_sound(const struct manifest_domain *domain)
{
    if (domain->cpu_period_ns == 0) {
        return domain->cpu_budget_ns == 0;
    }
    return domain->cpu_period_ns >= SHORTEST_CPU_PERIOD_NS && domain->cpu_period_ns <= LONGEST_PERIOD_NS &&
           domain->cpu_budget_ns != 0 && domain->cpu_budget_ns <= domain->cpu_period_ns;
}

bool manifest_check_budget(struct manifest_check *check, const struct manifest_domain *domain)
{
    const struct manifest_header *manifest = check->manifest;
    const struct manifest_vcpu *vcpus = manifest_vcpus(manifest) + domain->first_vcpu;
    bool sound;

    if (!cpu_time_is_sound(domain)) {
        return manifest_refuse(check, BH_MANIFEST_ERROR_BUDGET, &domain->cpu_budget_ns);
    }
    if ((domain->flags & BH_DOMAIN_FLAG_PMU) != 0 && !has_counters(manifest, domain)) {
        return manifest_refuse(check, BH_MANIFEST_ERROR_BUDGET, &domain->flags);
    }
    if ((domain->flags & BH_DOMAIN_FLAG_BUDGET) == 0) {
        return manifest_has_no_budget(domain) ||
               manifest_refuse(check, BH_MANIFEST_ERROR_BUDGET, &domain->budget_events);
    }
    sound = manifest->platform.traffic_event != 0 && limit_fits(domain) &&
            domain->budget_period_ns >= SHORTEST_PERIOD_NS && domain->budget_period_ns <= LONGEST_PERIOD_NS &&
            counts_fit(&manifest->platform, domain) && reclaim_fits(manifest, domain) &&
            has_counters(manifest, domain);
    for (uint32_t i = 0; sound && i < domain->vcpu_count; i++) {
        sound = !is_unlimited(domain) || is_member(manifest, vcpus[i].core);
    }
    return sound || manifest_refuse(check, BH_MANIFEST_ERROR_BUDGET, &domain->budget_events);
}

/* A member's budget has the interval as its period, and is not shared with other cores. */
static bool member_fits(const struct manifest_header *manifest, uint32_t core)
{
    const struct manifest_regulation *regulation = &manifest->regulation;
    uint32_t found = 0;

    for (uint32_t i = 0; i < manifest->vcpus.count; i++) {
        const struct manifest_vcpu *vcpu = &manifest_vcpus(manifest)[i];
        const struct manifest_domain *domain = &manifest_domains(manifest)[vcpu->domain];

        if (vcpu->core != core) {
            continue;
        }
        found++;
        if ((domain->flags & BH_DOMAIN_FLAG_BUDGET) == 0 ||
            domain->budget_period_ns != regulation->interval_ns || domain->budget_chunk_events != 0 ||
            domain->budget_counts == BH_BUDGET_COUNTS_EACH ||
            domain->budget_counts == BH_BUDGET_COUNTS_ACCESSES ||
            domain->budget_events != regulation->budget_events[core]) {
            return false;
        }
    }
    return found == 1;
}

static bool is_of_realtime(const struct manifest_header *manifest, uint32_t core)
{
    for (uint32_t i = 0; i < manifest->vcpus.count; i++) {
        const struct manifest_vcpu *vcpu = &manifest_vcpus(manifest)[i];

        if (vcpu->core == core &&
            (manifest_domains(manifest)[vcpu->domain].flags & BH_DOMAIN_FLAG_REALTIME) != 0) {
            return true;
        }
    }
    return false;
}

/* Utilization is read from the memory controller's counters; traffic is the sum over all cores with a VCPU,
 * so all of them must be members. */
static bool load_is_measured(const struct manifest_header *manifest,
                             const struct manifest_regulation *regulation)
{
    uint32_t load = regulator_load_of(regulation->policy);

    if (regulation->policy >= REGULATOR_POLICY_COUNT) {
        return false;
    }
    if ((load & REGULATOR_LOAD_UTILIZATION) != 0 && manifest->platform.utilization_pa == 0) {
        return false;
    }
    for (uint32_t i = 0; (load & REGULATOR_LOAD_TRAFFIC) != 0 && i < manifest->vcpus.count; i++) {
        if (!is_member(manifest, manifest_vcpus(manifest)[i].core)) {
            return false;
        }
    }
    return true;
}

static bool may_be_regulated(const struct manifest_header *manifest,
                             const struct manifest_regulation *regulation)
{
    if (regulation->members != manifest->regulation.members ||
        (regulation->regulated & ~(regulation->members | regulated_devices(manifest))) != 0) {
        return false;
    }
    for (uint32_t core = 0; core < manifest->cpus.count; core++) {
        if ((regulation->regulated >> core & 1) != 0 && is_of_realtime(manifest, core)) {
            return false;
        }
    }
    return true;
}

/* The first word for which a device has no budget that its registers can hold; BH_REGULATION_WORDS if there
 * is none. Budgets and floor have been checked by regulator_check(), so a regulated device has no less than
 * the floor. */
static uint32_t bad_device_word(const struct manifest_header *manifest,
                                const struct manifest_regulation *regulation)
{
    const struct manifest_device_regulators *all = &manifest->device_regulators;

    for (uint32_t i = 0; i < BH_MAX_DEVICE_REGULATORS; i++) {
        uint32_t place = regulated_device_place(manifest, i);

        if (place >= BH_MAX_CORES) {
            continue;
        }
        if (regulation->budget_events[place] > REGULATOR_MAX_EVENTS ||
            regulated_device_rate(all, i, regulation->budget_events[place], regulation->interval_ns) == 0) {
            return WORD_OF(budget_events) + place;
        }
        if (regulation->policy != REGULATOR_STATIC && (regulation->regulated >> place & 1) != 0 &&
            regulated_device_rate(all, i, regulation->floor_events, regulation->interval_ns) == 0) {
            return WORD_OF(floor_events);
        }
    }
    return BH_REGULATION_WORDS;
}

/* The first core whose budget alone makes regulator_check() fail. */
static uint32_t bad_budget(const struct manifest_regulation *regulation)
{
    uint32_t core = 0;

    while (core + 1 < BH_MAX_CORES && (regulation->budget_events[core] <= REGULATOR_MAX_EVENTS ||
                                       (regulation->budget_events[core] == BH_UNLIMITED_EVENTS &&
                                        (regulation->regulated >> core & 1) == 0))) {
        core++;
    }
    return WORD_OF(budget_events) + core;
}

/* The word of the regulation that an error of regulator_check() concerns. */
static uint32_t word_of_error(enum regulator_error error, const struct manifest_regulation *regulation)
{
    switch (error) {
    case REGULATOR_ERROR_NONE:
        return BH_REGULATION_WORDS;
    case REGULATOR_ERROR_THRESHOLD:
        return WORD_OF(threshold);
    case REGULATOR_ERROR_TRAFFIC:
        return WORD_OF(bandwidth_threshold_events);
    case REGULATOR_ERROR_HORIZON:
        return WORD_OF(horizon_intervals);
    case REGULATOR_ERROR_STEP:
        return WORD_OF(step);
    case REGULATOR_ERROR_INTERVAL:
        return WORD_OF(interval_ns);
    case REGULATOR_ERROR_CORES:
        return WORD_OF(regulated);
    case REGULATOR_ERROR_BUDGET:
        return bad_budget(regulation);
    case REGULATOR_ERROR_FLOOR:
        return WORD_OF(floor_events);
    case REGULATOR_ERROR_CEILING:
        return WORD_OF(ceiling_events);
    case REGULATOR_ERROR_SATURATION:
        return WORD_OF(saturation_events);
    case REGULATOR_ERROR_POLICY:
    case REGULATOR_ERROR_HOLD:
    case REGULATOR_ERROR_DELAY: /* a manager may choose the policy, and the manifest has no delays for it */
        break;
    }
    return WORD_OF(policy);
}

uint32_t manifest_regulation_bad_word(const struct manifest_header *manifest,
                                      const struct manifest_regulation *regulation)
{
    struct regulator_parameters parameters;
    enum regulator_error error;

    if (!load_is_measured(manifest, regulation)) {
        return WORD_OF(policy);
    }
    if (!may_be_regulated(manifest, regulation)) {
        return WORD_OF(regulated);
    }
    if (regulation->store_samples > 1) {
        return WORD_OF(store_samples);
    }
    if (regulation->interval_ns < SHORTEST_INTERVAL_NS || regulation->interval_ns > LONGEST_INTERVAL_NS) {
        return WORD_OF(interval_ns);
    }
    /* The interval is passed in ns instead of ticks: the clock is not known here, and no other parameter
     * depends on it. */
    manifest_regulator(regulation, &manifest->delays, regulation->interval_ns, &parameters);
    error = regulator_check(&parameters);
    return error == REGULATOR_ERROR_NONE ? bad_device_word(manifest, regulation)
                                         : word_of_error(error, regulation);
}

/* Either all cores of a domain are members, or none is. */
static bool members_are_whole_domains(const struct manifest_header *manifest)
{
    for (uint32_t i = 0; i < manifest->vcpus.count; i++) {
        const struct manifest_vcpu *vcpu = &manifest_vcpus(manifest)[i];
        const struct manifest_domain *domain = &manifest_domains(manifest)[vcpu->domain];
        uint32_t first = manifest_vcpus(manifest)[domain->first_vcpu].core;

        if (is_member(manifest, vcpu->core) != is_member(manifest, first)) {
            return false;
        }
    }
    return true;
}

static bool regulation_fits(const struct manifest_header *manifest)
{
    if (manifest->regulation.members >> manifest->cpus.count != 0 || !members_are_whole_domains(manifest)) {
        return false;
    }
    for (uint32_t core = 0; core < manifest->cpus.count; core++) {
        if (is_member(manifest, core) && !member_fits(manifest, core)) {
            return false;
        }
    }
    return manifest_regulation_bad_word(manifest, &manifest->regulation) == BH_REGULATION_WORDS;
}

bool manifest_check_regulation(struct manifest_check *check)
{
    const struct manifest_regulation *regulation = &check->manifest->regulation;

    if (regulation->members == 0 ? manifest_has_no_regulation(check->manifest)
                                 : regulation_fits(check->manifest)) {
        return true;
    }
    return manifest_refuse(check, BH_MANIFEST_ERROR_REGULATION, regulation);
}

void manifest_regulator(const struct manifest_regulation *from, const struct manifest_delays *delays,
                        uint64_t interval_ticks, struct regulator_parameters *parameters)
{
    *parameters = (struct regulator_parameters){
        .policy = from->policy,
        .hold = (enum regulator_hold)from->hold,
        .threshold = from->threshold,
        .step = from->step,
        .bandwidth_threshold_events = from->bandwidth_threshold_events,
        .interval_ticks = interval_ticks,
        .horizon_intervals = from->horizon_intervals,
        .regulated = from->regulated,
        .floor_events = from->floor_events,
        .ceiling_events = from->ceiling_events,
        .saturation_events = from->saturation_events,
        .store_samples = from->store_samples != 0,
    };
    for (uint32_t i = 0; i < REGULATOR_MAX_CORES; i++) {
        parameters->budget_events[i] = from->budget_events[i];
        parameters->event_delays[i] =
            regulator_event_delay(delays->event_ps[i], from->interval_ns * PS_PER_NS);
    }
}
