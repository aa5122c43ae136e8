/* SPDX-License-Identifier: Apache-2.0
 *
 * Addresses of the parts of a board with a GICv2, which its platform_matches() compares with the manifest.
 */
#ifndef BULKHEAD_PLATFORM_GICV2_BOARD_H
#define BULKHEAD_PLATFORM_GICV2_BOARD_H

#include <bulkhead_layout.h>
#include <stdbool.h>
#include <stdint.h>

struct gicv2_board {
    uint64_t gicd_pa, gicc_pa, gich_pa, gicv_pa, uart_pa;
    uint32_t uart_type; /* BH_UART_TYPE_… */
};

static inline bool gicv2_board_is(const struct gicv2_board *board, const struct manifest_platform *platform)
{
    return platform->gic_version == BH_GIC_VERSION_GICV2 && platform->uart_type == board->uart_type &&
           platform->psci_method == BH_PSCI_METHOD_SMC && platform->gicd_pa == board->gicd_pa &&
           platform->gicc_pa == board->gicc_pa && platform->gich_pa == board->gich_pa &&
           platform->gicv_pa == board->gicv_pa && platform->uart_pa == board->uart_pa;
}

#endif
