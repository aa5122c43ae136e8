/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Counts all domains first, then the members of the regulator's set, core by core: each must find room next
 * to everything counted before. Since counting more never creates room, the order determines which parameter
 * is reported, not whether the set is admitted.
 */
#include "core/budget_admission.h"
#include "core/admission_tally.h"
#include "core/event_pool.h"
#include "core/regulated_device.h"
#include "core/regulator.h"

#define WORD_OF(field) ((uint32_t)(offsetof(struct manifest_regulation, field) / sizeof(uint64_t)))

/* Events that the cores of one domain may cause in an interval. */
struct core_events {
    uint64_t all;
    uint64_t limited; /* of the cores that are not regulated */
    uint32_t limited_cores;
};

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static bool is_dynamic(const struct manifest_regulation *regulation)
{
    return regulation->members != 0 && regulation->policy != BH_REGULATION_POLICY_FIXED;
}

static bool is_regulated(const struct manifest_regulation *regulation, uint32_t core)
{
    return is_dynamic(regulation) && (regulation->regulated >> core & 1) != 0;
}

static bool has_saturation(const struct manifest_regulation *regulation)
{
    return is_dynamic(regulation) && regulation->saturation_events != 0;
}

static uint32_t core_of(const struct tally *tally, const struct manifest_domain *domain, uint32_t vcpu)
{
    return manifest_vcpus(tally->manifest)[domain->first_vcpu + vcpu].core;
}

/* Only the first finding is kept. */
static void record_finding(struct regulation_verdict *verdict, uint32_t word, uint64_t most)
{
    if (verdict->word == BH_REGULATION_WORDS) {
        *verdict = (struct regulation_verdict){.word = word, .most = most};
    }
}

static uint32_t count_limited(const struct tally *tally, const struct manifest_domain *domain)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < domain->vcpu_count; i++) {
        count += !is_regulated(&tally->state->regulation, core_of(tally, domain, i));
    }
    return count;
}

/* The largest budget that the next core of the domain may have, next to all cores and, if it is not
 * regulated, next to the others that are not. */
static uint64_t most_of_core(const struct tally *tally, uint64_t bytes, const struct core_events *before,
                             bool is_limited)
{
    uint64_t interval_ns = tally->state->shortest_interval_ns;
    uint64_t below = memory_events(tally_room_below_limit(tally), bytes, 1, interval_ns);
    uint64_t most = memory_left(below, before->all);

    if (is_limited) {
        below = memory_events(tally_room_by_curve(tally, before->limited_cores), bytes, 1, interval_ns);
        most = smaller(most, memory_left(below, before->limited));
    }
    return tally_workable(tally->manifest, smaller(most, REGULATOR_MAX_EVENTS));
}

static void add_core(struct tally *tally, uint64_t bytes, uint32_t core, struct core_events *events,
                     struct regulation_verdict *verdict)
{
    const struct manifest_regulation *regulation = &tally->state->regulation;
    uint64_t own = tally_counted(tally->manifest, regulation->budget_events[core]);
    bool is_limited = !is_regulated(regulation, core);
    uint64_t most;

    if (own == BH_UNLIMITED_EVENTS || bytes == 0) {
        if (tally_has_curve(tally)) {
            record_finding(verdict, WORD_OF(budget_events) + core, 0);
        }
        return;
    }
    most = most_of_core(tally, bytes, events, is_limited);
    if (own > most) {
        record_finding(verdict, WORD_OF(budget_events) + core, most);
    }
    events->all += own;
    events->limited += is_limited ? own : 0;
}

/* Adds a domain whose cores are all members of the regulator's set. */
static void add_member(struct tally *tally, const struct manifest_domain *domain,
                       struct regulation_verdict *verdict)
{
    struct core_events events = {.limited_cores = count_limited(tally, domain)};
    uint64_t bytes = tally_event_bytes(tally->manifest, domain);
    uint64_t interval_ns = tally->state->shortest_interval_ns;

