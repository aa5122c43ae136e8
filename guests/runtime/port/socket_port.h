// SPDX-License-Identifier: Apache-2.0
//
// The socket driver (guests/socket) on this runtime. Interrupts are masked but where it waits, so nothing in
// it happens twice at once.
#ifndef BULKHEAD_GUESTS_SOCKET_PORT_H
#define BULKHEAD_GUESTS_SOCKET_PORT_H

#include <arch/mmio.h>
#include <arch/mmu.h>
#include <arch/sysreg.h>
#include <stdbool.h>
#include <stdint.h>

#include "guests/runtime/timer.h"

#define SOCKET_PORT_NEVER 0u // a deadline that does not come

static inline uint32_t socket_port_read(uint64_t at)
{
    return mmio_read32(at);
}

static inline void socket_port_write(uint64_t at, uint32_t value)
{
    mmio_write32(at, value);
}

// Where the device finds what is here.
static inline uint64_t socket_port_physical(const void *at)
{
    return mmu_physical(at);
}

// The device sees what was written before, and nothing was read before.
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

// Until an interrupt, or the deadline. The timer's interrupt is enabled if there is a deadline, and
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
