/* SPDX-License-Identifier: Apache-2.0
 *
 * The ZCU102 (ZynqMP; addresses from UG1085). Its interrupt controller is a GIC-400 in which each frame of 4
 * KiB is repeated throughout 64 KiB. Therefore the two pages of a CPU interface are adjacent if the first one
 * is the last copy of its frame.
 */
#include "base/platform_check.h"
#include "gicv2_board.h"
#include <arch/mmio.h>

#define UART_PA      0xFF000000u
#define UART_CONTROL 0x00u
#define UART_STATUS  0x2Cu
#define UART_FIFO    0x30u
#define TX_ENABLE    0x10u
#define TX_DISABLE   0x20u
#define TX_FULL      0x10u
#define POLL_LIMIT   1000000u /* reads: a character takes 87 us */

bool platform_matches(const struct manifest_platform *platform)
{
    static const struct gicv2_board board = {
        .gicd_pa = 0xF9010000u,
        .gicc_pa = 0xF902F000u,
        .gich_pa = 0xF9040000u,
        .gicv_pa = 0xF906F000u,
        .uart_pa = UART_PA,
        .uart_type = BH_UART_TYPE_CADENCE,
    };

    return gicv2_board_is(&board, platform);
}

void platform_early_write(char character)
{
    uint32_t control = mmio_read32(paddr(UART_PA + UART_CONTROL));

    if ((control & TX_ENABLE) == 0) { /* not used since reset */
        mmio_write32(paddr(UART_PA + UART_CONTROL), (control | TX_ENABLE) & ~TX_DISABLE);
    }
    for (uint32_t i = 0; i < POLL_LIMIT && (mmio_read32(paddr(UART_PA + UART_STATUS)) & TX_FULL) != 0; i++) {
    }
    mmio_write32(paddr(UART_PA + UART_FIFO), (uint8_t)character);
}
