// SPDX-License-Identifier: Apache-2.0
//
// The socket driver (guests/socket) on this runtime. Interrupts are masked except while it waits, so none of
// its functions is interrupted by another.
#ifndef BULKHEAD_GUESTS_SOCKET_PORT_H
#define BULKHEAD_GUESTS_SOCKET_PORT_H

#include <arch/mmio.h>
#include <arch/mmu.h>
#include <arch/sysreg.h>
#include <stdbool.h>
#include <stdint.h>

#include "guests/runtime/timer.h"

#ifdef SOCKET_ON_PCI
#include "guests/runtime/port/socket_pci.h"
#endif

#define SOCKET_PORT_NEVER 0u // no deadline

static inline uint32_t socket_port_read(uint64_t at)
{
#ifdef SOCKET_ON_PCI
    return socket_pci_read(at);
#else
    return mmio_read32(at);
#endif
}

static inline void socket_port_write(uint64_t at, uint32_t value)
{
#ifdef SOCKET_ON_PCI
    socket_pci_write(at, value);
#else
    mmio_write32(at, value);
#endif
}

// The address at which the device finds this memory.
static inline uint64_t socket_port_physical(const void *at)
{
    return mmu_physical(at);
}

// Orders earlier writes before the device is told, and later reads after that.
static inline void socket_port_barrier(void)
{
    cpu_sync_memory();
}

static inline uint64_t socket_port_after(uint32_t seconds)
{
    return timer_now() + seconds * timer_frequency();
}

static inline bool socket_port_is_past(uint64_t deadline)
{
    return timer_now() >= deadline;
}

// Waits for an interrupt, or for the deadline. With a deadline the timer's interrupt is enabled, and
// program_interrupt() calls timer_stop() for it.
static inline void socket_port_wait(uint64_t deadline)
{
    if (deadline != SOCKET_PORT_NEVER)
        timer_set(deadline);
    cpu_wait_for_interrupt();
    cpu_unmask_interrupts();
    cpu_mask_interrupts();
    if (deadline != SOCKET_PORT_NEVER)
        timer_stop();
}

#endif
