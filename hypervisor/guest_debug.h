/* SPDX-License-Identifier: Apache-2.0
 *
 * The debug registers that a guest has to itself (self-hosted debug: DDI 0487, D2): breakpoints, watchpoints
 * and their control are not trapped, so they are cleared between two lives of a VCPU. Nobody else calls this;
 * the locks and an external debugger's part are guest_state.c's to keep out of reach.
 */
#ifndef BULKHEAD_GUEST_DEBUG_H
#define BULKHEAD_GUEST_DEBUG_H

/* Of the executing core, as many as it has. */
void guest_debug_reset(void);

#endif
