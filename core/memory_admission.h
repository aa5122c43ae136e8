/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Arithmetic of memory admission: whether the memory sustains the traffic that cores and the broker may cause
 * together (B10, F3). The tool calls it for a system file, EL2 for a manifest and for each change that a
 * manager requests (budget_admission.h). Every rounding is against the requester, so that nothing is admitted
 * that exact numbers would refuse. Nothing is kept between calls.
 *
 * Work: memory_load_add() and memory_room() visit each point of the curve twice and each row of the table
 * once, and divide a few times; all other functions do one or two divisions.
 */
#ifndef BULKHEAD_CORE_MEMORY_ADMISSION_H
#define BULKHEAD_CORE_MEMORY_ADMISSION_H

#include <bulkhead_layout.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Rates are in 1/9000 bytes per s, so that decimal fractions and thirds of them are whole numbers. Fetches
 * and write-backs of a core count together, as in budgets. MEMORY_RATE_MAX stands for any rate that is as
 * large or larger. */
#define MEMORY_RATE_UNIT       9000u
#define MEMORY_RATE_MAX        (1ull << 62)
/* Utilizations are in fractions of this number, for the same reason. */
#define MEMORY_UTILIZATION_ONE BH_MEMORY_UTILIZATION_ONE
#define MEMORY_UTILIZATION_MAX MEMORY_RATE_MAX

/* Upper limits of stated values. */
#define MEMORY_MAX_BYTES_PER_S 10000000000000ull
#define MEMORY_MAX_CORES       BH_MAX_VCPUS

/* Capacity of the memory next to a broker that copies. From an accepted manifest (manifest_admission.c), or
 * as the tool has checked it. */
struct memory_capacity {
    const struct manifest_bandwidth_point *curve; /* rates increase, utilizations never decrease */
    uint32_t point_count;                         /* at least 1 */
    uint32_t row_count;                           /* 0: no table was measured for the engine that copies */
    const struct manifest_bandwidth_row *table;
    uint64_t shortest_period_ns; /* the period to which a row's numbers of refills refer */
    uint64_t event_bytes;        /* bytes of one event */
    /* broker's rate in each direction, with what devices take, as a rate of the broker with equal
     * utilization; not 0 if memory_room() is called */
    uint64_t broker_bytes_per_s;
    /* rate at which the broker alone would keep the memory busy all the time */
    uint64_t broker_full_bytes_per_s;
};

/* The load that several owners may cause together. All zeros: no load. */
struct memory_load {
    uint64_t rate;
    uint64_t utilization;
    uint64_t largest_rate; /* largest rate of a single owner */
    uint32_t count;
};

enum memory_reason {
    MEMORY_BY_UTILIZATION,
    MEMORY_BY_TABLE,
};

/* The rate of `events` events of `event_bytes` bytes in each period of `period_ns`, for `holders` holders
 * with as many each. Limits: 2^41 events, 2^33 bytes, MEMORY_MAX_CORES holders; the period is not 0. */
uint64_t memory_rate(uint64_t events, uint64_t event_bytes, uint32_t holders, uint64_t period_ns);

/* The largest number of events whose memory_rate() is at most `rate`; UINT64_MAX if `rate` is
 * MEMORY_RATE_MAX. Bytes and holders are not 0. */
uint64_t memory_events(uint64_t rate, uint64_t event_bytes, uint32_t holders, uint64_t period_ns);

/* memory_sum(): the sum of two rates or utilizations, at most MEMORY_RATE_MAX. memory_left(): `all` - `used`,
 * or 0. */
uint64_t memory_sum(uint64_t a, uint64_t b);
uint64_t memory_left(uint64_t all, uint64_t used);

/* The utilization that an owner with `cores` cores can cause in the worst case: one core uses all of the
 * rate, or each core an equal part. */
uint64_t memory_utilization(const struct memory_capacity *capacity, uint64_t rate, uint32_t cores);

void memory_load_add(struct memory_load *load, const struct memory_capacity *capacity, uint64_t rate,
                     uint32_t cores);

/* The largest rate that one more owner, with `cores` cores, may have; 0 if nothing more fits, also if the
 * load alone is already too much. */
uint64_t memory_room(const struct memory_capacity *capacity, const struct memory_load *load, uint32_t cores);

/* The utilization that the broker causes, and the largest rate that the load leaves for it, in bytes per s in
 * each direction; `reason` is the test that limits this rate. */
uint64_t memory_broker_utilization(const struct memory_capacity *capacity);
uint64_t memory_broker_room(const struct memory_capacity *capacity, const struct memory_load *load,
                            enum memory_reason *reason);

#ifdef __cplusplus
}
#endif

#endif
