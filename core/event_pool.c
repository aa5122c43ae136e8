/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * The pool's word. Period numbers of 24 bits are compared by their difference: active cores are never LATER
 * periods apart, so a word that is less than LATER ahead is of a later period, and any other one of an older
 * period. A pool may be left alone for any time. If nobody has used it for 2^24 periods, less up to LATER,
 * its word looks like one of a later period, and the pool is empty until that period has come: for LATER
 * periods at most.
 */
#include "core/event_pool.h"
#include "core/atomic.h"

#define EVENT_BITS  40u
#define NUMBER_MASK 0xFFFFFFu
#define LATER       0x10000u

static uint64_t word_of(uint64_t number, uint64_t events)
{
    return (number & NUMBER_MASK) << EVENT_BITS | events;
}

/* Events that a word holds for period `number`. A word of an older period stands for a pool with its base
 * events, a word of a later period for an empty pool. */
static uint64_t events_in(const struct event_pool *pool, uint64_t word, uint64_t number)
{
    uint64_t ahead = (number - (word >> EVENT_BITS)) & NUMBER_MASK;

    if (ahead == 0) {
        return word & EVENT_POOL_MAX_EVENTS;
    }
    return ahead <= NUMBER_MASK - LATER ? atomic_word_load(&pool->base_events) : 0;
}

static bool is_over(uint64_t word, uint64_t number)
{
    return ((number - (word >> EVENT_BITS)) & NUMBER_MASK) > NUMBER_MASK - LATER;
}

void event_pool_init(struct event_pool *pool, uint64_t base_events, uint64_t number)
{
    event_pool_set_base(pool, base_events);
    atomic_word_store(&pool->word, word_of(number, atomic_word_load(&pool->base_events)));
}

void event_pool_set_base(struct event_pool *pool, uint64_t base_events)
{
    atomic_word_store(&pool->base_events,
                      base_events < EVENT_POOL_MAX_EVENTS ? base_events : EVENT_POOL_MAX_EVENTS);
}

uint64_t event_pool_draw(struct event_pool *pool, uint64_t number, uint64_t events)
{
    uint64_t word = atomic_word_load(&pool->word);
    uint64_t left;
    uint64_t drawn;

    do {
        left = events_in(pool, word, number);
        drawn = events < left ? events : left;
        if (drawn == 0) {
            return 0;
        }
    } while (!atomic_word_exchange(&pool->word, &word, word_of(number, left - drawn)));
    return drawn;
}

void event_pool_give(struct event_pool *pool, uint64_t number, uint64_t events)
{
    uint64_t word = atomic_word_load(&pool->word);
    uint64_t left;
    uint64_t room;

    do {
        if (is_over(word, number)) {
            return;
        }
        left = events_in(pool, word, number);
        room = EVENT_POOL_MAX_EVENTS - left;
    } while (
        !atomic_word_exchange(&pool->word, &word, word_of(number, left + (events < room ? events : room))));
}

uint64_t event_pool_left(const struct event_pool *pool, uint64_t number)
{
    return events_in(pool, atomic_word_load(&pool->word), number);
}
