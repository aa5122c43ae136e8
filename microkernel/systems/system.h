/* SPDX-License-Identifier: Apache-2.0
 *
 * For descriptions of systems: components' code by name, and their rights on hardware.
 */
#ifndef BULKHEAD_MICROKERNEL_SYSTEM_H
#define BULKHEAD_MICROKERNEL_SYSTEM_H

#include "arch_types.h"
#include "board.h"
#include "core/mxu.h"
#include "core/mxu_eviction.h"
#include "microkernel/include/microkernel/abi.h"
#include "microkernel/kernel/boot.h"

/* Common beginning of a system's description. The CRC is filled in after linking (scripts/seal_system.py). */
#define SYSTEM const struct boot_system boot_system __attribute__((section(".system"), used))
#define SYSTEM_HEADER                                                                                        \
    .magic = BOOT_MAGIC, .version = BOOT_VERSION, .bytes = sizeof(struct boot_system),                       \
    .clock_hz = BOARD_CLOCK_HZ, .timer_hz = BOARD_TIMER_HZ, .hardware = BOARD_HARDWARE

/* Name and code of a component. */
#define COMPONENT(NAME) .name = #NAME, .code_first = (uint32_t)(uintptr_t)component_##NAME

#define MAY_PRINT       (1u << HW_CONSOLE)
#define MAY_CLEAN       (1u << HW_CLEAN_CACHE)
#define MAY_FLUSH_CHECK (1u << HW_FLUSH_CHECK)
#define MAY_LOCK_WAYS   (1u << HW_LOCK_WAYS)
#define MAY_SET_TICK    (1u << HW_TICK)
#define MAY_END         (1u << HW_END)

#define THE_MANAGER                                                                                          \
    {                                                                                                        \
        COMPONENT(manager), .serves = 1, .hardware = MAY_PRINT | MAY_END                                     \
    }
#define THE_SCHEDULER                                                                                        \
    {                                                                                                        \
        COMPONENT(scheduler), .hardware = MAY_SET_TICK                                                       \
    }

#endif
