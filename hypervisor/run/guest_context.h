/* SPDX-License-Identifier: Apache-2.0
 *
 * A guest's registers, except those of its interrupt controller, saved here while another VCPU has the core.
 * shared_core.c is the only caller. On a core with one VCPU, nothing is ever saved.
 */
#ifndef BULKHEAD_GUEST_CONTEXT_H
#define BULKHEAD_GUEST_CONTEXT_H

#include "run/guest_debug.h"
#include "vm/vcpu.h"
#include <arch/fp.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GUEST_CONTEXT_REGISTERS 22u
#define GUEST_CONTEXT_KEYS      10u

/* A timer of EL1: control and compare value (DDI 0487, D12.2). */
struct guest_timer {
    uint64_t control;
    uint64_t deadline;
};

struct guest_context {
    struct guest_regs general;
    uint64_t return_address; /* ELR_EL2 */
    uint64_t pstate;         /* SPSR_EL2 */
    uint64_t sctlr;          /* SCTLR_EL1 and TCR_EL1, which control table walks */
    uint64_t tcr;
    uint64_t registers[GUEST_CONTEXT_REGISTERS];
    uint64_t keys[GUEST_CONTEXT_KEYS];
    struct guest_timer virtual_timer;
    struct guest_timer physical_timer;
    struct guest_debug debug;
    __attribute__((aligned(16))) uint64_t fp[ARCH_FP_WORDS];
};

/* Saves the registers of the guest that has the core now, and `general`, and turns its timers off. */
void guest_context_save(struct guest_context *to, const struct guest_regs *general);

/* Loads the registers of this VCPU, under its domain's stage-2 tables. Its timers are on again. */
void guest_context_load(const struct guest_context *from, const struct vcpu *vcpu,
                        struct guest_regs *general);

/* Turns off the timers of a guest that does not come back. */
void guest_timers_off(void);

/* The earliest time, as a counter value, at which a timer asserts one of the interrupts `enabled`; UINT64_MAX
 * if never. */
uint64_t guest_context_deadline(const struct guest_context *context, uint32_t enabled);

/* The same for the guest that has the core now. */
uint64_t guest_timers_deadline(uint32_t enabled);

#ifdef __cplusplus
}
#endif

#endif