    for (uint32_t i = 0; i < domain->vcpu_count; i++) {
        add_core(tally, bytes, core_of(tally, domain, i), &events, verdict);
    }
    tally->rate = memory_sum(tally->rate, memory_rate(events.all, bytes, 1, interval_ns));
    if (tally_has_curve(tally) && events.limited_cores != 0) {
        memory_load_add(&tally->load, &tally->capacity, memory_rate(events.limited, bytes, 1, interval_ns),
                        events.limited_cores);
    }
}

/* Adds the devices that the regulator changes: like regulated cores, with their budgets at the start. */
static void add_devices(struct tally *tally, struct regulation_verdict *verdict)
{
    const uint64_t *budgets = tally->state->regulation.budget_events;
    uint64_t bytes = tally->manifest->bandwidth.event_bytes;
    uint64_t interval_ns = tally->state->shortest_interval_ns;
    uint32_t devices = regulated_devices(tally->manifest);

    for (uint32_t place = 0; place < BH_MAX_CORES && bytes != 0; place++) {
        if ((devices >> place & 1) == 0) {
            continue;
        }
        uint64_t most = memory_events(tally_room_below_limit(tally), bytes, 1, interval_ns);

        if (budgets[place] > most) {
            record_finding(verdict, WORD_OF(budget_events) + place, most);
        }
        tally->rate = memory_sum(tally->rate, memory_rate(budgets[place], bytes, 1, interval_ns));
    }
}

/* Adds the events that the regulator may give to all regulated cores together. */
static void add_regulated(struct tally *tally, struct regulation_verdict *verdict)
{
    const struct manifest_header *manifest = tally->manifest;
    const struct manifest_regulation *regulation = &tally->state->regulation;
    bool by_saturation =
        regulation->saturation_events != 0 && regulation->saturation_events < regulation->ceiling_events;
    uint64_t events = by_saturation ? regulation->saturation_events : regulation->ceiling_events;
    uint64_t bytes = 0;
    uint32_t cores = 0;
    uint64_t most;

    for (uint32_t i = 0; i < manifest->vcpus.count; i++) {
        const struct manifest_vcpu *vcpu = &manifest_vcpus(manifest)[i];
        uint64_t own = tally_event_bytes(manifest, &manifest_domains(manifest)[vcpu->domain]);

        if (is_regulated(regulation, vcpu->core)) {
            bytes = own > bytes ? own : bytes;
            cores++;
        }
    }
    if (!tally_has_curve(tally) || bytes == 0) {
        return;
    }
    most = memory_events(tally_room_by_curve(tally, cores), bytes, 1, tally->state->shortest_interval_ns);
    if (events > most) {
        record_finding(verdict, by_saturation ? WORD_OF(saturation_events) : WORD_OF(ceiling_events), most);
    }
    memory_load_add(&tally->load, &tally->capacity,
                    memory_rate(events, bytes, 1, tally->state->shortest_interval_ns), cores);
}

/* Events of an interval that are left below the saturation when the budgets of all cores that are not
 * regulated are subtracted. */
static uint64_t room_below_saturation(const struct tally *tally)
{
    const struct manifest_regulation *regulation = &tally->state->regulation;
    uint32_t masters = regulation->members | regulated_devices(tally->manifest);
    uint64_t used = tally->interval_events;

    for (uint32_t core = 0; core < BH_MAX_CORES; core++) {
        if ((masters >> core & 1) != 0 && !is_regulated(regulation, core)) {
            used += regulation->budget_events[core];
        }
    }
    return memory_left(regulation->saturation_events, used);
}

/* The most events that the regulator gives to the regulated cores in an interval. */
static uint64_t ceiling_of(const struct manifest_regulation *regulation, const struct manifest_delays *delays)
{
    struct regulator_parameters parameters;

    manifest_regulator(regulation, delays, regulation->interval_ns, &parameters);
    return regulator_ceiling(&parameters);
}

