/* SPDX-License-Identifier: Apache-2.0
 *
 * One regulator for all cores, and for devices that are regulated with them. The exchange lets only one core
 * at a time step it; the lock is for cores that read or change its parameters at the same time.
 */
#include "time/regulation.h"
#include "core/regulated_core.h"
#include "core/regulated_device.h"
#include "core/spinlock.h"
#include "time/device_regulators.h"
#include "time/statistics.h"
#include "vm/clock.h"
#include "vm/cpu.h"
#include "vm/system.h"
#include <arch/mmio.h>
#include <stdatomic.h>

static struct {
    struct spinlock lock;
    struct manifest_regulation held;   /* in force */
    struct manifest_regulation latest; /* requested last */
    struct regulator regulator;
    _Atomic uint64_t outcome;       /* of the latest step, for samples: G in events, above 32 bits of U */
    _Atomic uint32_t device_events; /* of the latest step: budgets of devices together */
    _Atomic int32_t carried;        /* of the latest step: regulator_carried() */
    uint64_t lasts_ticks; /* length of the interval that has begun: a change applies to later ones */
    uint64_t lasts_ns;
    struct regulator_exchange exchange;
    struct utilization_meter meter;
} regulation;

static uint32_t members(void)
{
    return system_manifest()->regulation.members;
}

bool regulation_has(uint32_t core)
{
    return (members() >> core & 1) != 0;
}

struct regulator_exchange *regulation_exchange(void)
{
    return &regulation.exchange;
}

static uint32_t read_counter(uint32_t offset)
{
    return mmio_read32(paddr(system_manifest()->platform.utilization_pa + offset));
}

/* The busy cycles are read first: the delay between the two reads then makes the load appear lower, by
 * nanoseconds, not higher. */
static bool measure(uint32_t *utilization)
{
    const struct manifest_platform *platform = &system_manifest()->platform;
    uint32_t busy;

    if (platform->utilization_pa == 0) {
        return false;
    }
    busy = read_counter(platform->utilization_busy);
    return utilization_measure(&regulation.meter, busy, read_counter(platform->utilization_cycles),
                               utilization);
}

static void start_counters(void)
{
    const struct manifest_platform *platform = &system_manifest()->platform;
    uint32_t unused;

    if (platform->utilization_pa == 0) {
        return;
    }
    regulation.meter =
        (struct utilization_meter){{platform->utilization_bits, 0}, {platform->utilization_bits, 0}, false};
    mmio_write32(paddr(platform->utilization_pa + platform->utilization_control),
                 platform->utilization_clear);
    mmio_write32(paddr(platform->utilization_pa + platform->utilization_control),
                 platform->utilization_enable);
    (void)measure(&unused);
}

/* Cores that run a VCPU from the beginning. Other members join when their VCPU is turned on. */
static uint32_t first_members(void)
{
    const struct manifest_header *manifest = system_manifest();
    uint32_t first = 0;

    for (uint32_t i = 0; i < manifest->domains.count; i++) {
        first |= 1u << manifest_vcpus(manifest)[manifest_domains(manifest)[i].first_vcpu].core;
    }
    return first & members();
}

void regulation_init(void)
{
    struct regulator_parameters parameters;

    regulation.latest = system_manifest()->regulation;
    regulation.held = regulation.latest;
    regulation.lasts_ns = regulation.latest.interval_ns;
    if (members() == 0) {
        return;
    }
    manifest_regulator(&regulation.latest, &system_manifest()->delays,
                       clock_ticks(regulation.latest.interval_ns), &parameters);
    regulation.lasts_ticks = parameters.interval_ticks;
    regulator_init(&regulation.regulator, &parameters);
    regulator_exchange_init(&regulation.exchange, first_members(), 0);
    start_counters();
}

/* Publishes the latest step for samples and observers. */
static void publish(void)
{
    const struct regulator *from = &regulation.regulator;
    struct status_regulation *to = &system_status()->regulation;
    uint64_t events = from->global >> REGULATOR_FRACTION_BITS;
    bool first = to->samples == 0;

    atomic_store_explicit(&regulation.outcome, events << 32 | from->last_load, memory_order_relaxed);
    atomic_store_explicit(&regulation.carried, regulator_carried(from), memory_order_relaxed);
    to->samples = from->statistics.samples;
    to->missed = from->statistics.missed;
    to->given_up = regulation.exchange.given_up;
    to->unusable = from->statistics.unusable;
    to->changes = from->statistics.changes;
    to->global_events = events;
    to->global_sum_events += events;
    to->global_min_events = first || events < to->global_min_events ? events : to->global_min_events;
    to->global_max_events = events > to->global_max_events ? events : to->global_max_events;
    to->load_sum += from->last_load;
    to->load_min = first || from->last_load < to->load_min ? from->last_load : to->load_min;
    to->load_max = from->last_load > to->load_max ? from->last_load : to->load_max;
}

