/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * How cores agree on the budgets of an interval (B5, B8): each posts what it used, the last one steps the
 * regulator and publishes, all take. Called from all cores at once, with interrupts masked; nobody waits for
 * another core.
 */
#ifndef BULKHEAD_CORE_REGULATOR_EXCHANGE_H
#define BULKHEAD_CORE_REGULATOR_EXCHANGE_H

#include "core/regulator.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Budgets of interval `number`, and the grid of the intervals after it. */
struct regulator_message {
    uint64_t number;
    struct period_grid grid;
    uint64_t budgets[REGULATOR_MAX_CORES];
};

#define REGULATOR_MESSAGE_WORDS (sizeof(struct regulator_message) / sizeof(uint64_t))

/* All words are shared. */
struct regulator_exchange {
    uint64_t set; /* which interval is being collected, of whom, and who has posted */
    uint64_t posts[2][REGULATOR_MAX_CORES]; /* of even and of odd intervals */
    uint64_t sequence;                      /* odd: the message is being written */
    uint64_t message[REGULATOR_MESSAGE_WORDS];
    uint64_t given_up; /* intervals that some member did not post in time */
};

/* The cores of the mask `members` take part, from interval `number` on. */
void regulator_exchange_init(struct regulator_exchange *exchange, uint32_t members, uint64_t number);

/* Core `core` is at the end of its interval `number`. True if it is the last one: it collects, steps the
 * regulator, publishes, and interrupts the others. Late and repeated posts are ignored. */
bool regulator_exchange_post(struct regulator_exchange *exchange, uint32_t core, uint64_t number,
                             uint64_t accesses, bool throttled);

/* The core takes part, or does so no longer, which can make it the last one. `*number` is then the interval.
 */
void regulator_exchange_join(struct regulator_exchange *exchange, uint32_t core);
bool regulator_exchange_leave(struct regulator_exchange *exchange, uint32_t core, uint64_t *number);

/* The last one's: number, accesses and who was throttled, of all members. The load is the caller's to fill
 * in. */
void regulator_exchange_collect(const struct regulator_exchange *exchange, uint64_t number,
                                struct regulator_sample *sample);

/* The last one's. */
void regulator_exchange_publish(struct regulator_exchange *exchange, const struct regulator_message *message);

/* The last message, whatever its number. False if there is none, or it is just being written: its publisher
 * will interrupt. */
bool regulator_exchange_take(const struct regulator_exchange *exchange, struct regulator_message *message);

#ifdef __cplusplus
}
#endif

#endif
