/* SPDX-License-Identifier: Apache-2.0
 *
 * The function that a component defines.
 */
#ifndef BULKHEAD_MICROKERNEL_COMPONENT_H
#define BULKHEAD_MICROKERNEL_COMPONENT_H

/* Runs once; if it returns, the component sleeps for ever. */
void component_main(void);

#endif
