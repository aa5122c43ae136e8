// SPDX-License-Identifier: Apache-2.0
//
// The socket driver (guests/socket) under FreeRTOS: it waits for a semaphore, which the handler of the
// device's interrupt gives. Memory is mapped one to one.
#ifndef BULKHEAD_FREERTOS_SOCKET_PORT_H
#define BULKHEAD_FREERTOS_SOCKET_PORT_H

#include <FreeRTOS.h>
#include <semphr.h>
#include <stdbool.h>
#include <stdint.h>

#include "guests/socket/one_to_one.h"

#define SOCKET_PORT_NEVER UINT64_MAX // no deadline; others are ticks of the kernel

extern SemaphoreHandle_t socket_port_semaphore; // binary; made before socket_start()

static inline uint64_t socket_port_after(uint32_t seconds)
{
    return xTaskGetTickCount() + (uint64_t)seconds * configTICK_RATE_HZ;
}

static inline bool socket_port_is_past(uint64_t deadline)
{
    return xTaskGetTickCount() >= deadline;
}

static inline void socket_port_wait(uint64_t deadline)
{
    TickType_t now = xTaskGetTickCount();
    TickType_t most = deadline == SOCKET_PORT_NEVER ? portMAX_DELAY : deadline > now ? deadline - now : 0;

    (void)xSemaphoreTake(socket_port_semaphore, most);
}

#endif
