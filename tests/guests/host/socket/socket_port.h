// SPDX-License-Identifier: Apache-2.0
//
// The socket driver (guests/socket) of a unit test: registers and waiting are the test's.
#ifndef BULKHEAD_TESTS_GUESTS_SOCKET_PORT_H
#define BULKHEAD_TESTS_GUESTS_SOCKET_PORT_H

#include <stdbool.h>
#include <stdint.h>

#define SOCKET_PORT_NEVER 0u // no deadline

uint32_t socket_port_read(uint64_t at);
void socket_port_write(uint64_t at, uint32_t value);
void socket_port_wait(uint64_t deadline);

static inline uint64_t socket_port_physical(const void *at)
{
    return (uint64_t)(uintptr_t)at;
}

static inline void socket_port_barrier(void) {}

static inline uint64_t socket_port_after(uint32_t seconds)
{
    return seconds;
}

static inline bool socket_port_is_past(uint64_t deadline)
{
    (void)deadline;
    return true;
}

#endif
