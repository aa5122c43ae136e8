/* SPDX-License-Identifier: Apache-2.0
 *
 * State of run/life_log.h, a part of struct domain.
 */
#ifndef BULKHEAD_LIFE_LOG_STATE_H
#define BULKHEAD_LIFE_LOG_STATE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Limit on log lines about a domain's life, because all domains share the log. The queue of lines that the
 * console core has still to write has the same length. */
#define LIFE_LOG_LINES 8u /* lines in a second; a power of two */

struct life_log_line {
    uint8_t end; /* enum bh_domain_end */
    bool restarts;
    uint32_t left_out; /* number of lines left out before this one */
};

struct life_log {
    uint64_t until;         /* counter value: end of the second for which `room` counts */
    uint32_t room;          /* lines that may still be queued */
    uint32_t left_out;      /* lines left out since the last queued line */
    _Atomic uint32_t added; /* changed, like the fields above, under the domain's lock */
    _Atomic uint32_t written;
    struct life_log_line lines[LIFE_LOG_LINES];
};

#endif
