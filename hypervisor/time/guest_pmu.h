/* SPDX-License-Identifier: Apache-2.0
 *
 * The performance monitors that a guest sees (DDI 0487, D13): of those of its core all counters but EL2's,
 * which are the ones with the highest numbers. Every access of a guest traps; what it changes reaches the
 * hardware only where it is its own. A domain without the flag `pmu` has none: this does nothing for its
 * VCPUs. All on the VCPU's core, with interrupts masked.
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

/* True if that of any VCPU of the core has. */
bool guest_pmu_is_on(const struct cpu *cpu);

/* Out of reset: all counters zero and off. At the start of the VCPU's life, after vgic_vcpu_reset(); and when
 * it ends, after vgic_vcpu_off(). */
void guest_pmu_reset(struct vcpu *vcpu);

/* Puts the counters into the VCPU, or into the hardware. For cores that several VCPUs share: about six system
 * registers a counter each way. What is saved counts nothing and interrupts nobody until it is restored. */
void guest_pmu_save(struct vcpu *vcpu);
void guest_pmu_restore(struct vcpu *vcpu);

/* A register of the monitors (SYSREG_ENCODING of syndrome.h) is read or written by the guest. False: it has
 * no such register. */
bool guest_pmu_access(struct vcpu *vcpu, uint32_t encoding, bool write, uint64_t *value);

/* What ID_AA64DFR0_EL1 says of them: PMUVer, in its place. 0: there are none. */
uint64_t guest_pmu_dfr0(const struct vcpu *vcpu);

/* The core's overflow interrupt arrived: if a counter of the guest is a reason for it, the guest gets it as
 * private interrupt BH_GUEST_PMU_INTID, whichever line it is of this board, and the hardware keeps silent
 * until the guest has cleared the reason. */
void guest_pmu_overflow(struct vcpu *vcpu);

#ifdef __cplusplus
}
#endif

#endif
