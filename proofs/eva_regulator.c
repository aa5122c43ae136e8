/* SPDX-License-Identifier: Apache-2.0
 *
 * Entry points for Frama-C's EVA over the regulators of core/, the words that cores exchange for them, and
 * the ring of samples: any parameters, any samples, any values in shared words.
 */
#include "core/regulated_core.h"
#include "core/sample_ring.h"
#include "frama_c.h"

#define RING_WORDS 64

static void any_parameters(struct regulator_parameters *parameters)
{
    parameters->policy = (uint32_t)any_u64();
    parameters->hold = (enum regulator_hold)any_u64();
    parameters->threshold = (uint32_t)any_u64();
    parameters->step = (uint32_t)any_u64();
    parameters->bandwidth_threshold_events = any_u64();
    parameters->interval_ticks = any_u64();
    parameters->regulated = (uint32_t)any_u64();
    for (uint32_t i = 0; i < REGULATOR_MAX_CORES; i++) {
        parameters->budget_events[i] = any_u64();
    }
    parameters->floor_events = any_u64();
    parameters->ceiling_events = any_u64();
    parameters->saturation_events = any_u64();
    parameters->store_samples = any_bool();
    parameters->horizon_intervals = (uint32_t)any_u64();
    for (uint32_t i = 0; i < REGULATOR_MAX_CORES; i++) {
        parameters->event_delays[i] = (uint32_t)any_u64();
    }
}

static void any_sample(struct regulator_sample *sample)
{
    sample->number = any_u64();
    sample->has_utilization = any_bool();
    sample->utilization = (uint32_t)any_u64();
    sample->traffic_events = any_u64();
    sample->elapsed_ticks = any_u64();
    sample->throttled = (uint32_t)any_u64();
    for (uint32_t i = 0; i < REGULATOR_MAX_CORES; i++) {
        sample->accesses[i] = (uint32_t)any_u64();
    }
}

void prove_regulator_check(void)
{
    struct regulator_parameters parameters;

    any_parameters(&parameters);
    (void)regulator_check(&parameters);
}

void prove_regulator(void)
{
    struct regulator_parameters parameters;
    struct regulator_sample sample;
    struct regulator regulator;

    any_parameters(&parameters);
    if (regulator_check(&parameters) != REGULATOR_ERROR_NONE) {
        return;
    }
    regulator_init(&regulator, &parameters);
    while (any_bool()) {
        any_parameters(&parameters);
        (void)regulator_change(&regulator, &parameters);
        any_sample(&sample);
        (void)regulator_step(&regulator, &sample);
    }
}

void prove_regulator_share(void)
{
    uint32_t accesses[REGULATOR_MAX_CORES] = {0};
    uint64_t budgets[REGULATOR_MAX_CORES] = {0};

    for (uint32_t i = 0; i < REGULATOR_MAX_CORES; i++) {
        accesses[i] = (uint32_t)any_u64();
    }
    regulator_share(any_u64(), any_u64(), any_u32_between(0, (1u << REGULATOR_MAX_CORES) - 1), accesses,
                    budgets);
}

void prove_utilization_measure(void)
{
    struct utilization_meter meter = {
        {any_u32_between(EVENT_COUNTER_MIN_BITS, EVENT_COUNTER_MAX_BITS), any_u64()},
        {any_u32_between(EVENT_COUNTER_MIN_BITS, EVENT_COUNTER_MAX_BITS), any_u64()},
        any_bool(),
    };
    uint32_t utilization;

    (void)utilization_measure(&meter, any_u64(), any_u64(), &utilization);
}

void prove_utilization_of_traffic(void)
{
    uint32_t fraction;

    (void)utilization_of_traffic(any_u64(), any_u64(), any_u64(), any_u64(), &fraction);
}

void prove_regulator_exchange(void)
{
    struct regulator_exchange exchange = {0};
    struct regulator_message message = {0};
    struct regulator_sample sample;
    uint32_t core = any_u32_between(0, REGULATOR_MAX_CORES - 1);
    uint64_t number;

    any_bytes(&exchange, sizeof exchange);
    any_bytes(&message, sizeof message);
    (void)regulator_exchange_post(&exchange, core, any_u64(), any_u64(), any_bool());
    regulator_exchange_join(&exchange, core);
    regulator_exchange_note(&exchange, core, any_u64(), any_u64(), any_bool());
    (void)regulator_exchange_leave(&exchange, core, &number);
    regulator_exchange_collect(&exchange, any_u64(), &sample);
    (void)regulator_exchange_publish(&exchange, &message);
    (void)regulator_exchange_count(&exchange);
    (void)regulator_exchange_take(&exchange, &message);
}

void prove_regulated_core(void)
{
    static struct regulator regulator;
    static struct regulator_exchange exchange;
    struct reservation_parameters own = {RESERVATION_ONE,   32,        {any_u64(), 0}, 0,
                                         {0, 0, any_u64()}, any_bool()};
    struct regulator_parameters parameters;
    struct budget budget = {0};
    struct regulated_core core = {&budget, &exchange, 0, any_u64()};
    struct regulator_sample sample;
    uint64_t readings[RESERVATION_COUNTERS] = {any_u64(), any_u64()};

    any_parameters(&parameters);
    if (reservation_check(&own) != RESERVATION_ERROR_NONE || !budget_init(&budget, &own, NULL) ||
        regulator_check(&parameters) != REGULATOR_ERROR_NONE ||
        !regulated_init(&core, &budget, &exchange, any_u32_between(0, REGULATOR_MAX_CORES))) {
        return;
    }
    regulator_init(&regulator, &parameters);
    regulator_exchange_init(&exchange, (uint32_t)any_u64(), any_u64());
    while (any_bool()) {
        any_sample(&sample);
        if (regulated_timer(&core, any_u64(), readings, &sample)) {
            (void)regulated_step(&core, &regulator, &sample);
        }
        if (any_bool() && regulated_leave(&core, any_u64(), &sample)) {
            (void)regulated_step(&core, &regulator, &sample);
        }
        (void)regulated_load(&core, any_u64());
    }
}

static uint64_t ring_words[RING_WORDS];

/* A reader relies on nothing that it finds in the ring. */
void prove_sample_reader(void)
{
    uint64_t sample[RING_WORDS];
    struct sample_reader reader = {(struct sample_ring *)ring_words, 2, 1, 0, 0};

    any_bytes(ring_words, sizeof ring_words);
    if (!sample_reader_init(&reader, (struct sample_ring *)ring_words, sizeof ring_words)) {
        return;
    }
    for (int i = 0; i < 2; i++) {
        any_bytes(ring_words, sizeof ring_words);
        (void)sample_read(&reader, sample);
    }
}

void prove_sample_writer(void)
{
    uint64_t sample[RING_WORDS] = {0};
    struct sample_writer writer = {(struct sample_ring *)ring_words, 2, 1, 0};

    if (!sample_writer_init(&writer, (struct sample_ring *)ring_words, sizeof ring_words,
                            any_u32_between(0, RING_WORDS))) {
        return;
    }
    while (any_bool()) {
        any_bytes(ring_words, sizeof ring_words);
        sample_write(&writer, sample);
    }
}
