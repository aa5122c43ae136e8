/* SPDX-License-Identifier: Apache-2.0
 *
 * The debug registers that a guest has to itself (self-hosted debug: DDI 0487, D2): breakpoints, watchpoints
 * and their control are not trapped, so they are cleared between two lives of a VCPU, and saved and loaded
 * where VCPUs share a core. Called by guest_state.c and guest_context.c;
 * the locks and an external debugger's part are guest_state.c's to keep out of reach.
 */
#ifndef BULKHEAD_GUEST_DEBUG_H
#define BULKHEAD_GUEST_DEBUG_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GUEST_DEBUG_PAIRS 16u

/* Of a VCPU that is not in its core. */
struct guest_debug {
    uint64_t control;
    uint64_t interrupts;
    uint64_t claims;
    uint64_t breakpoints[GUEST_DEBUG_PAIRS][2]; /* control, value */
    uint64_t watchpoints[GUEST_DEBUG_PAIRS][2];
};

/* Of the executing core, as many as it has. */
void guest_debug_reset(void);
void guest_debug_save(struct guest_debug *to);
void guest_debug_load(const struct guest_debug *from);

#ifdef __cplusplus
}
#endif

#endif
