/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Every entry point stops the counters, calls core/, and executes its answer, in hard interrupt context. A
 * throttled CPU goes on counting until its budget is refilled, without a limit: on a kernel without full
 * preemption the present task may run on for a while, and while the thread holds the CPU, interrupts and the
 * work that they defer are served. All of these events are this CPU's overshoot.
 */
#include "regulated_cpu.h"
#include "cpus.h"
#include "regulation.h"
#include "throttle.h"
#include <linux/hardirq.h>

static void stop_counters(struct regulated_cpu *own, u64 readings[RESERVATION_COUNTERS])
{
    u64 events = counters_stop(&own->counters, readings);

    if (own->trailing) {
        own->trailing = false;
        own->held_events += own->held ? events : 0;
        reservation_charge(&own->budget.reservation, events);
    }
}

static void start_trailing(struct regulated_cpu *own)
{
    own->trailing = true;
    counters_start_unlimited(&own->counters);
}

static void apply_action(struct regulated_cpu *own, struct budget_action action)
{
    WRITE_ONCE(own->throttled, !action.runs);
    if (action.runs) {
        own->held = false;
        counters_start(&own->counters, action.preload);
    } else {
        start_trailing(own);
        if (!own->held) {
            throttle_wake(own->cpu);
        }
    }
}

/* A deadline in the past interrupts at once. */
static ktime_t deadline(const struct regulated_cpu *own)
{
    return ns_to_ktime(budget_deadline(&own->budget));
}

static void arm_timer(struct regulated_cpu *own)
{
    hrtimer_start(&own->timer, deadline(own), HRTIMER_MODE_ABS_PINNED_HARD);
}

/* Message handler: takes over the budgets of an interval that another CPU has completed. */
static void budgets_published(void *argument)
{
    struct regulated_cpu *own = argument;
    u64 readings[RESERVATION_COUNTERS];

    if (!own->started) {
        return;
    }
    stop_counters(own, readings);
    budget_save(&own->budget, readings);
    apply_action(own, regulated_load(&own->core, ktime_get_ns()));
    arm_timer(own);
}

/* Sends the message to the other CPUs whose budget has changed. A CPU that has not handled an earlier message
 * handles both together. */
static void complete_interval(struct regulated_cpu *own, struct regulator_sample *sample)
{
    u32 changed = regulation_complete(&own->core, sample);

    for (u32 i = 0; i < REGULATOR_MAX_CORES; i++) {
        struct regulated_cpu *other = cpus_at(i);

        if ((changed >> i & 1) != 0 && other != NULL && other != own && READ_ONCE(other->started)) {
            (void)smp_call_function_single_async((int)i, &other->published);
        }
    }
}

static void take_overflow(struct regulated_cpu *own)
{
    u64 readings[RESERVATION_COUNTERS];

    if (!own->started || !own->budget.reservation.counting) {
        return;
    }
    stop_counters(own, readings);
    apply_action(own, budget_overflow(&own->budget, ktime_get_ns(), readings));
}

static void overflow_later(struct irq_work *work)
{
    take_overflow(container_of(work, struct regulated_cpu, overflow));
}

void regulated_cpu_overflowed(struct perf_event *event, struct perf_sample_data *data,
                              struct pt_regs *registers)
{
    struct regulated_cpu *own = event->overflow_handler_context;

    if (in_nmi()) {
        irq_work_queue(&own->overflow);
    } else {
        take_overflow(own);
    }
}

static void store_sample(struct regulated_cpu *own, u64 now_ns, u64 periods, u64 limit_events)
{
    const struct reservation *reservation = &own->budget.reservation;
    u64 throttled_ns = reservation_throttled_ticks(reservation, now_ns);
    struct regulation_outcome outcome = regulation_latest();
    struct sample sample = {
        .number = reservation->period.number - 1,
        .time_ns = now_ns,
        .periods = periods,
        .events = reservation->statistics.events - own->seen_events,
        .limit_events = limit_events,
        .throttled_ns = throttled_ns - own->seen_throttled_ns,
        .global_events = outcome.global_events,
        .load = outcome.load,
        .carried = outcome.carried,
    };

    own->seen_events = reservation->statistics.events;
    own->seen_throttled_ns = throttled_ns;
    if (regulation_stores_samples()) {
        samples_write(&own->samples, &sample);
    }
}

static enum hrtimer_restart interval_ended(struct hrtimer *timer)
{
    struct regulated_cpu *own = container_of(timer, struct regulated_cpu, timer);
    struct reservation *reservation = &own->budget.reservation;
    u64 readings[RESERVATION_COUNTERS];
    struct regulator_sample sample;
    u64 limit_events = reservation->granted_events[0];
    u64 periods = reservation->statistics.periods;
    u64 now_ns;

    if (!own->started) {
        return HRTIMER_NORESTART;
    }
    own->gave_way += own->trailing && !own->held;
    stop_counters(own, readings);
    now_ns = ktime_get_ns();
    if (regulated_timer(&own->core, now_ns, readings, &sample)) {
        complete_interval(own, &sample);
    }
    periods = reservation->statistics.periods - periods;
    if (periods != 0) {
        store_sample(own, now_ns, periods, limit_events);
    }
    apply_action(own, regulated_load(&own->core, ktime_get_ns()));
    hrtimer_set_expires(timer, deadline(own));
    return HRTIMER_RESTART;
}

void regulated_cpu_begin(struct regulated_cpu *own)
{
    u64 readings[RESERVATION_COUNTERS];
    u64 now_ns;

    (void)counters_stop(&own->counters, readings);
    regulated_join(&own->core);
    now_ns = ktime_get_ns();
    budget_start(&own->budget, now_ns);
    WRITE_ONCE(own->started, true);
    apply_action(own, regulated_load(&own->core, now_ns));
    arm_timer(own);
}

/* If the other CPUs waited only for this one, their interval ends now, and so does this CPU's. */
static void leave_set(struct regulated_cpu *own)
{
    struct regulator_sample sample;

    if (regulated_leave(&own->core, ktime_get_ns(), &sample)) {
        complete_interval(own, &sample);
    }
}

void regulated_cpu_end(struct regulated_cpu *own)
{
    u64 readings[RESERVATION_COUNTERS];

    stop_counters(own, readings);
    budget_save(&own->budget, readings);
    leave_set(own);
    budget_stop(&own->budget, ktime_get_ns());
    WRITE_ONCE(own->started, false);
    WRITE_ONCE(own->throttled, false);
    own->held = false;
}

bool regulated_cpu_hold(struct regulated_cpu *own)
{
    u64 readings[RESERVATION_COUNTERS];

    if (own->throttled && !own->held) {
        stop_counters(own, readings);
        own->held = true;
        start_trailing(own);
    }
    return own->throttled;
}

void regulated_cpu_give_way(struct regulated_cpu *own)
{
    u64 readings[RESERVATION_COUNTERS];

    if (own->throttled && own->held) {
        stop_counters(own, readings);
        own->held = false;
        start_trailing(own);
    }
}

void regulated_cpu_init(struct regulated_cpu *own, unsigned int cpu,
                        const struct reservation_parameters *parameters)
{
    own->cpu = cpu;
    /* The module's parameter ranges are within those that these functions accept. */
    (void)budget_init(&own->budget, parameters, NULL);
    (void)regulated_init(&own->core, &own->budget, regulation_exchange(), cpu);
    hrtimer_init(&own->timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_PINNED_HARD);
    own->timer.function = interval_ended;
    INIT_CSD(&own->published, budgets_published, own);
    own->overflow = IRQ_WORK_INIT_HARD(overflow_later);
}
