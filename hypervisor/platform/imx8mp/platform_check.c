/* SPDX-License-Identifier: Apache-2.0
 *
 * The i.MX 8M Plus on NXP's evaluation kit, whose console is UART2 (addresses from IMX8MPRM, chapter Memory
 * Maps, and the board's device tree in Linux).
 */
#include "base/platform_check.h"
#include <arch/mmio.h>

#define GICD_PA       0x38800000u
#define GICR_PA       0x38880000u
#define UART_PA       0x30890000u
#define UART_DATA     0x40u
#define UART_CONTROL1 0x80u
#define UART_CONTROL2 0x84u
#define UART_TEST     0xB4u
#define ENABLE        0x1u
#define TX_ENABLE     0x5u /* and not in reset */
#define TX_FULL       0x10u
#define POLL_LIMIT    1000000u /* limit on polling reads; a character takes 87 microseconds */

bool platform_matches(const struct manifest_platform *platform)
{
    return platform->gic_version == BH_GIC_VERSION_GICV3 && platform->uart_type == BH_UART_TYPE_IMX &&
           platform->psci_method == BH_PSCI_METHOD_SMC && platform->gicd_pa == GICD_PA &&
           platform->gicr_pa == GICR_PA && platform->uart_pa == UART_PA;
}

/* The boot ROM and the loaders before have set the line speed. */
void platform_early_write(char character)
{
    mmio_write32(paddr(UART_PA + UART_CONTROL1), mmio_read32(paddr(UART_PA + UART_CONTROL1)) | ENABLE);
    mmio_write32(paddr(UART_PA + UART_CONTROL2), mmio_read32(paddr(UART_PA + UART_CONTROL2)) | TX_ENABLE);
    for (uint32_t i = 0; i < POLL_LIMIT && (mmio_read32(paddr(UART_PA + UART_TEST)) & TX_FULL) != 0; i++) {
    }
    mmio_write32(paddr(UART_PA + UART_DATA), (uint8_t)character);
}
