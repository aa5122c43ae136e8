/* SPDX-License-Identifier: Apache-2.0
 *
 * Per-core state of the driver of the physical GICv2, without functions.
 */
#ifndef BULKHEAD_ARCH_GIC_STATE_H
#define BULKHEAD_ARCH_GIC_STATE_H

#include <stdint.h>

struct gic_core {
    /* INTID and sender of the software-generated interrupt that was acknowledged last and is not deactivated
     * yet; its end needs the sender */
    uint32_t sgi;
    uint8_t target_bit; /* the core's CPU interface number as a bit; 0: not ready yet */
};

#endif
