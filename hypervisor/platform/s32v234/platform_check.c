/* SPDX-License-Identifier: Apache-2.0
 *
 * The S32V234 as a simulated machine (addresses from the chip's device tree in Linux), with a PL011 in place
 * of its own UARTs. There is no image for the real board.
 */
#include "base/platform_check.h"
#include "gicv2_board.h"
#include "pl011_early.h"

#define UART_PA 0x7D010000u

bool platform_matches(const struct manifest_platform *platform)
{
    static const struct gicv2_board board = {
        .gicd_pa = 0x7D001000u,
        .gicc_pa = 0x7D002000u,
        .gich_pa = 0x7D004000u,
        .gicv_pa = 0x7D006000u,
        .uart_pa = UART_PA,
        .uart_type = BH_UART_TYPE_PL011,
    };

    return gicv2_board_is(&board, platform);
}

void platform_early_write(char character)
{
    pl011_early_write(paddr(UART_PA), character);
}
