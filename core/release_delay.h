/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Release delay of a VCPU that shares its core (T3): the time from the event that makes it the most urgent
 * VCPU of its core to its first instruction. The event is the VCPU's own, such as the interrupt that it waits
 * for or the start of the period that refills its budget; or it is the moment at which a VCPU that precedes
 * it leaves the core. Times are counter values.
 */
#ifndef BULKHEAD_CORE_RELEASE_DELAY_H
#define BULKHEAD_CORE_RELEASE_DELAY_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RELEASE_NONE UINT64_MAX

struct release_delay {
    uint64_t ready_ticks;     /* when the VCPU became ready; RELEASE_NONE: it is running or not ready */
    uint64_t outranked_ticks; /* until when the core ran a VCPU that precedes it */
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

/* The VCPU became ready at `at` by an event of its own. If there are several, the first counts. */
static inline void release_ready(struct release_delay *release, uint64_t at)
{
    if (release->ready_ticks == RELEASE_NONE) {
        release->ready_ticks = at;
    }
}

/* A VCPU that precedes it had the core until `until`. */
static inline void release_outranked(struct release_delay *release, uint64_t until)
{
    release->outranked_ticks = until;
}

/* The VCPU does not run now, or does not continue with an instruction of its own. */
static inline void release_cancel(struct release_delay *release)
{
    release->ready_ticks = RELEASE_NONE;
}

/* The VCPU is about to execute its first instruction. Counts nothing if it has been running all the time. */
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
