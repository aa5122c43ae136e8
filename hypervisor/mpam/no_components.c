/* SPDX-License-Identifier: Apache-2.0
 *
 * MPAM's components in a program that has no driver of them: core/manifest_space_only.c refuses a manifest
 * that has any.
 */
#include "mpam/mpam_components.h"

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
