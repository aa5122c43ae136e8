/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * One word holds the interval that is being collected, the cores that take part, and those that have posted.
 * The core whose compare-and-swap completes the set is the last one, and there is exactly one. The message is
 * protected by a sequence lock. regulator_exchange_take() does not wait for a writer: a core that finds the
 * message half-written may try again, and keeps its old budget until the writer's interrupt arrives. If the
 * new message has the same budget for this core, there is no interrupt, and the core reads the message at the
 * end of its interval.
 *
 * A post names its interval. So the use of a core that has left counts in the interval in which it left, and
 * in no other one until 2^31 intervals later, whether or not the core has joined again.
 */
#include "core/regulator_exchange.h"
#include "core/atomic.h"
#include <stddef.h>

#define CORE_MASK      ((1u << REGULATOR_MAX_CORES) - 1)
#define MEMBERS_SHIFT  REGULATOR_MAX_CORES
#define NUMBER_SHIFT   (2 * REGULATOR_MAX_CORES)
#define POST_THROTTLED (1ull << 32)
#define POST_SHIFT     33u /* accesses and POST_THROTTLED, below the interval's number modulo 2^31 */

struct set {
    uint64_t next; /* number of the interval after the one that is being collected */
    uint32_t members;
    uint32_t posted;
};

static struct set unpack(uint64_t word)
{
    return (struct set){word >> NUMBER_SHIFT, (uint32_t)(word >> MEMBERS_SHIFT) & CORE_MASK,
                        (uint32_t)word & CORE_MASK};
}

static uint64_t pack(struct set set)
{
    return set.next << NUMBER_SHIFT | (uint64_t)set.members << MEMBERS_SHIFT | set.posted;
}

static bool is_complete(struct set set)
{
    return (set.members & ~set.posted) == 0;
}

void regulator_exchange_init(struct regulator_exchange *exchange, uint32_t members, uint64_t number)
{
    *exchange = (struct regulator_exchange){
        .set = pack((struct set){number, members & CORE_MASK, CORE_MASK}),
    };
}

void regulator_exchange_note(struct regulator_exchange *exchange, uint32_t core, uint64_t number,
                             uint64_t accesses, bool throttled)
{
    uint64_t used = accesses < REGULATOR_MAX_INTERVAL_EVENTS ? accesses : REGULATOR_MAX_INTERVAL_EVENTS;

    atomic_word_store(&exchange->posts[number % 2][core],
                      number << POST_SHIFT | used | (throttled ? POST_THROTTLED : 0));
}

bool regulator_exchange_post(struct regulator_exchange *exchange, uint32_t core, uint64_t number,
                             uint64_t accesses, bool throttled)
{
    uint64_t word = atomic_word_load_acquire(&exchange->set);
    uint64_t next = number + 1;
    uint32_t self = 1u << core;
    struct set before;
    struct set after;

    do {
        before = unpack(word);
        after = before;
        if (next > before.next) {
            after.next = next;
            after.posted = 0;
        } else if (next < before.next || (before.posted & self) != 0) {
            return false;
        }
        if ((before.members & self) == 0) {
            return false;
        }
        after.posted |= self;
        regulator_exchange_note(exchange, core, number, accesses, throttled);
    } while (!atomic_word_exchange(&exchange->set, &word, pack(after)));
    if (after.next != before.next && !is_complete(before)) {
        atomic_word_add(&exchange->given_up, 1);
    }
    return is_complete(after);
}

void regulator_exchange_join(struct regulator_exchange *exchange, uint32_t core)
{
    uint64_t word = atomic_word_load_acquire(&exchange->set);
    uint32_t self = 1u << core;
    struct set set;

    do {
        set = unpack(word);
        if ((set.members & self) != 0) {
            return;
        }
        set.members |= self;
        set.posted |= self; /* it has noted the events of an earlier life in the interval that others post */
    } while (!atomic_word_exchange(&exchange->set, &word, pack(set)));
}

bool regulator_exchange_leave(struct regulator_exchange *exchange, uint32_t core, uint64_t *number)
{
    uint64_t word = atomic_word_load_acquire(&exchange->set);
    struct set before;
    struct set after;

    do {
        before = unpack(word);
        after = before;
        after.members &= ~(1u << core);
    } while (!atomic_word_exchange(&exchange->set, &word, pack(after)));
    *number = after.next - 1;
    return !is_complete(before) && is_complete(after) && after.members != 0;
}

void regulator_exchange_collect(const struct regulator_exchange *exchange, uint64_t number,
                                struct regulator_sample *sample)
{
    *sample = (struct regulator_sample){.number = number};
    for (uint32_t i = 0; i < REGULATOR_MAX_CORES; i++) {
        uint64_t post = atomic_word_load(&exchange->posts[number % 2][i]);

        if (((post >> POST_SHIFT ^ number) & (UINT64_MAX >> POST_SHIFT)) == 0) {
            sample->accesses[i] = (uint32_t)post;
            sample->throttled |= (post & POST_THROTTLED) != 0 ? 1u << i : 0;
        }
    }
}

/* Only the writer of messages calls it, so the words do not change meanwhile. */
static uint32_t changed_budgets(const struct regulator_exchange *exchange,
                                const struct regulator_message *message)
{
    uint32_t first = offsetof(struct regulator_message, budgets) / sizeof(uint64_t);
    uint32_t changed = 0;

    if (atomic_word_load(&exchange->sequence) == 0) {
        return CORE_MASK;
    }
    for (uint32_t i = 0; i < REGULATOR_MAX_CORES; i++) {
        if (atomic_word_load(&exchange->message[first + i]) != message->budgets[i]) {
            changed |= 1u << i;
        }
    }
    return changed;
}

uint32_t regulator_exchange_publish(struct regulator_exchange *exchange,
                                    const struct regulator_message *message)
{
    const uint64_t *words = (const uint64_t *)message;
    uint64_t sequence = atomic_word_load(&exchange->sequence);
    uint32_t changed = changed_budgets(exchange, message);

    atomic_word_store(&exchange->sequence, sequence + 1);
    atomic_release_fence();
    for (uint32_t i = 0; i < REGULATOR_MESSAGE_WORDS; i++) {
        atomic_word_store(&exchange->message[i], words[i]);
    }
    atomic_word_store_release(&exchange->sequence, sequence + 2);
    return changed;
}

uint64_t regulator_exchange_count(const struct regulator_exchange *exchange)
{
    return atomic_word_load_acquire(&exchange->sequence);
}

bool regulator_exchange_take(const struct regulator_exchange *exchange, struct regulator_message *message)
{
    uint64_t *words = (uint64_t *)message;
    uint64_t sequence = atomic_word_load_acquire(&exchange->sequence);

    for (uint32_t i = 0; i < REGULATOR_MESSAGE_WORDS; i++) {
        words[i] = atomic_word_load(&exchange->message[i]);
    }
    atomic_acquire_fence();
    return sequence % 2 == 0 && sequence != 0 && atomic_word_load(&exchange->sequence) == sequence;
}
