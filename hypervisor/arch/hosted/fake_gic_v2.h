/* SPDX-License-Identifier: Apache-2.0
 *
 * Functions that the model of a GICv2 has in addition to fake_gic.h, which it implements instead of the GICv3
 * model.
 */
#ifndef BULKHEAD_FAKE_GIC_V2_H
#define BULKHEAD_FAKE_GIC_V2_H

#include "fake_gic.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Maps distributor, CPU interface and hypervisor interface; core n has CPU interface n. Called after
 * fake_reset(). */
void fake_gic_v2_init(uint64_t gicd_pa, uint64_t gicc_pa, uint64_t gich_pa, uint32_t cores,
                      uint32_t list_registers);

/* CPU number of the sender of the interrupt that the guest on the executing core acknowledged last. */
uint32_t fake_gic_guest_sender(void);

#ifdef __cplusplus
}
#endif

#endif
