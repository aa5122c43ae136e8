/* SPDX-License-Identifier: Apache-2.0
 *
 * MPAM of a core at EL2: which version it has, whether firmware lets EL2 use it, and the traps of guests'
 * accesses. For the files of hypervisor/mpam/ only.
 */
#ifndef BULKHEAD_MPAM_CORE_H
#define BULKHEAD_MPAM_CORE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The value of MPAM2_EL2 without the traps of guests' accesses to MPAM1_EL1 and MPAM0_EL1. */
uint64_t mpam_own_control(void);

/* Traps guests' accesses to all MPAM registers on this core from now on. */
void mpam_keep_from_guests(void);

#ifdef __cplusplus
}
#endif

#endif
