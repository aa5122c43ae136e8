// SPDX-License-Identifier: Apache-2.0
//
// The machine that the guest runs on, according to the device tree. board_discover() fills it in once at the
// start; drivers and programs read it. No other code may assume addresses or interrupt numbers.
#ifndef BULKHEAD_GUESTS_BOARD_H
#define BULKHEAD_GUESTS_BOARD_H

#include "guests/runtime/devicetree.h"

enum {
    BOARD_MAX_CPUS = 8, // max_cpus in guest.ld
    BOARD_MAX_RAM = 4,
};

enum board_psci { BOARD_PSCI_HVC, BOARD_PSCI_SMC };

struct board {
    struct dt tree;
    bool has_tree;
    struct dt_range ram[BOARD_MAX_RAM];
    uint32_t ram_count;
    uint64_t cpu_mpidr[BOARD_MAX_CPUS]; // affinity fields, in the order of /cpus
    uint32_t cpu_count;
    enum board_psci psci;
    uint64_t uart_base;                // 0: no console
    uint32_t uart_intid;               // 0: not given
    struct dt_range gic_distributor;   // size 0: no GIC
    struct dt_range gic_redistributor; // size 0: not a GICv3
    struct dt_range gic_interface;     // size 0: not a GICv2
    uint32_t virtual_timer_intid;
    struct dt_range socket_pool; // the part of RAM that the socket device reaches; size 0: all of it
};

// Reads the device tree at `blob`, or the one at the start of RAM if `blob` is NULL or not a device tree.
void board_discover(const void *blob);

const struct board *board(void);

#endif
