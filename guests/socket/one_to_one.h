// SPDX-License-Identifier: Apache-2.0
//
// The part of a socket_port.h that is the same for all systems on AArch64 which map their memory, and the
// device, one to one.
#ifndef BULKHEAD_GUESTS_ONE_TO_ONE_H
#define BULKHEAD_GUESTS_ONE_TO_ONE_H

#include <stdint.h>

static inline uint32_t socket_port_read(uint64_t at)
{
    return *(volatile uint32_t *)(uintptr_t)at;
}

static inline void socket_port_write(uint64_t at, uint32_t value)
{
    *(volatile uint32_t *)(uintptr_t)at = value;
}

// The address at which the device finds this memory.
static inline uint64_t socket_port_physical(const void *at)
{
    return (uint64_t)(uintptr_t)at;
}

// Orders earlier writes before the device is told, and later reads after that.
static inline void socket_port_barrier(void)
{
    __asm__ volatile("dsb sy" ::: "memory");
}

#endif
