// SPDX-License-Identifier: Apache-2.0
//
// The domain's socket device, for the driver in guests/socket.
#ifndef BULKHEAD_GUESTS_SOCKET_DEVICE_H
#define BULKHEAD_GUESTS_SOCKET_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

// Finds the device in the device tree and starts it, with its interrupt. False: the domain has no such
// device, or no interrupt controller.
bool socket_init(void);

// Handles the device's interrupt; does nothing for other interrupts.
void socket_interrupt(uint32_t intid);

#endif
