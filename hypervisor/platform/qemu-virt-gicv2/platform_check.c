/* SPDX-License-Identifier: Apache-2.0
 *
 * The emulator's `virt` machine with GICv2 (QEMU, docs/system/arm/virt.rst; addresses from its device tree).
 */
#include "base/platform_check.h"
#include "gicv2_board.h"
#include "pl011_early.h"

#define UART_PA 0x09000000u

bool platform_matches(const struct manifest_platform *platform)
{
    static const struct gicv2_board board = {
        .gicd_pa = 0x08000000u,
        .gicc_pa = 0x08010000u,
        .gich_pa = 0x08030000u,
        .gicv_pa = 0x08040000u,
        .uart_pa = UART_PA,
        .uart_type = BH_UART_TYPE_PL011,
    };

    return gicv2_board_is(&board, platform);
}

void platform_early_write(char character)
{
    pl011_early_write(paddr(UART_PA), character);
}
