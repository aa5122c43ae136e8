/* SPDX-License-Identifier: Apache-2.0
 *
 * Reset of a guest's EL1 state, and the traps that EL2 configures for every guest.
 */
#ifndef BULKHEAD_GUEST_STATE_H
#define BULKHEAD_GUEST_STATE_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct domain;
struct vcpu;

/* Value of HCR_EL2 while a VCPU of the domain runs on this core; NULL: for a core without a domain of its
 * own. `shared`: several VCPUs run on the core, so WFI traps to EL2. */
uint64_t guest_hcr(const struct domain *domain, bool shared);

/* Sets the trap configuration of this core. Called once, before its first guest. `monitors`: bits of MDCR_EL2
 * (pmu.h); `hcr`: value for HCR_EL2. */
void guest_traps_init(uint64_t monitors, uint64_t hcr);

/* Bracket a change of the guest. Between the two calls, EL1 has another guest's tables or parts of two
 * guests' registers, so the core must not walk tables, not even speculatively for an instruction that is
 * never executed (errata 1319537 of Cortex-A72, 1319367 of A57, 1530923 of A55). close(): turns walks off,
 * switches to the stage-2 tables and identity of `vcpu`, and gives requests its label (mpam_labels.h).
 * open(): writes the last two registers of EL1, which turn walks on again. */
void guest_translation_close(const struct vcpu *vcpu);
void guest_translation_open(uint64_t sctlr, uint64_t tcr);

/* True if the core has these keys of pointer authentication. Registers of keys that it does not have must not
 * be accessed. */
bool guest_has_address_keys(void);
bool guest_has_generic_key(void);

/* Resets EL1 and its timers for this VCPU, under its domain's stage-2 tables. */
void guest_state_reset(const struct vcpu *vcpu);

#ifdef __cplusplus
}
#endif

#endif
