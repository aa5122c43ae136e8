/* SPDX-License-Identifier: Apache-2.0
 *
 * Linked with the unchanged hypervisor (the linker's --wrap): a switch of VCPUs that keeps the label of the
 * core's first guest. Tables, interrupts and registers are the next guest's, but requests carry the old
 * label.
 */
#include "mpam/mpam_labels.h"
#include "vm/cpu.h"

void __real_mpam_enter(const struct vcpu *vcpu);
void __wrap_mpam_enter(const struct vcpu *vcpu);

static bool has_label[BH_MAX_CORES];

void __wrap_mpam_enter(const struct vcpu *vcpu)
{
    uint32_t core = this_cpu()->index;

    if (!has_label[core]) {
        has_label[core] = true;
        __real_mpam_enter(vcpu);
    }
}
