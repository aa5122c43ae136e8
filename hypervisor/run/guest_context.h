/* SPDX-License-Identifier: Apache-2.0
 *
 * What a guest has in a core's registers besides its interrupt controller: kept here while another VCPU has
 * the core (shared_core.c, the one caller). With one VCPU on a core nothing is ever saved.
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
    uint64_t sctlr;          /* SCTLR_EL1, TCR_EL1: what walks depend on */
    uint64_t tcr;
    uint64_t registers[GUEST_CONTEXT_REGISTERS];
    uint64_t keys[GUEST_CONTEXT_KEYS];
    struct guest_timer virtual_timer;
    struct guest_timer physical_timer;
    struct guest_debug debug;
    __attribute__((aligned(16))) uint64_t fp[ARCH_FP_WORDS];
};

/* The guest that the core has now, and `general`, into `to`; its timers are off afterwards. */
void guest_context_save(struct guest_context *to, const struct guest_regs *general);

/* The reverse, for this VCPU, under its domain's stage-2 tables. Its timers are on again. */
void guest_context_load(const struct guest_context *from, const struct vcpu *vcpu,
                        struct guest_regs *general);

/* Of a guest that does not come back. */
void guest_timers_off(void);

/* The earliest moment at which a timer with one of the interrupts `enabled` asserts it; UINT64_MAX: never. */
uint64_t guest_context_deadline(const struct guest_context *context, uint32_t enabled);

/* The same of the guest that the core has now. */
uint64_t guest_timers_deadline(uint32_t enabled);

#ifdef __cplusplus
}
#endif

#endif
