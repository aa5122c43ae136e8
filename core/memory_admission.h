/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Whether the memory bears what cores and the broker may ask of it together (B10, F3): the arithmetic alone.
 * The tool asks for a system file, EL2 for a manifest and for each change that a manager wants
 * (budget_admission.h). Every rounding is against who asks, so that nothing is admitted that exact numbers
 * would refuse. Nothing is kept between calls.
 *
 * Work: memory_load_add() and memory_room() look at each point of the curve twice and at each row of the
 * table once, and divide a few times; all else is a division or two.
 */
#ifndef BULKHEAD_CORE_MEMORY_ADMISSION_H
#define BULKHEAD_CORE_MEMORY_ADMISSION_H

#include <bulkhead_layout.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Rates are in 1/9000 bytes per s: decimal fractions and thirds of them stay whole numbers. What a core
 * fetches and writes back counts together, as budgets do. The largest stands for anything that is as large.
 */
#define MEMORY_RATE_UNIT       9000u
#define MEMORY_RATE_MAX        (1ull << 62)
/* Utilizations are in parts of this, for the same reason. */
#define MEMORY_UTILIZATION_ONE BH_MEMORY_UTILIZATION_ONE
#define MEMORY_UTILIZATION_MAX MEMORY_RATE_MAX

/* Limits of what may be stated. */
#define MEMORY_MAX_BYTES_PER_S 10000000000000ull
#define MEMORY_MAX_CORES       BH_MAX_VCPUS

/* What the memory bears beside a broker that copies. Of an accepted manifest (manifest_admission.c), or as
 * the tool has checked it. */
struct memory_capacity {
    const struct manifest_bandwidth_point *curve; /* rates rise, utilizations do not fall */
    uint32_t point_count;                         /* at least 1 */
    uint32_t row_count;                           /* 0: no table was measured of the engine that copies */
    const struct manifest_bandwidth_row *table;
    uint64_t shortest_period_ns;      /* of which a row's refills are */
    uint64_t event_bytes;             /* what one is */
    uint64_t broker_bytes_per_s;      /* in each direction, not 0 where memory_room() is asked */
    uint64_t broker_full_bytes_per_s; /* with which alone the memory would always be busy */
};

/* What several owners may cause together. Begins as zero. */
struct memory_load {
    uint64_t rate;
    uint64_t utilization;
    uint64_t largest_rate; /* of one of them */
    uint32_t count;
};

enum memory_reason {
    MEMORY_BY_UTILIZATION,
    MEMORY_BY_TABLE,
};

/* What so many events of `event_bytes` bytes in each period of `period_ns` are, of so many holders with as
 * much each. All at most 2^41, 2^33, MEMORY_MAX_CORES; the period is not 0. */
uint64_t memory_rate(uint64_t events, uint64_t event_bytes, uint32_t holders, uint64_t period_ns);

/* The most events that are no more than `rate`, of the same; UINT64_MAX of the largest. Bytes and holders are
 * not 0. */
uint64_t memory_events(uint64_t rate, uint64_t event_bytes, uint32_t holders, uint64_t period_ns);

/* The sum, and the difference or 0, of two rates or utilizations. */
uint64_t memory_sum(uint64_t a, uint64_t b);
uint64_t memory_left(uint64_t all, uint64_t used);

/* Of an owner with so many cores, whether one of them takes all of its rate or each as much: what is worse.
 */
uint64_t memory_utilization(const struct memory_capacity *capacity, uint64_t rate, uint32_t cores);

void memory_load_add(struct memory_load *load, const struct memory_capacity *capacity, uint64_t rate,
                     uint32_t cores);

/* The largest rate that an owner more, with so many cores, may have; 0 also where nothing more fits, or the
 * load is too much without it. */
uint64_t memory_room(const struct memory_capacity *capacity, const struct memory_load *load, uint32_t cores);

/* What the broker takes, and the most that the load leaves it, in bytes per s in each direction; `reason` is
 * what held it. */
uint64_t memory_broker_utilization(const struct memory_capacity *capacity);
uint64_t memory_broker_room(const struct memory_capacity *capacity, const struct memory_load *load,
                            enum memory_reason *reason);

#ifdef __cplusplus
}
#endif

#endif
