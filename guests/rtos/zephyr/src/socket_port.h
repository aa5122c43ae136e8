/* SPDX-License-Identifier: Apache-2.0
 *
 * The socket driver (guests/socket) under Zephyr: it waits for a semaphore, which the handler of the device's
 * interrupt gives. The kernel maps its own memory one to one.
 */
#ifndef BULKHEAD_ZEPHYR_SOCKET_PORT_H
#define BULKHEAD_ZEPHYR_SOCKET_PORT_H

#if __has_include(<zephyr/kernel.h>)
#include <zephyr/kernel.h>
#else /* before Zephyr 3.1 */
#include <zephyr.h>
#endif

#include <stdbool.h>
#include <stdint.h>

#include "guests/socket/one_to_one.h"

#define SOCKET_PORT_NEVER UINT64_MAX /* no deadline; others are milliseconds of uptime */

extern struct k_sem socket_port_semaphore;

static inline uint64_t socket_port_after(uint32_t seconds)
{
    return (uint64_t)k_uptime_get() + (uint64_t)seconds * 1000;
}

static inline bool socket_port_is_past(uint64_t deadline)
{
    return (uint64_t)k_uptime_get() >= deadline;
}

static inline void socket_port_wait(uint64_t deadline)
{
    uint64_t now = (uint64_t)k_uptime_get();

    (void)k_sem_take(&socket_port_semaphore,
                     deadline == SOCKET_PORT_NEVER ? K_FOREVER : K_MSEC(deadline > now ? deadline - now : 0));
}

#endif
