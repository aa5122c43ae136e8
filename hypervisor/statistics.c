/* SPDX-License-Identifier: Apache-2.0
 *
 * core/sample_ring.h in frames of the pool that follow each other, so they are one piece for EL2.
 */
#include "statistics.h"
#include "cpu.h"
#include "domain.h"
#include "regulation.h"
#include "shared_core.h"
#include "system.h"
#include <stdatomic.h>
#include <stddef.h>

#define WORDS (sizeof(struct status_sample) / sizeof(uint64_t))

static _Atomic uint32_t discarded; /* bool */

static bool has_budget(const struct cpu *cpu)
{
    return cpu->pinned != NULL ? domain_has_flag(cpu->pinned->domain, BH_DOMAIN_FLAG_BUDGET)
                               : shared_core_counts(cpu) != 0;
}

static bool init(struct cpu *cpu)
{
    struct pool *pool = system_pool();
    uint64_t first = pool->used;
    paddr_t frame;

    cpu->statistics = (struct statistics){.waits = false};
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

/* What is known at the end of a period. */
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
    statistics_next(cpu); /* of the period before, if it never came */
    begin(&own->sample, &cpu->status->budget, &own->seen, now_ticks);
    if (statistics_are_stored()) {
        own->sample.domain = cpu->vcpu->domain->index;
        own->sample.vcpu = cpu->vcpu->index;
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
        sample->domain = vcpu->domain;
        sample->vcpu = vcpu->vcpu;
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
