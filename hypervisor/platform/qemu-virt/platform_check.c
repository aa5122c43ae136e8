/* SPDX-License-Identifier: Apache-2.0
 *
 * The emulator's `virt` machine with GICv3 (QEMU, docs/system/arm/virt.rst; addresses from its device tree).
 */
#include "platform_check.h"
#include <arch/mmio.h>

#define GICD_PA      0x08000000u
#define GICR_PA      0x080A0000u
#define UART_PA      0x09000000u
#define UART_DATA    0x00u
#define UART_FLAGS   0x18u
#define FLAG_TX_FULL (1u << 5)
#define POLL_LIMIT   1000000u /* reads: a character takes 87 microseconds */

bool platform_matches(const struct manifest_platform *platform)
{
    return platform->gic_version == BH_GIC_VERSION_GICV3 && platform->uart_type == BH_UART_TYPE_PL011 &&
           platform->psci_method == BH_PSCI_METHOD_SMC && platform->gicd_pa == GICD_PA &&
           platform->gicr_pa == GICR_PA && platform->uart_pa == UART_PA;
}

void platform_early_write(char character)
{
    for (uint32_t i = 0; i < POLL_LIMIT && (mmio_read32(paddr(UART_PA + UART_FLAGS)) & FLAG_TX_FULL) != 0;
         i++) {
    }
    mmio_write32(paddr(UART_PA + UART_DATA), (uint8_t)character);
}
