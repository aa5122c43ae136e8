/* SPDX-License-Identifier: Apache-2.0
 *
 * The first access to an MPAM register at EL2, which is undefined if firmware does not allow it. Implemented
 * in vectors.S.
 */
#ifndef BULKHEAD_ARCH_MPAM_H
#define BULKHEAD_ARCH_MPAM_H

#include <stdbool.h>

/* Reads MPAM2_EL2 on a core that has MPAM. False if the access was undefined. */
bool arch_mpam_probe(void);

#endif
