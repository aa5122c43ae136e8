/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls of a guest that the board's firmware answers, because the manifest lists them. Registers go there and
 * come back as DEN0028 has them in version 1.1; nothing else of EL2 does. What firmware makes of addresses
 * and of other parts of the chip is the firmware's: a domain that has such a call is trusted with it. It
 * takes time of the domain's own core, on which nobody else is.
 */
#include "trap/firmware.h"
#include "base/syndrome.h"
#include "core/manifest_calls.h"
#include "vm/domain.h"
#include "vm/system.h"
#include <arch/smc.h>
#include <arch/sysreg.h>

#define ARGUMENTS 8u
#define RESULTS   4u

bool firmware_call(const struct vcpu *vcpu, uint64_t x[31])
{
    const struct manifest_domain *config = vcpu->domain->config;
    uint64_t registers[ARGUMENTS];

    if (esr_class(sysreg_read(ESR_EL2)) != EC_SMC64 ||
        !manifest_may_call(system_manifest(), config, (uint32_t)x[0])) {
        return false;
    }
    for (uint32_t i = 0; i < ARGUMENTS; i++) {
        registers[i] = x[i];
    }
    registers[ARGUMENTS - 1] = vcpu->domain->index + 1u; /* the client: whose call it is */
    arch_smc_all(registers);
    for (uint32_t i = 0; i < RESULTS; i++) {
        x[i] = registers[i];
    }
    return true;
}
