/* SPDX-License-Identifier: Apache-2.0
 *
 * The first access to an MPAM register, which firmware may not allow. In vectors.S.
 */
#ifndef BULKHEAD_ARCH_MPAM_H
#define BULKHEAD_ARCH_MPAM_H

#include <stdbool.h>

/* Reads MPAM2_EL2, of a core that has MPAM. False: that was undefined. */
bool arch_mpam_probe(void);

#endif
