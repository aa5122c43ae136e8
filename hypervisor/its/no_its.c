/* SPDX-License-Identifier: Apache-2.0
 *
 * Stubs for programs without the ITS driver: core/manifest_no_smmu.c refuses a manifest with an ITS.
 */
#include "its/its.h"

bool its_silence(const struct manifest_header *manifest)
{
    (void)manifest;
    return true;
}

enum bh_manifest_error its_init(void)
{
    return BH_MANIFEST_ERROR_NONE;
}

bool its_cpu_init(const struct cpu *cpu)
{
    (void)cpu;
    return true;
}

void its_hold_messages(bool hold)
{
    (void)hold;
}
