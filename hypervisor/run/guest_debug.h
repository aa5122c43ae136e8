/* SPDX-License-Identifier: Apache-2.0
 *
 * Debug registers that a guest uses without traps (self-hosted debug: DDI 0487, D2): breakpoints, watchpoints
 * and their control. They are cleared between two lives of a VCPU, and saved and loaded where VCPUs share a
 * core. guest_state.c and guest_context.c call these functions. guest_state.c keeps guests from the debug
 * locks and from the registers of external debuggers.
 */
#ifndef BULKHEAD_GUEST_DEBUG_H
#define BULKHEAD_GUEST_DEBUG_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GUEST_DEBUG_PAIRS 16u

/* Debug registers of a VCPU while another one has the core. */
struct guest_debug {
    uint64_t control;
    uint64_t interrupts;
    uint64_t claims;
    uint64_t breakpoints[GUEST_DEBUG_PAIRS][2]; /* control, value */
    uint64_t watchpoints[GUEST_DEBUG_PAIRS][2];
};

/* Reset, save and load the debug registers of the executing core, as many as it has. */
void guest_debug_reset(void);
void guest_debug_save(struct guest_debug *to);
void guest_debug_load(const struct guest_debug *from);

#ifdef __cplusplus
}
#endif

#endif
