/* SPDX-License-Identifier: Apache-2.0
 *
 * The performance monitors that a guest sees (DDI 0487, D13). A guest has all counters of its core except
 * EL2's, which have the highest numbers. Every access of a guest traps; only changes of the guest's own
 * counters reach the hardware. A domain without the flag `pmu` has no monitors, and these functions do
 * nothing for its VCPUs. All are called on the VCPU's core, with interrupts masked.
 */
#ifndef BULKHEAD_GUEST_PMU_H
#define BULKHEAD_GUEST_PMU_H

#include "time/time_state.h"
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct cpu;
struct vcpu;

/* True if the VCPU's domain has monitors. */
bool guest_pmu_is_given(const struct vcpu *vcpu);

/* True if the domain of any VCPU of the core has monitors. */
bool guest_pmu_is_on(const struct cpu *cpu);

/* Resets the monitors: all counters zero and off. Called at the start of the VCPU's life, after
 * vgic_vcpu_reset(), and at its end, after vgic_vcpu_off(). */
void guest_pmu_reset(struct vcpu *vcpu);

/* Move the counters from the hardware into the VCPU's state, and back, on cores that several VCPUs share.
 * This takes about six system-register accesses for each counter in each direction. Saved counters do not
 * count and do not interrupt until they are restored. */
void guest_pmu_save(struct vcpu *vcpu);
void guest_pmu_restore(struct vcpu *vcpu);

/* Handles a read or write of a monitors' register by the guest (SYSREG_ENCODING of syndrome.h). Returns false
 * if the guest has no such register. */
bool guest_pmu_access(struct vcpu *vcpu, uint32_t encoding, bool write, uint64_t *value);

/* The field PMUVer of ID_AA64DFR0_EL1 for the guest, in its place; 0: no monitors. */
uint64_t guest_pmu_dfr0(const struct vcpu *vcpu);

/* Handles the core's overflow interrupt. If a counter of the guest has overflowed, the guest gets private
 * interrupt BH_GUEST_PMU_INTID, whatever number the board uses, and the hardware does not interrupt again
 * until the guest has cleared the overflow. */
void guest_pmu_overflow(struct vcpu *vcpu);

#ifdef __cplusplus
}
#endif

#endif