static void add_members(struct tally *tally, struct regulation_verdict *verdict)
{
    const struct manifest_header *manifest = tally->manifest;
    const struct manifest_regulation *regulation = &tally->state->regulation;

    if (regulation->members == 0) {
        return;
    }
    if (tally->state->shortest_interval_ns < manifest->bandwidth.shortest_period_ns) {
        record_finding(verdict, WORD_OF(interval_ns), manifest->bandwidth.shortest_period_ns);
    }
    for (uint32_t i = 0; i < manifest->domains.count; i++) {
        if (tally_is_member(manifest, i) && !tally_is_broker(manifest, i)) {
            add_member(tally, &manifest_domains(manifest)[i], verdict);
        }
    }
    add_devices(tally, verdict);
    add_regulated(tally, verdict);
    if (has_saturation(regulation) &&
        room_below_saturation(tally) < ceiling_of(regulation, &manifest->delays)) {
        record_finding(verdict, WORD_OF(ceiling_events), room_below_saturation(tally));
    }
}

/* Adds all domains that are not members of the regulator's set, except domain `but`. */
static void add_domains(struct tally *tally, uint32_t but)
{
    for (uint32_t i = 0; i < tally->manifest->domains.count; i++) {
        if (i != but && !tally_is_member(tally->manifest, i) && !tally_is_broker(tally->manifest, i)) {
            tally_add_domain(tally, i);
        }
    }
}

void admission_begin(const struct manifest_header *manifest, struct admission_state *state)
{
    for (uint32_t i = 0; i < manifest->domains.count; i++) {
        const struct manifest_domain *domain = &manifest_domains(manifest)[i];

        state->held[i] = (struct budget_parameters){domain->budget_events, domain->budget_period_ns};
        state->latest[i] = state->held[i];
    }
    state->regulation = manifest->regulation;
    state->shortest_interval_ns = manifest->regulation.interval_ns;
}

static bool periods_work(const struct manifest_header *manifest, const struct admission_state *state)
{
    for (uint32_t i = 0; i < manifest->domains.count; i++) {
        if ((manifest_domains(manifest)[i].flags & BH_DOMAIN_FLAG_BUDGET) != 0 &&
            (state->held[i].period_ns < manifest->bandwidth.shortest_period_ns ||
             state->latest[i].period_ns < manifest->bandwidth.shortest_period_ns)) {
            return false;
        }
    }
    return true;
}

bool admission_holds(const struct manifest_header *manifest, const struct admission_state *state)
{
    struct tally tally = tally_begin(manifest, state);
    struct regulation_verdict verdict = {.word = BH_REGULATION_WORDS};

    add_domains(&tally, BH_ALL_DOMAINS);
    if (!tally_fits(&tally) || !periods_work(manifest, state)) {
        return false;
    }
    add_members(&tally, &verdict);
    return verdict.word == BH_REGULATION_WORDS;
}

uint64_t admission_most_events(const struct manifest_header *manifest, const struct admission_state *state,
                               uint32_t domain, uint64_t period_ns)
{
    const struct manifest_domain *config = &manifest_domains(manifest)[domain];
    uint64_t bytes = tally_event_bytes(manifest, config);
    struct tally tally = tally_begin(manifest, state);
    struct regulation_verdict unused = {.word = BH_REGULATION_WORDS};
    uint64_t most = EVENT_POOL_MAX_EVENTS;
    uint64_t room;

    if (period_ns < manifest->bandwidth.shortest_period_ns) {
        return 0;
    }
    add_domains(&tally, domain);
    add_members(&tally, &unused);
    if (bytes != 0) {
        room = smaller(tally_room_below_limit(&tally), tally_room_by_curve(&tally, config->vcpu_count));
        most = smaller(most, memory_events(room, bytes, tally_holders(config), period_ns));
    }
    if (has_saturation(&state->regulation)) {
        room = memory_left(room_below_saturation(&tally), ceiling_of(&state->regulation, &manifest->delays));
        most = smaller(most, tally_events_within(&tally, config, room, period_ns));
    }
    return tally_workable(manifest, most);
}

struct regulation_verdict admission_of_regulation(const struct manifest_header *manifest,
                                                  const struct admission_state *state)
{
    struct tally tally = tally_begin(manifest, state);
    struct regulation_verdict verdict = {.word = BH_REGULATION_WORDS};

    add_domains(&tally, BH_ALL_DOMAINS);
    add_members(&tally, &verdict);
    return verdict;
}
