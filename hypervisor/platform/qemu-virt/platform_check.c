/* SPDX-License-Identifier: Apache-2.0
 *
 * The emulator's `virt` machine with GICv3 (QEMU, docs/system/arm/virt.rst; addresses from its device tree).
 * platforms/mpam4.yaml, which exists only as a simulated machine, has its devices at the same addresses.
 */
#include "base/platform_check.h"
#include "pl011_early.h"

#define GICD_PA 0x08000000u
#define GICR_PA 0x080A0000u
#define UART_PA 0x09000000u

bool platform_matches(const struct manifest_platform *platform)
{
    return platform->gic_version == BH_GIC_VERSION_GICV3 && platform->uart_type == BH_UART_TYPE_PL011 &&
           platform->psci_method == BH_PSCI_METHOD_SMC && platform->gicd_pa == GICD_PA &&
           platform->gicr_pa == GICR_PA && platform->uart_pa == UART_PA;
}

void platform_early_write(char character)
{
    pl011_early_write(paddr(UART_PA), character);
}
