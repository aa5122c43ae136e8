/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Measures the time of each part of a packet's path (F5), with time stamps at its beginning and end. Only
 * active if measurement was requested: otherwise path_recorder_here() is NULL, and a stamp costs only this
 * test. Nested parts are counted separately: the time of the outer part excludes them and their recording.
 *
 * The program that links this provides the recorder and the clock (hypervisor/flow/path_stamps.c; tests have
 * their own). Each core has its own recorder, which only that core uses.
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

/* A mark: the time at which a part began. */
struct path_mark {
    uint64_t at;    /* path_clock(); 0: nothing is measured */
    uint64_t inner; /* inner_ticks of the recorder at that time */
};

struct path_recorder {
    struct status_path_cost *parts; /* BH_PATH_PART_COUNT records, read by others */
    uint64_t empty_ticks;           /* measured time of an empty part */
    uint64_t inner_ticks;           /* total time of parts that have ended, with their recording */
    struct path_mark open[BH_PATH_PART_COUNT];
};

/* The recorder of this core; NULL: nothing is measured. */
struct path_recorder *path_recorder_here(void);

/* Ticks of a clock that is the same for all cores. */
uint64_t path_clock(void);

/* Measures the time of an empty part. */
void path_calibrate(struct path_recorder *recorder);

/* Adds one observation of `ticks` to a part that has no mark. */
void path_add(struct path_recorder *recorder, enum bh_path_part part, uint64_t ticks);

/* Records the end of the part that began with `mark`, after `steps` equal steps; `allowance` ticks of it are
 * not counted. */
void path_record(struct path_recorder *recorder, const struct path_mark *mark, enum bh_path_part part,
                 uint64_t allowance, uint32_t steps);

/* For parts that begin and end in the same function. */
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

/* For parts that end in another function, on the same core. */
static inline void path_open(enum bh_path_part part)
{
    struct path_recorder *recorder = path_recorder_here();

    if (recorder != NULL) {
        recorder->open[part] = path_begin();
    }
}

/* Does nothing if the part is not open. */
static inline void path_close(enum bh_path_part part, uint64_t allowance)
{
    struct path_recorder *recorder = path_recorder_here();

    if (recorder != NULL && recorder->open[part].at != 0) {
        path_record(recorder, &recorder->open[part], part, allowance, 1);
        recorder->open[part].at = 0;
    }
}

/* The time at which an open part began; 0: it is not open. */
static inline uint64_t path_opened_at(enum bh_path_part part)
{
    const struct path_recorder *recorder = path_recorder_here();

    return recorder != NULL ? recorder->open[part].at : 0;
}

/* Discards an open part, which turned out to be something else. */
static inline void path_drop(enum bh_path_part part)
{
    struct path_recorder *recorder = path_recorder_here();

    if (recorder != NULL) {
        recorder->open[part].at = 0;
    }
}

/* The current time; 0 if nothing is measured. */
static inline uint64_t path_now(void)
{
    return path_recorder_here() != NULL ? path_clock() : 0;
}

#ifdef __cplusplus
}
#endif

#endif
