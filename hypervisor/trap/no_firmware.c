/* SPDX-License-Identifier: Apache-2.0
 *
 * Replaces firmware.c in programs without calls of guests to firmware. core/manifest_space_only.c refuses a
 * manifest that has any.
 */
#include "trap/firmware.h"

/* NOLINTNEXTLINE(readability-non-const-parameter): as its header has it */
bool firmware_call(const struct vcpu *vcpu, uint64_t x[31])
{
    (void)vcpu;
    (void)x;
    return false;
}
