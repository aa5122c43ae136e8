/* SPDX-License-Identifier: Apache-2.0
 *
 * What the driver of the physical GICv2 keeps of a core: state only.
 */
#ifndef BULKHEAD_ARCH_GIC_STATE_H
#define BULKHEAD_ARCH_GIC_STATE_H

#include <stdint.h>

struct gic_core {
    uint32_t sgi;       /* acknowledged last and not deactivated: its sender must be told with its end */
    uint8_t target_bit; /* CPU interface number as a bit; 0: not ready yet */
};

#endif
