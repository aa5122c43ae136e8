/* SPDX-License-Identifier: Apache-2.0
 *
 * A guest's EL1 state out of reset, and the traps that EL2 sets around every guest.
 */
#ifndef BULKHEAD_GUEST_STATE_H
#define BULKHEAD_GUEST_STATE_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Trap configuration of this core: once, before its first guest. `monitors`: bits of MDCR_EL2 (pmu.h);
 * `shared`: several VCPUs run here, so that a WFI is EL2's affair. */
void guest_traps_init(uint64_t monitors, bool shared);

/* Whose memory the core's EL1 sees, and which VCPU of the domain it is. */
void guest_identity_set(uint64_t vttbr, uint32_t vcpu_index);

/* Which keys of pointer authentication the core has; the registers of others must not be touched. */
bool guest_has_address_keys(void);
bool guest_has_generic_key(void);

/* Resets EL1 and its timers for the VCPU with this index, under the stage-2 tables of `vttbr`. */
void guest_state_reset(uint64_t vttbr, uint32_t vcpu_index);

#ifdef __cplusplus
}
#endif

#endif
