/* SPDX-License-Identifier: Apache-2.0
 *
 * The caches of a Cortex-M7 (DDI 0403E, B2.2.7 and B3.2). On cores without caches, both functions do nothing.
 */
#ifndef BULKHEAD_MICROKERNEL_ARMV7M_CACHES_H
#define BULKHEAD_MICROKERNEL_ARMV7M_CACHES_H

/* Turns both caches on, if they are off. The previous contents of the data cache are discarded. */
void caches_on(void);

/* Cleans and invalidates the data cache. */
void caches_clean(void);

#endif
