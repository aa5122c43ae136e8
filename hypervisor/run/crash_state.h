/* SPDX-License-Identifier: Apache-2.0
 *
 * State of run/crash.h, a part of struct domain: what it had in its registers.
 */
#ifndef BULKHEAD_CRASH_STATE_H
#define BULKHEAD_CRASH_STATE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define CRASH_REGISTERS 48u

struct crash_dump {
    _Atomic bool is_kept;                /* it has what is to be shown */
    _Atomic bool is_due;                 /* to be shown now: it is the console core's */
    uint32_t shown;                      /* registers */
    uint64_t not_before;                 /* counter value: of the next */
    uint64_t registers[CRASH_REGISTERS]; /* run/crash.c names them */
};

#endif
