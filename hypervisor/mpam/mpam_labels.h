/* SPDX-License-Identifier: Apache-2.0
 *
 * Labels (PARTID and PMG) of the cores' requests, and the MPAM registers that guests see. mpam_components.h
 * programs the components that act by the labels. At EL2 a core always has the hypervisor's label. At EL1 and
 * EL0 it has the label of the domain whose stage-2 tables it uses (guest_state.h), so that speculative walks
 * have this label, too.
 */
#ifndef BULKHEAD_MPAM_LABELS_H
#define BULKHEAD_MPAM_LABELS_H

#include <bulkhead_layout.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct vcpu;

/* Finds out whether the cores have MPAM and EL2 may use it; logs it if firmware does not allow it. Called on
 * the first core, when console_log() works. */
void mpam_detect(void);

/* What mpam_detect() has found. */
enum bh_mpam_state mpam_state(void);
uint32_t mpam_version(void);  /* ID_AA64PFR0_EL1.MPAM and MPAM_frac, four bits each */
uint64_t mpam_core_ids(void); /* MPAMIDR_EL1, if EL2 may read it; else 0 */

/* Sets the labels of all domains. Called on the first core, after mpam_detect() and when domains are set up.
 * False if the manifest has components and the cores have no MPAM, or fewer PARTIDs, groups or virtual
 * PARTIDs than the manifest says, which is logged. */
bool mpam_label_domains(void);

/* Gives this core's requests the hypervisor's label and traps guests' accesses. False if the core's MPAM
 * differs from the first core's. */
bool mpam_core_init(void);

/* Gives requests of EL1 and EL0 the label of the VCPU's domain, from the next context synchronization on.
 * Called while EL1 and EL0 cannot start a walk (guest_translation_close()). */
void mpam_enter(const struct vcpu *vcpu);

/* Saves MPAM1_EL1 and MPAM0_EL1 of a guest with virtual PARTIDs; does nothing for other guests. */
void mpam_leave(struct vcpu *vcpu);

/* Resets the guest's MPAM1_EL1 and MPAM0_EL1 to 0: its first virtual PARTID. */
void mpam_guest_reset(struct vcpu *vcpu);

/* The MPAM fields of ID register `encoding` (SYSREG_ENCODING of syndrome.h) for this guest: 0 if it has no
 * virtual PARTIDs. */
uint64_t mpam_id_fields(const struct vcpu *vcpu, uint32_t encoding);

/* MPAMIDR_EL1 as the guest reads it: the number of its own PARTIDs. False if it has no virtual PARTIDs: the
 * register is undefined for it. */
bool mpam_guest_ids(const struct vcpu *vcpu, uint64_t *value);

#ifdef __cplusplus
}
#endif

#endif
