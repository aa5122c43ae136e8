/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * How late a VCPU runs that shares its core (T3): from the event that makes it the most urgent one of its
 * core to its first instruction. The event is its own, as the interrupt that it waits for or the start of the
 * period that gives it a budget, or that one which goes before it leaves the core. Times are counter values.
 */
#ifndef BULKHEAD_CORE_RELEASE_DELAY_H
#define BULKHEAD_CORE_RELEASE_DELAY_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RELEASE_NONE UINT64_MAX

struct release_delay {
    uint64_t ready_ticks;     /* when it became ready to run; RELEASE_NONE: it runs, or is not ready */
    uint64_t outranked_ticks; /* until when the core was one's that goes before it */
    uint64_t count;
    uint64_t sum_ticks;
    uint64_t max_ticks;
};

static inline void release_init(struct release_delay *release)
{
    release->ready_ticks = RELEASE_NONE;
    release->outranked_ticks = 0;
    release->count = 0;
    release->sum_ticks = 0;
    release->max_ticks = 0;
}

/* Its own event was at `at`. Of several the first counts. */
static inline void release_ready(struct release_delay *release, uint64_t at)
{
    if (release->ready_ticks == RELEASE_NONE) {
        release->ready_ticks = at;
    }
}

/* One that goes before it had the core until `until`. */
static inline void release_outranked(struct release_delay *release, uint64_t until)
{
    release->outranked_ticks = until;
}

/* It is not to run now, or not with an instruction of its own. */
static inline void release_cancel(struct release_delay *release)
{
    release->ready_ticks = RELEASE_NONE;
}

/* Its first instruction is next. Nothing is counted if it has been running all the time. */
static inline void release_entered(struct release_delay *release, uint64_t now)
{
    uint64_t from = release->ready_ticks;
    uint64_t delay;

    if (from == RELEASE_NONE) {
        return;
    }
    from = from > release->outranked_ticks ? from : release->outranked_ticks;
    delay = now > from ? now - from : 0;
    release->ready_ticks = RELEASE_NONE;
    release->count++;
    release->sum_ticks += delay;
    release->max_ticks = delay > release->max_ticks ? delay : release->max_ticks;
}

#ifdef __cplusplus
}
#endif

#endif
