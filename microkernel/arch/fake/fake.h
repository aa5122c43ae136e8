/* SPDX-License-Identifier: Apache-2.0
 *
 * State of the fake architecture that tests read and set.
 */
#ifndef BULKHEAD_MICROKERNEL_FAKE_H
#define BULKHEAD_MICROKERNEL_FAKE_H

#include "microkernel/kernel/kernel.h"

struct fake {
    char text[4096]; /* text of reports */
    uint32_t text_bytes;
    uint32_t timer_starts;
    uint32_t operations; /* number of operations on hardware */
    bool refuses_maps;
    bool is_slow;  /* the UART is slow: it takes */
    uint32_t room; /* only this many more characters */
};

extern struct fake fake;

/* Clears all memory and the state above. */
void fake_reset(void);

#endif
