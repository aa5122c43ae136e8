/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * The only file that knows the set of CPUs. If counters are not available for a CPU, it is not brought
 * online, or, at load, the module is not loaded.
 */
#include "cpus.h"
#include "regulation.h"

static struct cpus_choice chosen;
static struct regulated_cpu cpus[REGULATOR_MAX_CORES];
static bool released;

struct regulated_cpu *cpus_at(unsigned int cpu)
{
    return cpu < REGULATOR_MAX_CORES && (chosen.members >> cpu & 1) != 0 ? &cpus[cpu] : NULL;
}

static const char *reason_of(int error)
{
    switch (error) {
    case -EBUSY:
        return "no event counter is free";
    case -EOPNOTSUPP:
        return "the event counters have no interrupt, so no budget can be enforced";
    default:
        return "no counter supports the event";
    }
}

int cpus_online(unsigned int cpu)
{
    struct regulated_cpu *own = cpus_at(cpu);
    int error;

    if (own == NULL || READ_ONCE(released)) {
        return 0;
    }
    error = counters_open(&own->counters, cpu, &chosen.counters, regulated_cpu_overflowed, own);
    if (error != 0) {
        pr_err("CPU %u: %s (%d)\n", cpu, reason_of(error), error);
        return error;
    }
    local_irq_disable();
    if (!READ_ONCE(released)) {
        regulated_cpu_begin(own);
    }
    local_irq_enable();
    return 0;
}

static void end_if_started(struct regulated_cpu *own)
{
    if (own->started) {
        regulated_cpu_end(own);
    }
}

int cpus_offline(unsigned int cpu)
{
    struct regulated_cpu *own = cpus_at(cpu);

    if (own == NULL || own->counters.perf_count == 0) {
        return 0;
    }
    local_irq_disable();
    end_if_started(own);
    local_irq_enable();
    hrtimer_cancel(&own->timer);
    counters_close(&own->counters);
    irq_work_sync(&own->overflow);
    return 0;
}

int cpus_init(const struct cpus_choice *choice)
{
    bool sum = choice->counters.count > 1;
    struct reservation_parameters parameters = {
        .kind = sum ? RESERVATION_SUM : RESERVATION_ONE,
        .counter_bits = COUNTERS_BITS,
        .slack_events = sum ? choice->slack_events : 0,
        .grid = regulation_grid(),
        .keep_running = choice->keep_running,
    };

    chosen = *choice;
    for (u32 i = 0; i < REGULATOR_MAX_CORES; i++) {
        struct regulated_cpu *own = cpus_at(i);

        if (own == NULL) {
            continue;
        }
        if (samples_init(&own->samples) != 0) {
            cpus_exit();
            return -ENOMEM;
        }
        parameters.limit_events[0] = regulation_budget(i);
        regulated_cpu_init(own, i, &parameters);
    }
    return 0;
}

static void release(void *argument)
{
    struct regulated_cpu *own = cpus_at(smp_processor_id());

    if (own != NULL) {
        end_if_started(own);
    }
}

void cpus_release(void)
{
    WRITE_ONCE(released, true);
    on_each_cpu(release, NULL, 1);
}

static void do_nothing(void *argument) {}

void cpus_exit(void)
{
    /* Messages in flight arrive, and their handlers return. */
    on_each_cpu(do_nothing, NULL, 1);
    synchronize_rcu();
    for (u32 i = 0; i < REGULATOR_MAX_CORES; i++) {
        samples_free(&cpus[i].samples);
    }
}

bool cpus_statistics(unsigned int cpu, struct cpus_statistics *statistics)
{
    const struct regulated_cpu *own = cpus_at(cpu);

    if (own == NULL) {
        return false;
    }
    *statistics = (struct cpus_statistics){
        .reservation = own->budget.reservation.statistics,
        .limit_events = own->budget.reservation.granted_events[0],
        .gave_way = own->gave_way,
        .held_events = own->held_events,
        .uncounted = own->counters.uncounted,
        .started = own->started,
        .throttled = own->throttled,
    };
    return true;
}

bool cpus_samples(unsigned int cpu, struct sample_reader *reader)
{
    const struct regulated_cpu *own = cpus_at(cpu);

    return own != NULL && samples_reader(&own->samples, reader);
}
