/* SPDX-License-Identifier: Apache-2.0
 *
 * Places the rings of core/sample_ring.h in on-chip memory, where writes to them cause no DRAM traffic, or
 * else in the pool.
 */
#include "time/statistics.h"
#include "console/console.h"
#include "memory/window.h"
#include "time/bandwidth.h"
#include "time/regulation.h"
#include "vm/cpu.h"
#include "vm/domain.h"
#include "vm/system.h"
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#define WORDS      (sizeof(struct status_sample) / sizeof(uint64_t))
#define RING_BYTES ((uint64_t)BH_SAMPLE_FRAMES * BH_PAGE_BYTES)

static _Atomic uint32_t discarded; /* bool */

/* Start of a ring: EL2's pointer and the physical address. */
struct ring_place {
    char *here;
    uint64_t pa;
};

/* Allocates consecutive frames, so that they are contiguous for EL2. */
static bool place_in_pool(struct ring_place *place)
{
    struct pool *pool = system_pool();
    uint64_t first = pool->used;
    paddr_t frame;

    for (uint32_t i = 0; i < BH_SAMPLE_FRAMES; i++) {
        if (!pool_allocate(pool, &frame)) {
            return false;
        }
        place->pa = i == 0 ? frame.value : place->pa;
    }
    place->here = pool->linear + first * BH_PAGE_BYTES;
    return true;
}

/* The first of `count` rings in on-chip memory; NULL if there is none or too little for all rings. */
static struct ring_place place_in_sram(uint32_t count)
{
    const struct manifest_platform *platform = &system_manifest()->platform;
    struct ring_place none = {NULL, 0};

    if (count == 0 || platform->sram_bytes == 0) {
        return none;
    }
    if (platform->sram_bytes / RING_BYTES < count) {
        console_log("samples in RAM: on-chip memory is too small for %u rings", count);
        return none;
    }
    console_log("samples in on-chip memory at %lx", platform->sram_pa);
    return (struct ring_place){window_sram(paddr(platform->sram_pa), count * BH_SAMPLE_FRAMES),
                               platform->sram_pa};
}

static bool init(struct cpu *cpu, const struct ring_place *place)
{
    cpu->status->samples_pa = place->pa;
    cpu->status->samples_bytes = RING_BYTES;
    memset(place->here, 0, RING_BYTES);
    return sample_writer_init(&cpu->statistics.writer, (struct sample_ring *)(void *)place->here, RING_BYTES,
                              WORDS);
}

bool statistics_init_all(void)
{
    const struct manifest_regulation *regulation = &system_manifest()->regulation;
    uint32_t cores = system_manifest()->cpus.count;
    struct ring_place sram;
    uint32_t count = 0;

    (void)statistics_store(regulation->members == 0 || regulation->store_samples != 0);
    for (uint32_t i = 0; i < cores; i++) {
        cpu_at(i)->statistics = (struct statistics){.waits = false};
        count += bandwidth_counts(cpu_at(i)) != 0 ? 1 : 0;
    }
    sram = place_in_sram(count);
    for (uint32_t i = 0; i < cores; i++) {
        struct ring_place place = sram;

        if (bandwidth_counts(cpu_at(i)) == 0) {
            continue;
        }
        if (sram.here != NULL) {
            sram = (struct ring_place){sram.here + RING_BYTES, sram.pa + RING_BYTES};
        } else if (!place_in_pool(&place)) {
            return false;
        }
        if (!init(cpu_at(i), &place)) {
            return false;
        }
    }
    return true;
}

bool statistics_store(bool stored)
{
    return atomic_exchange(&discarded, stored ? 0 : 1) == 0;
}

bool statistics_are_stored(void)
{
    return atomic_load_explicit(&discarded, memory_order_relaxed) == 0;
}

/* Fills in what is known at the end of a period. */
static void begin(struct status_sample *sample, const struct status_budget *budget,
                  struct statistics_seen *seen, uint64_t now_ticks)
{
    sample->time = now_ticks;
    sample->events = budget->events - seen->events;
    sample->throttled_ticks = budget->throttled_ticks - seen->throttled_ticks;
    seen->events = budget->events;
    seen->throttled_ticks = budget->throttled_ticks;
}

static void finish(struct cpu *cpu, struct status_sample *sample, const struct status_budget *budget)
{
    sample->budget = budget->limit_events;
    sample->period_ticks = budget->period_ticks;
    if (cpu->bandwidth.member) {
        struct regulation_outcome outcome = regulation_latest();

        sample->global_events = outcome.global_events;
        sample->utilization = outcome.load;
        sample->device_events = outcome.device_events;
        sample->carried = outcome.carried;
    }
    sample_write(&cpu->statistics.writer, (const uint64_t *)(const void *)sample);
}

void statistics_next(struct cpu *cpu)
{
    struct statistics *own = &cpu->statistics;

    if (own->waits) {
        own->waits = false;
        finish(cpu, &own->sample, &cpu->status->budget);
    }
}

void statistics_period(struct cpu *cpu, uint64_t now_ticks, bool next_is_known)
{
    struct statistics *own = &cpu->statistics;

    if (own->writer.ring == NULL) {
        return;
    }
    begin(&own->sample, &cpu->status->budget, &own->seen, now_ticks);
    if (statistics_are_stored()) {
        own->sample.domain = (uint16_t)cpu->vcpu->domain->index;
        own->sample.vcpu = (uint16_t)cpu->vcpu->index;
        own->waits = !next_is_known;
        if (next_is_known) {
            finish(cpu, &own->sample, &cpu->status->budget);
        }
    }
}

void statistics_shared(struct cpu *cpu, struct statistics_seen *seen, const struct status_vcpu *vcpu,
                       uint64_t now_ticks)
{
    struct status_sample *sample = &cpu->statistics.sample;

    if (vcpu->budget.periods == seen->periods) {
        return;
    }
    seen->periods = vcpu->budget.periods;
    begin(sample, &vcpu->budget, seen, now_ticks);
    if (statistics_are_stored()) {
        sample->domain = (uint16_t)vcpu->domain;
        sample->vcpu = (uint16_t)vcpu->vcpu;
        finish(cpu, sample, &vcpu->budget);
    }
}

bool statistics_read(const struct cpu *cpu, uint64_t *position, struct status_sample *sample,
                     uint64_t *dropped)
{
    struct sample_reader reader;

    if (cpu->statistics.writer.ring == NULL ||
        !sample_reader_init(&reader, cpu->statistics.writer.ring, cpu->status->samples_bytes)) {
        return false;
    }
    reader.position = *position < reader.position ? reader.position : *position;
    reader.dropped = reader.position - *position;
    if (!sample_read(&reader, (uint64_t *)(void *)sample)) {
        return false;
    }
    *dropped = reader.position - 1 - *position;
    *position = reader.position;
    return true;
}
