/* SPDX-License-Identifier: Apache-2.0
 *
 * The end, on Armv7-A and Armv7-M alike: what the kernel does when nothing can go on.
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
