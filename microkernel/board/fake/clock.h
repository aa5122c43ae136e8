/* SPDX-License-Identifier: Apache-2.0
 *
 * A clock that advances by one on each reading.
 */
#ifndef BULKHEAD_MICROKERNEL_CLOCK_H
#define BULKHEAD_MICROKERNEL_CLOCK_H

#include <stdint.h>

static inline uint32_t clock_read(void)
{
    static uint32_t readings;

    return readings++;
}

#endif
