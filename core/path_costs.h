/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * What each part of a packet's path takes (F5), by time stamps where it begins and ends. Only where somebody
 * asked for it: else path_recorder_here() is NULL, and a stamp is that question. Parts within parts are
 * counted apart: what surrounds them is without them, and without the recording.
 *
 * Whoever links this says whose recorder it is and what the clock is (hypervisor/flow/path_stamps.c; tests
 * have their own). A recorder is of one core and used by it alone.
 */
#ifndef BULKHEAD_CORE_PATH_COSTS_H
#define BULKHEAD_CORE_PATH_COSTS_H

#include <bulkhead_layout.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PATH_COST_BUCKETS 64u

/* The beginning of a part. */
struct path_mark {
    uint64_t at;    /* path_clock(); 0: nothing is measured */
    uint64_t inner; /* of the recorder then */
};

struct path_recorder {
    struct status_path_cost *parts; /* BH_PATH_PART_COUNT of them, for whoever reads */
    uint64_t empty_ticks;           /* what a part without anything in it seems to take */
    uint64_t inner_ticks;           /* of parts that have ended, with their recording */
    struct path_mark open[BH_PATH_PART_COUNT];
};

/* Of this core; NULL: nothing is measured. */
struct path_recorder *path_recorder_here(void);

/* Ticks of a clock that is the same for all cores. */
uint64_t path_clock(void);

/* Finds out what an empty part seems to take. */
void path_calibrate(struct path_recorder *recorder);

/* Adds one observation to a part, of which no mark is known. */
void path_add(struct path_recorder *recorder, enum bh_path_part part, uint64_t ticks);

/* The part that began with `mark` has ended, after `steps` equal steps; `allowance` ticks of it are not
 * counted. */
void path_record(struct path_recorder *recorder, const struct path_mark *mark, enum bh_path_part part,
                 uint64_t allowance, uint32_t steps);

/* Parts that begin and end in the same function. */
static inline struct path_mark path_begin(void)
{
    const struct path_recorder *recorder = path_recorder_here();
    struct path_mark mark = {0, 0};

    if (recorder != NULL) {
        mark.inner = recorder->inner_ticks;
        mark.at = path_clock();
    }
    return mark;
}

static inline void path_end(const struct path_mark *mark, enum bh_path_part part)
{
    if (mark->at != 0) {
        path_record(path_recorder_here(), mark, part, 0, 1);
    }
}

/* Parts that end elsewhere, on the same core. */
static inline void path_open(enum bh_path_part part)
{
    struct path_recorder *recorder = path_recorder_here();

    if (recorder != NULL) {
        recorder->open[part] = path_begin();
    }
}

/* Nothing happens where it is not open. */
static inline void path_close(enum bh_path_part part, uint64_t allowance)
{
    struct path_recorder *recorder = path_recorder_here();

    if (recorder != NULL && recorder->open[part].at != 0) {
        path_record(recorder, &recorder->open[part], part, allowance, 1);
        recorder->open[part].at = 0;
    }
}

/* When a part began that is open; 0: it is not. */
static inline uint64_t path_opened_at(enum bh_path_part part)
{
    const struct path_recorder *recorder = path_recorder_here();

    return recorder != NULL ? recorder->open[part].at : 0;
}

/* It was another one. */
static inline void path_drop(enum bh_path_part part)
{
    struct path_recorder *recorder = path_recorder_here();

    if (recorder != NULL) {
        recorder->open[part].at = 0;
    }
}

/* 0 where nothing is measured. */
static inline uint64_t path_now(void)
{
    return path_recorder_here() != NULL ? path_clock() : 0;
}

#ifdef __cplusplus
}
#endif

#endif
