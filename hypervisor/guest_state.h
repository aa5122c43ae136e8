/* SPDX-License-Identifier: Apache-2.0
 *
 * A guest's EL1 state out of reset, and the traps that EL2 sets around every guest.
 */
#ifndef BULKHEAD_GUEST_STATE_H
#define BULKHEAD_GUEST_STATE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Trap configuration of this core: once, before its first guest. */
void guest_traps_init(void);

/* Resets EL1 and its timers for the VCPU with this index, under the stage-2 tables of `vttbr`. */
void guest_state_reset(uint64_t vttbr, uint32_t vcpu_index);

#ifdef __cplusplus
}
#endif

#endif
