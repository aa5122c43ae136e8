/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * How cores agree on the budgets of an interval (B5, B8): each core posts its use, the last one steps the
 * regulator and publishes, and all take the result. Called from all cores at the same time, with interrupts
 * masked; no core waits for another one, except for the words of a message that is just being written.
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

/* State of the exchange; all words are shared. */
struct regulator_exchange {
    uint64_t set; /* which interval is being collected, from which cores, and which of them have posted */
    uint64_t posts[2][REGULATOR_MAX_CORES]; /* use in even and in odd intervals, with the interval's number */
    uint64_t sequence;                      /* odd: the message is being written */
    uint64_t message[REGULATOR_MESSAGE_WORDS];
    uint64_t given_up; /* intervals in which a member did not post in time */
};

/* Initializes. The cores of the mask `members` take part, from interval `number` on. */
void regulator_exchange_init(struct regulator_exchange *exchange, uint32_t members, uint64_t number);

/* Posts the use of core `core` at the end of its interval `number`. Returns true if it is the last core: then
 * it collects, steps the regulator, publishes, and interrupts the others. Late and repeated posts are
 * ignored. */
bool regulator_exchange_post(struct regulator_exchange *exchange, uint32_t core, uint64_t number,
                             uint64_t accesses, bool throttled);

/* Notes the use of core `core` in interval `number`, in which it is about to leave. It counts in that
 * interval, even if the core joins again before all others have posted. A core that joins again in the same
 * interval includes it in what it posts or notes next. */
void regulator_exchange_note(struct regulator_exchange *exchange, uint32_t core, uint64_t number,
                             uint64_t accesses, bool throttled);

/* The core starts or stops taking part. If leaving makes the interval complete, regulator_exchange_leave()
 * returns true with the interval in `*number`, and the caller acts as the last core. */
void regulator_exchange_join(struct regulator_exchange *exchange, uint32_t core);
bool regulator_exchange_leave(struct regulator_exchange *exchange, uint32_t core, uint64_t *number);

/* Called by the last core: fills in number, accesses and throttled cores, also of cores that left in this
 * interval. The caller fills in the load. */
void regulator_exchange_collect(const struct regulator_exchange *exchange, uint64_t number,
                                struct regulator_sample *sample);

/* Called by the last core: publishes the message. Returns the mask of the cores whose budget is not that of
 * the message before: the caller interrupts these. The others already have their budget, and read the grid at
 * the end of their interval, when they need it. */
uint32_t regulator_exchange_publish(struct regulator_exchange *exchange,
                                    const struct regulator_message *message);

/* Grows with each message; 0 before the first one. A message that is published after the call has a greater
 * count. */
uint64_t regulator_exchange_count(const struct regulator_exchange *exchange);

/* Reads the last message, of any interval. Returns false if there is none or it is just being written; its
 * publisher then sends an interrupt if the core's budget has changed. */
bool regulator_exchange_take(const struct regulator_exchange *exchange, struct regulator_message *message);

#ifdef __cplusplus
}
#endif

#endif
