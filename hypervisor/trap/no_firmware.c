/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls of guests to firmware in a program without them: linked in place of firmware.c.
 * core/manifest_space_only.c refuses a manifest that has any.
 */
#include "trap/firmware.h"

/* NOLINTNEXTLINE(readability-non-const-parameter): as its header has it */
bool firmware_call(const struct vcpu *vcpu, uint64_t x[31])
{
    (void)vcpu;
    (void)x;
    return false;
}
