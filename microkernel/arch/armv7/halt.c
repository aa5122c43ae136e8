/* SPDX-License-Identifier: Apache-2.0
 *
 * Halts the system when the kernel cannot continue, on Armv7-A and Armv7-M alike.
 */
#include "microkernel/kernel/arch.h"
#include "microkernel/kernel/console.h"
#include "microkernel/kernel/report.h"

void arch_halt(void)
{
    report_line("halted");
    console_flush();
    for (;;) {
        __asm__ volatile("wfi");
    }
}

void arch_unexpected(void)
{
    report_line("unexpected exception in the kernel");
    arch_halt();
}
