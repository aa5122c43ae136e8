/* SPDX-License-Identifier: Apache-2.0
 *
 * MPAM's registers of a core that are EL2's: what there is, whether firmware leaves it to EL2, and the traps
 * that keep it from guests. Shared by the files of this room only.
 */
#ifndef BULKHEAD_MPAM_CORE_H
#define BULKHEAD_MPAM_CORE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* MPAM2_EL2 but for traps of a guest's accesses to MPAM1_EL1 and MPAM0_EL1. */
uint64_t mpam_own_control(void);

/* Guests' accesses to all of MPAM's registers trap on this core. */
void mpam_keep_from_guests(void);

#ifdef __cplusplus
}
#endif

#endif
