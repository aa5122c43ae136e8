/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * The pool's word has room for the lower part of a period's number only. The full number follows from the
 * pool's lap: a lap begins at a period, and its words are of the periods from there on, fewer than
 * LAP_PERIODS. Whoever finds its own period beyond the lap begins the next lap at its period, also after a
 * pause of any length. A bit tells a word of the lap from one of the lap before: the latter is older than all
 * periods of the lap. The word is read before the lap, so a word is never taken for older than it is; a word
 * that was written for the lap before while the lap began is of a period before it, as it should be. No core
 * stays in one call for LAP_PERIODS, so that the bit suffices.
 */
#include "core/event_pool.h"
#include "core/atomic.h"
#include <stdbool.h>

#define EVENT_BITS  40u
#define LAP_PERIODS (1ull << 23)
#define NUMBER_MASK (LAP_PERIODS - 1)
#define LAP_SHIFT   63u

/* The first period of a lap, above the lap's bit. */
static uint64_t first_of(uint64_t lap)
{
    return lap >> 1;
}

static uint64_t word_of(uint64_t lap, uint64_t number, uint64_t events)
{
    return lap << LAP_SHIFT | (number & NUMBER_MASK) << EVENT_BITS | events;
}

static bool is_of_lap(uint64_t lap, uint64_t word)
{
    return word >> LAP_SHIFT == (lap & 1);
}

/* Period of a word of this lap. */
static uint64_t number_of(uint64_t lap, uint64_t word)
{
    return first_of(lap) + (((word >> EVENT_BITS) - first_of(lap)) & NUMBER_MASK);
}

/* True if the pool is in a later period than `number`. */
static bool is_over(uint64_t lap, uint64_t word, uint64_t number)
{
    return number < (is_of_lap(lap, word) ? number_of(lap, word) : first_of(lap));
}

/* Events of a period that is not over. A word of an older period stands for a pool with its base events. */
static uint64_t events_in(const struct event_pool *pool, uint64_t lap, uint64_t word, uint64_t number)
{
    return is_of_lap(lap, word) && number_of(lap, word) == number ? word & EVENT_POOL_MAX_EVENTS
                                                                  : atomic_word_load(&pool->base_events);
}

/* The lap in which period `number` is, or a later one. */
static uint64_t lap_at(struct event_pool *pool, uint64_t number)
{
    uint64_t lap = atomic_word_load_acquire(&pool->lap);
    uint64_t next;

    do {
        if (number < first_of(lap) || number - first_of(lap) < LAP_PERIODS) {
            return lap;
        }
        next = number << 1 | (~lap & 1);
    } while (!atomic_word_exchange(&pool->lap, &lap, next));
    return next;
}

void event_pool_init(struct event_pool *pool, uint64_t base_events, uint64_t number)
{
    event_pool_set_base(pool, base_events);
    atomic_word_store(&pool->lap, number << 1);
    atomic_word_store(&pool->word, word_of(0, number, atomic_word_load(&pool->base_events)));
}

void event_pool_set_base(struct event_pool *pool, uint64_t base_events)
{
    atomic_word_store(&pool->base_events,
                      base_events < EVENT_POOL_MAX_EVENTS ? base_events : EVENT_POOL_MAX_EVENTS);
}

/* Not inlined, nor is event_pool_give(): a budget without a pool saves no registers for them. */
__attribute__((noinline)) uint64_t event_pool_draw(struct event_pool *pool, uint64_t number, uint64_t events)
{
    uint64_t word = atomic_word_load_acquire(&pool->word);
    uint64_t lap;
    uint64_t left;
    uint64_t drawn;

    do {
        lap = lap_at(pool, number);
        if (is_over(lap, word, number)) {
            return 0;
        }
        left = events_in(pool, lap, word, number);
        drawn = events < left ? events : left;
        if (drawn == 0 && is_of_lap(lap, word)) { /* otherwise the lap needs its first word */
            return 0;
        }
    } while (!atomic_word_exchange(&pool->word, &word, word_of(lap, number, left - drawn)));
    return drawn;
}

__attribute__((noinline)) void event_pool_give(struct event_pool *pool, uint64_t number, uint64_t events)
{
    uint64_t word = atomic_word_load_acquire(&pool->word);
    uint64_t lap;
    uint64_t left;
    uint64_t room;

    do {
        lap = lap_at(pool, number);
        if (is_over(lap, word, number)) {
            return;
        }
        left = events_in(pool, lap, word, number);
        room = EVENT_POOL_MAX_EVENTS - left;
    } while (!atomic_word_exchange(&pool->word, &word,
                                   word_of(lap, number, left + (events < room ? events : room))));
}

uint64_t event_pool_left(const struct event_pool *pool, uint64_t number)
{
    uint64_t word = atomic_word_load_acquire(&pool->word);
    uint64_t lap = atomic_word_load_acquire(&pool->lap);
    bool later = number >= first_of(lap) && number - first_of(lap) >= LAP_PERIODS;

    if (is_over(lap, word, number)) {
        return 0;
    }
    return later ? atomic_word_load(&pool->base_events) : events_in(pool, lap, word, number);
}
