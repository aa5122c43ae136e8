/* SPDX-License-Identifier: Apache-2.0
 *
 * An exception at EL2 is a fatal error: reports it and turns the machine off, because EL2 can no longer
 * guarantee anything.
 */
#include "base/format.h"
#include "base/platform_check.h"
#include "vm/system.h"
#include <arch/barrier.h>
#include <stdint.h>

void panic_exception(uint64_t vector, uint64_t esr, uint64_t pc, uint64_t address, uint64_t sp, uint64_t lr);

/* Called by the vectors on a separate stack, with the MMU on or, during boot, off. */
void panic_exception(uint64_t vector, uint64_t esr, uint64_t pc, uint64_t address, uint64_t sp, uint64_t lr)
{
    char line[160];
    uint32_t phase = system_status()->phase;

    /* The reason was already reported: turning the machine off has failed, because there is no firmware to do
     * it. */
    if (phase == BH_PHASE_REFUSED || phase == BH_PHASE_PANICKED) {
        for (;;) {
            arch_wfe();
        }
    }
    system_status()->phase = BH_PHASE_PANICKED;
    (void)format_text(
        line, sizeof line,
        "\r\n[bulkhead   0.000000] panic: EL2 exception %u  esr %lx  pc %lx  far %lx  sp %lx  lr %lx\r\n",
        (unsigned)vector, esr, pc, address, sp, lr);
    for (const char *next = line; *next != '\0'; next++) {
        platform_early_write(*next);
    }
    system_power_off();
}
