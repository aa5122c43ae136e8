/* SPDX-License-Identifier: Apache-2.0
 *
 * The broker's program as target `virtqueue` runs it: its memory.c and news.c as they ship, with the
 * exchange. The target is the machine, EL2 and the loop that calls them. Not part of it: waiting, engines,
 * the rehearsal, the measurement of costs.
 */
#ifndef BULKHEAD_TESTS_FUZZ_BROKER_PROGRAM_H
#define BULKHEAD_TESTS_FUZZ_BROKER_PROGRAM_H

#if defined(__cplusplus) && !defined(_Static_assert)
#define _Static_assert static_assert /* which gcc's C++ does not have */
#endif
#include "core/broker_door.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Pages and state of the program. */
struct broker_program {
    struct broker_door *door;
    struct broker_reply *reply;
    struct broker_map *map;
    struct flow_exchange *exchange;
    struct flow_effects *effects;
};

/* Loads the program anew: all its memory is zero, as that of a domain that starts. */
struct broker_program broker_program_load(void);

/* As the rehearsal of the program does it, news_init() first has pages of the program's own, full of
 * broker_program_own, at this guest-physical address of the first two domains. */
enum { broker_program_rehearsed = 0x40000000, broker_program_own = 0xEE };

/* The header is C, and what it includes is included above. */
#include "guests/programs/broker/news.h"

#ifdef __cplusplus
}
#endif

#endif
