/* SPDX-License-Identifier: Apache-2.0
 *
 * What tests see of the fake architecture.
 */
#ifndef BULKHEAD_MICROKERNEL_FAKE_H
#define BULKHEAD_MICROKERNEL_FAKE_H

#include "microkernel/kernel/kernel.h"

struct fake {
    char text[4096]; /* of reports */
    uint32_t text_bytes;
    uint32_t timer_starts;
    uint32_t operations; /* on hardware */
    bool refuses_maps;
    bool is_slow;  /* the UART: it takes */
    uint32_t room; /* so many characters more */
};

extern struct fake fake;

/* All memory zero, nothing said. */
void fake_reset(void);

#endif
