/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * One CPU's samples: a ring of core/sample_ring.h in its own memory. The CPU writes at the end of an
 * interval; readers take no lock and write nothing that the CPU reads.
 */
#ifndef BULKHEAD_LINUX_SAMPLES_H
#define BULKHEAD_LINUX_SAMPLES_H

#include "core/sample_ring.h"

/* Sample of one interval; a multiple of 64 bits, as the ring requires. */
struct sample {
    u64 number;  /* number of the interval */
    u64 time_ns; /* end of the interval, CLOCK_MONOTONIC */
    /* periods that ended with it: more than one if the timer was late by whole intervals */
    u64 periods;
    u64 events;        /* counted events */
    u64 limit_events;  /* its budget; U64_MAX: unlimited */
    u64 throttled_ns;  /* throttled time of the interval */
    u64 global_events; /* G of the latest step */
    u32 load;          /* of the latest step, in 1/65536 */
    s32 carried;       /* of the latest step: regulator_carried() */
};

#define SAMPLE_WORDS (sizeof(struct sample) / sizeof(u64))

struct samples {
    struct sample_writer writer;
    struct sample_ring *ring;
};

/* -ENOMEM. May sleep. */
int samples_init(struct samples *samples);
void samples_free(struct samples *samples);

/* Called on the CPU of the samples, with interrupts off. */
void samples_write(struct samples *samples, const struct sample *sample);

/* A reader that begins with the oldest sample. */
bool samples_reader(const struct samples *samples, struct sample_reader *reader);

#endif
