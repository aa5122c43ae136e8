// SPDX-License-Identifier: Apache-2.0
//
// Stream sockets between domains: a driver of the virtio socket device (virtio 1.2, 5.10) with the MMIO
// transport. A few connections at a time. Most calls wait for completion; those below are for programs with
// several connections, and never wait, whatever another domain does. A library of two files, socket.c and
// core/vsock.c, for any system: a header socket_port.h of that system provides waiting and addresses
// (guests/runtime/port has one, guests/rtos others). One task calls at a time; socket_acknowledge() may
// interrupt any call.
#ifndef BULKHEAD_GUESTS_SOCKET_H
#define BULKHEAD_GUESTS_SOCKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct socket;

// Memory that a device reaches which offers VIRTIO_F_ACCESS_PLATFORM: the `restricted-dma-pool` of the device
// tree, aligned to a page. The driver keeps queues and receive buffers there, and copies payload there before
// it sends it. Called before socket_start(), which otherwise refuses such a device.
void socket_use_pool(void *pool, size_t bytes);

// Starts the device with registers at that address, even if it was started before: its connections are lost.
// The caller enables the device's interrupt, level-triggered, before or after. False: there is no socket
// device, or it reaches only a pool, and there is none or a small one.
bool socket_start(uint64_t registers);

// Called in the handler of the device's interrupt; also ends a socket_port_wait().
void socket_acknowledge(void);

// Connects to a port of another domain. NULL: refused, or not answered within two seconds; a driver that is
// just starting may lose a packet.
struct socket *socket_connect(uint64_t cid, uint32_t port);

// Waits for the next connection of another domain to an own port.
struct socket *socket_accept(uint32_t port);

// Sends all bytes, in packets of at most `packet_bytes`. False: the connection has ended before all was
// delivered.
bool socket_send(struct socket *socket, const void *data, size_t bytes, size_t packet_bytes);

// Receives at least one byte, and at most `bytes`. 0: the other end has closed, or the connection was reset.
size_t socket_receive(struct socket *socket, void *data, size_t bytes);

// Whether the connection was reset, without having been closed.
bool socket_was_reset(const struct socket *socket);

// Closes the connection at both ends and forgets it.
void socket_close(struct socket *socket);

// Handles events of the device. True: there was something.
bool socket_poll(void);

// Requests a connection. NULL: there are too many. The connection is open when the other end has accepted,
// and ended if it has refused.
struct socket *socket_ask(uint64_t cid, uint32_t port);
// Asks for the other end's credit, whether it has accepted or not.
void socket_ask_credit(struct socket *socket);
bool socket_is_open(const struct socket *socket);
bool socket_has_ended(const struct socket *socket);

// As socket_accept(), without waiting. NULL: none was requested.
struct socket *socket_accept_asked(uint32_t port);

// Sends one packet. False: not now, since the other end has no room or the device no descriptor. `data`
// belongs to the device until socket_is_sent(*number).
bool socket_offer(struct socket *socket, const void *data, size_t bytes, uint64_t *number);
bool socket_is_sent(uint64_t number);

// As socket_receive(), of bytes that have arrived. 0: nothing.
size_t socket_take(struct socket *socket, void *data, size_t bytes);

// Forgets a connection that has ended.
void socket_forget(struct socket *socket);

#endif
