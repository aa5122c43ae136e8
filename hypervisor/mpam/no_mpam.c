/* SPDX-License-Identifier: Apache-2.0
 *
 * Stubs for the program without the MPAM driver: core/manifest_space_only.c refuses a manifest with
 * components, and all requests have the label that mpam_core_init() has set.
 */
#include "mpam/mpam_components.h"
#include "mpam/mpam_labels.h"

/* mpam_labels.h: all domains have the same label. */
bool mpam_label_domains(void)
{
    return true;
}

void mpam_enter(const struct vcpu *vcpu)
{
    (void)vcpu;
}

void mpam_guest_reset(struct vcpu *vcpu)
{
    (void)vcpu;
}

uint64_t mpam_id_fields(const struct vcpu *vcpu, uint32_t encoding)
{
    (void)vcpu;
    (void)encoding;
    return 0;
}

/* NOLINTNEXTLINE(readability-non-const-parameter): as its header has it */
bool mpam_guest_ids(const struct vcpu *vcpu, uint64_t *value)
{
    (void)vcpu;
    (void)value;
    return false;
}

/* mpam_components.h */
enum bh_manifest_error mpam_components_init(void)
{
    return BH_MANIFEST_ERROR_NONE;
}

void mpam_components_start(const struct cpu *cpu)
{
    (void)cpu;
}

bool mpam_components_interrupt(uint32_t intid)
{
    (void)intid;
    return false;
}

void mpam_components_alarm(void)
{
    __builtin_trap();
}

void mpam_components_end(void) {}
