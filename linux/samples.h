/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * One CPU's samples, a ring of core/sample_ring.h in memory of its own. The CPU writes at the end of an
 * interval; readers take no lock and write nothing that it reads.
 */
#ifndef BULKHEAD_LINUX_SAMPLES_H
#define BULKHEAD_LINUX_SAMPLES_H

#include "core/sample_ring.h"

/* One interval; 64-bit words alone, for the ring. */
struct sample {
    u64 number;        /* of the interval */
    u64 time_ns;       /* of its end, CLOCK_MONOTONIC */
    u64 periods;       /* that ended with it: more than one if the timer was late by intervals */
    u64 events;        /* counted */
    u64 limit_events;  /* its budget, U64_MAX: unlimited */
    u64 throttled_ns;  /* of it */
    u64 global_events; /* G of the latest step */
    u64 load;          /* of the latest step, in 1/65536 */
};

#define SAMPLE_WORDS (sizeof(struct sample) / sizeof(u64))

struct samples {
    struct sample_writer writer;
    struct sample_ring *ring;
};

/* -ENOMEM. May sleep. */
int samples_init(struct samples *samples);
void samples_free(struct samples *samples);

/* On the CPU of the samples, with interrupts off. */
void samples_write(struct samples *samples, const struct sample *sample);

/* A reader that begins with the oldest one. */
bool samples_reader(const struct samples *samples, struct sample_reader *reader);

#endif
