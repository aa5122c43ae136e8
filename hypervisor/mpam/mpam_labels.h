/* SPDX-License-Identifier: Apache-2.0
 *
 * The cores' side of MPAM: which partition their requests are of, and what guests see of it. What components
 * make of the labels is mpam_components.h's. A core has the hypervisor's label at EL2, always; at EL1 and EL0
 * it has the one of the domain whose tables it has (guest_state.h), so that not even a walk that the core
 * does by itself goes under another one.
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

/* What the cores have, and whether EL2 may use it, which is said where it may not. First core, when something
 * can be logged. */
void mpam_detect(void);

/* What has been found. */
enum bh_mpam_state mpam_state(void);
uint32_t mpam_version(void);  /* ID_AA64PFR0_EL1.MPAM and MPAM_frac, four bits each */
uint64_t mpam_core_ids(void); /* MPAMIDR_EL1, if EL2 may read it; else 0 */

/* Labels of all domains, which have been set up. First core, after mpam_detect(). False: the manifest has
 * components, and the cores have no MPAM, or less than it says, which is logged. */
bool mpam_label_domains(void);

/* This core's requests have the hypervisor's label from now on, and guests' accesses trap. False: the core
 * has less than the first one. */
bool mpam_core_init(void);

/* The requests of EL1 and EL0 are the VCPU's from the next context synchronization on. While no walk is
 * possible there (guest_translation_close()). */
void mpam_enter(const struct vcpu *vcpu);

/* Keeps what a guest with virtual PARTIDs has in the core's registers; of others there is nothing. */
void mpam_leave(struct vcpu *vcpu);

/* The same as out of reset: its partition number 0. */
void mpam_guest_reset(struct vcpu *vcpu);

/* Fields of an ID register (SYSREG_ENCODING of syndrome.h) that tell a guest of its virtual PARTIDs. */
uint64_t mpam_id_fields(const struct vcpu *vcpu, uint32_t encoding);

/* MPAMIDR_EL1 as a guest sees it: what it has itself. False: it has no such register. */
bool mpam_guest_ids(const struct vcpu *vcpu, uint64_t *value);

#ifdef __cplusplus
}
#endif

#endif
