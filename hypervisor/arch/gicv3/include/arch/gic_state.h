/* SPDX-License-Identifier: Apache-2.0
 *
 * Per-core state of the driver of the physical GICv3, without functions.
 */
#ifndef BULKHEAD_ARCH_GIC_STATE_H
#define BULKHEAD_ARCH_GIC_STATE_H

#include "core/address.h"

struct gic_core {
    paddr_t redistributor;
};

#endif
