// SPDX-License-Identifier: Apache-2.0
//
// Stream sockets between domains: a driver of the virtio socket device (virtio 1.2, 5.10) behind the MMIO
// transport. A few connections at a time; calls wait until they are done, with interrupts taken meanwhile.
// Programs pass interrupts on to socket_interrupt().
#ifndef BULKHEAD_GUESTS_SOCKET_H
#define BULKHEAD_GUESTS_SOCKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct socket;

// Finds the device and starts it. False: the domain has none, or no interrupt controller.
bool socket_init(void);

// The driver's part of an interrupt; nothing, if it is another one's.
void socket_interrupt(uint32_t intid);

// A connection to a port of another domain. NULL: refused.
struct socket *socket_connect(uint64_t cid, uint32_t port);

// The next connection of another domain to an own port.
struct socket *socket_accept(uint32_t port);

// Sends all, in packets of at most `packet_bytes`. False: the connection has ended before all was delivered.
bool socket_send(struct socket *socket, const void *data, size_t bytes, size_t packet_bytes);

// Receives at least a byte, and at most `bytes`. 0: the other end has closed, or the connection was reset.
size_t socket_receive(struct socket *socket, void *data, size_t bytes);

// Whether it ended by a reset that nobody asked for.
bool socket_was_reset(const struct socket *socket);

// Closes it at both ends and forgets it.
void socket_close(struct socket *socket);

#endif