/* Fills in the memory's utilization and the traffic of members and devices in the interval that has ended. */
static void fill_load(struct regulator_sample *sample)
{
    regulated_devices_post(system_manifest(), regulation.regulator.budgets, regulation.lasts_ns, sample);
    sample->has_utilization = measure(&sample->utilization);
    sample->elapsed_ticks = regulation.lasts_ticks;
    regulation.lasts_ticks = regulation.regulator.parameters.interval_ticks;
    regulation.lasts_ns = regulation.held.interval_ns;
    for (uint32_t i = 0; i < REGULATOR_MAX_CORES; i++) {
        sample->traffic_events += sample->accesses[i];
    }
}

/* Returns the mask of cores whose budget has changed. */
static uint32_t step(struct cpu *cpu, struct regulator_sample *sample)
{
    bool waited = regulation.regulator.has_staged;
    uint32_t changed = regulated_step(&cpu->bandwidth.regulated, &regulation.regulator, sample);

    if (waited && !regulation.regulator.has_staged) {
        regulation.held = regulation.latest;
    }
    return changed;
}

/* The sum fits in 32 bits: the budgets of regulated devices are at most the ceiling together, and the others
 * have the budget of the manifest. */
static void set_devices(void)
{
    uint64_t sum = device_regulators_set(regulation.regulator.budgets, regulation.lasts_ns);

    atomic_store_explicit(&regulation.device_events, (uint32_t)sum, memory_order_relaxed);
}

void regulation_complete(struct cpu *cpu, struct regulator_sample *sample)
{
    uint32_t changed;

    spin_lock(&regulation.lock);
    fill_load(sample);
    changed = step(cpu, sample) & members() & ~(1u << cpu->index);
    set_devices();
    publish();
    spin_unlock(&regulation.lock);
    for (uint32_t i = 0; i < system_manifest()->cpus.count; i++) {
        if ((changed >> i & 1) != 0) {
            cpu_send_request(cpu_at(i), CPU_REQUEST_BUDGETS);
        }
    }
}

struct regulation_outcome regulation_latest(void)
{
    uint64_t both = atomic_load_explicit(&regulation.outcome, memory_order_relaxed);

    return (struct regulation_outcome){
        .global_events = both >> 32,
        .load = (uint32_t)both,
        .device_events = atomic_load_explicit(&regulation.device_events, memory_order_relaxed),
        .carried = atomic_load_explicit(&regulation.carried, memory_order_relaxed),
    };
}

bool regulation_read(struct manifest_regulation *parameters)
{
    if (members() == 0) {
        return false;
    }
    spin_lock(&regulation.lock);
    *parameters = regulation.latest;
    spin_unlock(&regulation.lock);
    parameters->store_samples = statistics_are_stored() ? 1 : 0;
    return true;
}

/* Budgets of cores that are not in the set must have the manifest's values, because they have no effect. */
uint32_t regulation_bad_word(const struct manifest_regulation *parameters)
{
    uint32_t word = manifest_regulation_bad_word(system_manifest(), parameters);

    for (uint32_t i = 0; i < BH_MAX_CORES && word == BH_REGULATION_WORDS; i++) {
        if (!regulation_has(i) &&
            parameters->budget_events[i] != system_manifest()->regulation.budget_events[i]) {
            word = offsetof(struct manifest_regulation, budget_events) / sizeof(uint64_t) + i;
        }
    }
    return word;
}

uint32_t regulation_change(const struct manifest_regulation *parameters)
{
    struct regulator_parameters staged;
    uint32_t word = BH_REGULATION_WORDS;

    manifest_regulator(parameters, &system_manifest()->delays, clock_ticks(parameters->interval_ns), &staged);
    spin_lock(&regulation.lock);
    /* Only ticks show whether the interval is long enough; the check in nanoseconds could not. */
    if (regulator_change(&regulation.regulator, &staged) == REGULATOR_ERROR_NONE) {
        regulation.latest = *parameters;
        (void)statistics_store(parameters->store_samples != 0);
    } else {
        word = offsetof(struct manifest_regulation, interval_ns) / sizeof(uint64_t);
    }
    spin_unlock(&regulation.lock);
    return word;
}

static uint64_t shorter(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

void regulation_read_parameters(struct regulation_parameters *parameters)
{
    spin_lock(&regulation.lock);
    *parameters = (struct regulation_parameters){
        .held = regulation.held,
        .latest = regulation.latest,
        .held_interval_ns = shorter(regulation.held.interval_ns, regulation.lasts_ns),
        .latest_interval_ns = shorter(regulation.latest.interval_ns, regulation.held.interval_ns),
        .waits = regulation.regulator.has_staged,
    };
    spin_unlock(&regulation.lock);
}
