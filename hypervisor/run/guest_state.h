/* SPDX-License-Identifier: Apache-2.0
 *
 * A guest's EL1 state out of reset, and the traps that EL2 sets around every guest.
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

/* HCR_EL2 of this core while a VCPU of the domain runs here; NULL: of a core without. `shared`: several VCPUs
 * run here, so that a WFI is EL2's affair. */
uint64_t guest_hcr(const struct domain *domain, bool shared);

/* Trap configuration of this core: once, before its first guest. `monitors`: bits of MDCR_EL2 (pmu.h). */
void guest_traps_init(uint64_t monitors, uint64_t hcr);

/* Between the two EL1 has another guest's tables, or parts of two guests' registers: the core must not walk,
 * not even speculatively for an instruction that is never executed (errata 1319537 of Cortex-A72, 1319367 of
 * A57, 1530923 of A55). close(): walks are off, EL1 sees the memory of `vcpu` as that one, and requests have
 * its label (mpam_labels.h). open(): the last two registers of EL1, which turn them on again. */
void guest_translation_close(const struct vcpu *vcpu);
void guest_translation_open(uint64_t sctlr, uint64_t tcr);

/* Which keys of pointer authentication the core has; the registers of others must not be touched. */
bool guest_has_address_keys(void);
bool guest_has_generic_key(void);

/* Resets EL1 and its timers for this VCPU, under its domain's stage-2 tables. */
void guest_state_reset(const struct vcpu *vcpu);

#ifdef __cplusplus
}
#endif

#endif
