// SPDX-License-Identifier: Apache-2.0
// See the header.
#include "machine/hosted/guest_trap.h"

#include "machine/hosted/calls.h"
#include "machine/hosted/cpu.h"
#include "machine/hosted/system.h"

namespace bulkhead::machine::hosted {

std::uint64_t sysreg_syndrome(std::uint64_t encoding, bool read)
{
    const std::uint64_t op0 = encoding >> 14 & 3;
    const std::uint64_t op1 = encoding >> 11 & 7;
    const std::uint64_t crn = encoding >> 7 & 15;
    const std::uint64_t crm = encoding >> 3 & 15;
    const std::uint64_t op2 = encoding & 7;
    return of_class(EC_SYSREG) | op0 << 20 | op2 << 17 | op1 << 14 | crn << 10 | crm << 1 | (read ? 1 : 0);
}

bool traps(std::uint64_t hcr_bit, std::uint64_t encoding, const void *where)
{
    constexpr std::uint64_t no_operand = 31;
    if ((current().running().state()[SYSREG_ID_HCR_EL2] & hcr_bit) == 0) {
        return false;
    }
    trap(sysreg_syndrome(encoding, false) | no_operand << 5, 0, where);
    return true;
}

std::uint64_t trap(std::uint64_t syndrome, std::uint64_t x0, const void *where)
{
    cpu &core = current().running();
    for (;;) {
        core.exchange()[0] = x0;
        if (core.leave({.syndrome = syndrome, .resume = core.resume_address(where)})) {
            const std::uint64_t answer = core.exchange()[0];
            core.take_interrupts();
            return answer;
        }
        core.take_interrupts();
    }
}

} // namespace bulkhead::machine::hosted
