/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Prediction of use, gifts to the pool, and draws from it. A core that gave too much gets back at most what
 * is left in the pool, because the other cores rely on the sum over all cores.
 */
#include "core/reclaim.h"

bool reclaim_init(struct reclaim *reclaim, struct event_pool *pool, uint64_t limit_events,
                  uint64_t chunk_events, bool gives, bool realtime)
{
    if ((gives && realtime) || chunk_events == 0 || limit_events > EVENT_POOL_MAX_EVENTS) {
        return false;
    }
    *reclaim = (struct reclaim){
        .pool = pool,
        .chunk_events = chunk_events,
        .limit_events = limit_events,
        .gives = gives,
        .average = limit_events << RECLAIM_FRACTION_BITS,
    };
    return true;
}

uint64_t reclaim_begin(struct reclaim *reclaim, uint64_t number)
{
    uint64_t one = 1ull << RECLAIM_FRACTION_BITS;
    uint64_t needed = (reclaim->average + one - 1) >> RECLAIM_FRACTION_BITS;

    reclaim->number = number;
    reclaim->given_events =
        reclaim->gives && needed < reclaim->limit_events ? reclaim->limit_events - needed : 0;
    if (reclaim->given_events != 0) {
        reclaim->total_given_events += reclaim->given_events;
        event_pool_give(reclaim->pool, number, reclaim->given_events);
    }
    return reclaim->given_events;
}

void reclaim_learn(struct reclaim *reclaim, uint64_t used_events)
{
    uint64_t use = used_events < EVENT_POOL_MAX_EVENTS ? used_events : EVENT_POOL_MAX_EVENTS;

    /* The result is less than 1/16 event below the average, because the prediction is rounded up, too. */
    reclaim->average -= reclaim->average >> RECLAIM_WEIGHT_BITS;
    reclaim->average += use << (RECLAIM_FRACTION_BITS - RECLAIM_WEIGHT_BITS);
}

uint64_t reclaim_draw(struct reclaim *reclaim, uint64_t beyond_events)
{
    uint64_t wanted = reclaim->chunk_events + beyond_events;
    uint64_t drawn = event_pool_draw(reclaim->pool, reclaim->number, wanted);

    reclaim->drawn_events += drawn;
    return drawn;
}

void reclaim_note_throttled(struct reclaim *reclaim, uint64_t used_events)
{
    if (reclaim->given_events != 0 && used_events < reclaim->limit_events) {
        reclaim->violations++;
        reclaim->shortfall_events += reclaim->limit_events - used_events;
    }
}
