/* SPDX-License-Identifier: Apache-2.0
 *
 * One regulator for all cores. The exchange lets one core at a time step it; the lock is for whoever reads or
 * changes its parameters meanwhile.
 */
#include "regulation.h"
#include "clock.h"
#include "core/regulated_core.h"
#include "cpu.h"
#include "spinlock.h"
#include "system.h"
#include <arch/mmio.h>

static struct {
    struct spinlock lock;
    struct regulator regulator;
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

/* Busy cycles first: what passes between the two makes the load look lower by nanoseconds, not higher. */
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

/* Cores that run a VCPU from the beginning; those of others join when they are turned on. */
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

    if (members() == 0) {
        return;
    }
    manifest_regulator(system_manifest(), clock_ticks(system_manifest()->regulation.interval_ns),
                       &parameters);
    regulator_init(&regulation.regulator, &parameters);
    regulator_exchange_init(&regulation.exchange, first_members(), 0);
    start_counters();
}

/* For whoever looks from outside. */
static void publish(void)
{
    const struct regulator *from = &regulation.regulator;
    struct status_regulation *to = &system_status()->regulation;
    uint64_t events = from->global >> REGULATOR_FRACTION_BITS;
    bool first = to->samples == 0;

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

/* What the memory did, and what the members caused, in the interval that is over. */
static void fill_load(struct regulator_sample *sample)
{
    sample->has_utilization = measure(&sample->utilization);
    sample->elapsed_ticks = regulation.regulator.parameters.interval_ticks;
    for (uint32_t i = 0; i < REGULATOR_MAX_CORES; i++) {
        sample->traffic_events += sample->accesses[i];
    }
}

void regulation_complete(struct cpu *cpu, struct regulator_sample *sample)
{
    spin_lock(&regulation.lock);
    fill_load(sample);
    regulated_step(&cpu->bandwidth.regulated, &regulation.regulator, sample);
    publish();
    spin_unlock(&regulation.lock);
    for (uint32_t i = 0; i < system_manifest()->cpus.count; i++) {
        if (regulation_has(i) && i != cpu->index) {
            cpu_send_request(cpu_at(i), CPU_REQUEST_BUDGETS);
        }
    }
}

void regulation_read(struct regulator_parameters *parameters)
{
    spin_lock(&regulation.lock);
    *parameters = *regulator_latest(&regulation.regulator);
    spin_unlock(&regulation.lock);
}

enum regulator_error regulation_change(const struct regulator_parameters *parameters)
{
    enum regulator_error error;

    spin_lock(&regulation.lock);
    error = regulator_change(&regulation.regulator, parameters);
    spin_unlock(&regulation.lock);
    return error;
}
