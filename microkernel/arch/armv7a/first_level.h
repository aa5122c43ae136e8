/* SPDX-License-Identifier: Apache-2.0
 *
 * The core's own data cache.
 */
#ifndef BULKHEAD_MICROKERNEL_ARMV7A_FIRST_LEVEL_H
#define BULKHEAD_MICROKERNEL_ARMV7A_FIRST_LEVEL_H

/* Cleans and invalidates it by set and way. bound: sets times ways */
void first_level_clean(void);

#endif
