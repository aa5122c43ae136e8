/* SPDX-License-Identifier: Apache-2.0
 *
 * State of run/life_log.h, a part of struct domain.
 */
#ifndef BULKHEAD_LIFE_LOG_STATE_H
#define BULKHEAD_LIFE_LOG_STATE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Lines about a domain's life that the console core has still to write, and how many more there may be: the
 * log is everybody's. */
#define LIFE_LOG_LINES 8u /* in a second; a power of two */

struct life_log_line {
    uint8_t end; /* enum bh_domain_end */
    bool restarts;
    uint32_t left_out; /* lines before it */
};

struct life_log {
    uint64_t until;         /* counter value: the end of the second that `room` is for */
    uint32_t room;          /* lines that there may still be */
    uint32_t left_out;      /* since the last line that was not */
    _Atomic uint32_t added; /* this and the above: under the domain's lock */
    _Atomic uint32_t written;
    struct life_log_line lines[LIFE_LOG_LINES];
};

#endif
