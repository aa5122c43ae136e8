/* SPDX-License-Identifier: Apache-2.0
 *
 * The first access to an MPAM register, hosted backend: a function that the model of the core implements.
 */
#ifndef BULKHEAD_ARCH_MPAM_H
#define BULKHEAD_ARCH_MPAM_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

bool arch_mpam_probe(void);

#ifdef __cplusplus
}
#endif

#endif
