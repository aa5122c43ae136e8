/* SPDX-License-Identifier: Apache-2.0
 *
 * The S32V234 as the simulated machine has it (addresses from Linux' device tree of the chip): with a PL011
 * in place of its own UARTs. There is no image for the board.
 */
#include "platform_check.h"
#include "pl011_early.h"

#define GICD_PA 0x7D001000u
#define GICC_PA 0x7D002000u
#define GICH_PA 0x7D004000u
#define GICV_PA 0x7D006000u
#define UART_PA 0x7D010000u

bool platform_matches(const struct manifest_platform *platform)
{
    return platform->gic_version == BH_GIC_VERSION_GICV2 && platform->uart_type == BH_UART_TYPE_PL011 &&
           platform->psci_method == BH_PSCI_METHOD_SMC && platform->gicd_pa == GICD_PA &&
           platform->gicc_pa == GICC_PA && platform->gich_pa == GICH_PA && platform->gicv_pa == GICV_PA &&
           platform->uart_pa == UART_PA;
}

void platform_early_write(char character)
{
    pl011_early_write(paddr(UART_PA), character);
}
