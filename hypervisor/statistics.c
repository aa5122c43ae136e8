/* SPDX-License-Identifier: Apache-2.0
 *
 * core/sample_ring.h in frames of the pool that follow each other, so they are one piece for EL2.
 */
#include "statistics.h"
#include "cpu.h"
#include "domain.h"
#include "regulation.h"
#include "system.h"
#include <stdatomic.h>
#include <stddef.h>

#define WORDS (sizeof(struct status_sample) / sizeof(uint64_t))

static _Atomic uint32_t discarded; /* bool */

static bool has_budget(const struct cpu *cpu)
{
    return cpu->pinned != NULL && domain_has_flag(cpu->pinned->domain, BH_DOMAIN_FLAG_BUDGET);
}

static bool init(struct cpu *cpu)
{
    struct pool *pool = system_pool();
    uint64_t first = pool->used;
    paddr_t frame;

    cpu->statistics = (struct statistics){.events = 0};
    if (!has_budget(cpu)) {
        return true;
    }
    for (uint32_t i = 0; i < BH_SAMPLE_FRAMES; i++) {
        if (!pool_allocate(pool, &frame)) {
            return false;
        }
    }
    cpu->status->samples_frame = first;
    cpu->status->samples_bytes = (uint64_t)BH_SAMPLE_FRAMES * BH_PAGE_BYTES;
    return sample_writer_init(&cpu->statistics.writer,
                              (struct sample_ring *)(void *)(pool->linear + first * BH_PAGE_BYTES),
                              cpu->status->samples_bytes, WORDS);
}

bool statistics_init_all(void)
{
    const struct manifest_regulation *regulation = &system_manifest()->regulation;

    (void)statistics_store(regulation->members == 0 || regulation->store_samples != 0);
    for (uint32_t i = 0; i < system_manifest()->cpus.count; i++) {
        if (!init(cpu_at(i))) {
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

static void write(struct cpu *cpu)
{
    struct statistics *own = &cpu->statistics;
    struct status_sample *sample = &own->sample;

    own->waits = false;
    sample->budget = cpu->status->budget.limit_events;
    sample->period_ticks = cpu->status->budget.period_ticks;
    if (cpu->bandwidth.member) {
        struct regulation_outcome outcome = regulation_latest();

        sample->global_events = outcome.global_events;
        sample->utilization = outcome.load;
    }
    sample_write(&own->writer, (const uint64_t *)(const void *)sample);
}

void statistics_next(struct cpu *cpu)
{
    if (cpu->statistics.waits) {
        write(cpu);
    }
}

void statistics_period(struct cpu *cpu, uint64_t now_ticks, bool next_is_known)
{
    struct statistics *own = &cpu->statistics;
    const struct status_budget *budget = &cpu->status->budget;

    if (own->writer.ring == NULL) {
        return;
    }
    statistics_next(cpu); /* of the period before, if it never came */
    if (statistics_are_stored()) {
        own->sample.time = now_ticks;
        own->sample.domain = cpu->vcpu->domain->index;
        own->sample.vcpu = cpu->vcpu->index;
        own->sample.events = budget->events - own->events;
        own->sample.throttled_ticks = budget->throttled_ticks - own->throttled_ticks;
        own->waits = true;
        if (next_is_known) {
            write(cpu);
        }
    }
    own->events = budget->events;
    own->throttled_ticks = budget->throttled_ticks;
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
