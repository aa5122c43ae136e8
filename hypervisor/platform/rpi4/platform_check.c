/* SPDX-License-Identifier: Apache-2.0
 *
 * The Raspberry Pi 4 (BCM2711; addresses from BCM2711 ARM Peripherals, chapter Address Map, with low
 * peripherals, and the board's device tree in Linux). Its interrupt controller is a GIC-400 whose frames
 * follow one another; the UART is the PL011.
 */
#include "base/platform_check.h"
#include "gicv2_board.h"
#include "pl011_early.h"

#define UART_PA 0xFE201000u

bool platform_matches(const struct manifest_platform *platform)
{
    static const struct gicv2_board board = {
        .gicd_pa = 0xFF841000u,
        .gicc_pa = 0xFF842000u,
        .gich_pa = 0xFF844000u,
        .gicv_pa = 0xFF846000u,
        .uart_pa = UART_PA,
        .uart_type = BH_UART_TYPE_PL011,
    };

    return gicv2_board_is(&board, platform);
}

void platform_early_write(char character)
{
    pl011_early_write(paddr(UART_PA), character);
}
