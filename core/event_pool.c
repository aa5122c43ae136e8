/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * The pool's word has the lower 24 bits of a period's number. Active cores are never LATER periods apart: a
 * word whose number is at most LATER ahead is of a later period, any other word of this or of an older one.
 * After a pause of 2^24 periods, less up to LATER, the word looks like one of a later period, so the pool is
 * empty for at most LATER periods. After a pause of a multiple of 2^24 periods, it looks like one of this
 * period, so the events that were left then are those of one period more.
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

/* Periods by which the word is older than period `number`, modulo 2^24. */
static uint64_t age_of(uint64_t word, uint64_t number)
{
    return (number - (word >> EVENT_BITS)) & NUMBER_MASK;
}

/* True if the word is of a later period than `number`. */
static bool is_over(uint64_t word, uint64_t number)
{
    return age_of(word, number) > NUMBER_MASK - LATER;
}

/* Events that a word holds for period `number`. A word of an older period stands for a pool with its base
 * events, a word of a later period for an empty pool. */
static uint64_t events_in(const struct event_pool *pool, uint64_t word, uint64_t number)
{
    if (age_of(word, number) == 0) {
        return word & EVENT_POOL_MAX_EVENTS;
    }
    return is_over(word, number) ? 0 : atomic_word_load(&pool->base_events);
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
