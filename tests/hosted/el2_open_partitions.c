/* SPDX-License-Identifier: Apache-2.0
 *
 * Linked with the unchanged hypervisor (the linker's --wrap): no guest's access to MPAM1_EL1 and MPAM0_EL1
 * traps, and the PARTIDs that a guest writes there are physical. Shows the effect of the traps and of the map
 * of virtual PARTIDs.
 */
#include "mpam/mpam_labels.h"
#include <arch/sysreg.h>

#define MPAM2_TRAPS         (1ull << 49 | 1ull << 48)
#define MPAMHCR_VIRTUAL     (1ull << 1 | 1ull << 0)
#define MPAMIDR_HAS_HCR_BIT (1ull << 17)

void __real_mpam_enter(const struct vcpu *vcpu);
void __wrap_mpam_enter(const struct vcpu *vcpu);

void __wrap_mpam_enter(const struct vcpu *vcpu)
{
    __real_mpam_enter(vcpu);
    sysreg_write(MPAM2_EL2, sysreg_read(MPAM2_EL2) & ~MPAM2_TRAPS);
    if ((mpam_core_ids() & MPAMIDR_HAS_HCR_BIT) != 0) {
        sysreg_write(MPAMHCR_EL2, sysreg_read(MPAMHCR_EL2) & ~MPAMHCR_VIRTUAL);
    }
}
