/* SPDX-License-Identifier: Apache-2.0
 *
 * State of run/crash.h, a part of struct domain: the registers of a VCPU that has crashed.
 */
#ifndef BULKHEAD_CRASH_STATE_H
#define BULKHEAD_CRASH_STATE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define CRASH_REGISTERS 48u

struct crash_dump {
    _Atomic bool is_kept;                /* the dump is filled and has not been printed completely */
    _Atomic bool is_due;                 /* the console core may print it now */
    uint32_t shown;                      /* number of registers already printed */
    uint64_t not_before;                 /* counter value before which no further dump is kept */
    uint64_t registers[CRASH_REGISTERS]; /* names and order are in run/crash.c */
};

#endif
