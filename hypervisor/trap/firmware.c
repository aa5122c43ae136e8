/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls of a guest that the board's firmware answers, because the manifest lists them. Only the registers
 * that version 1.1 of DEN0028 defines are passed to firmware and back. EL2 cannot check what firmware does
 * with addresses and with other parts of the chip: a domain that has such a call is trusted with it. The call
 * takes time of the domain's own core, which no other domain uses.
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
    registers[ARGUMENTS - 1] = vcpu->domain->index + 1u; /* client ID: identifies the calling domain */
    arch_smc_all(registers);
    for (uint32_t i = 0; i < RESULTS; i++) {
        x[i] = registers[i];
    }
    return true;
}
