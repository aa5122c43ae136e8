// SPDX-License-Identifier: Apache-2.0
//
// Stream sockets between domains: a driver of the virtio socket device (virtio 1.2, 5.10) behind the MMIO
// transport. A few connections at a time. Most calls wait until they are done; those below are for programs
// with several connections, and do not. A library of two files, socket.c and core/vsock.c, for any system: a
// header socket_port.h of that system says how it waits, and where its memory is (guests/runtime/port has
// one, guests/rtos others). One task calls at a time; socket_acknowledge() may interrupt any call.
#ifndef BULKHEAD_GUESTS_SOCKET_H
#define BULKHEAD_GUESTS_SOCKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct socket;

// Starts the device whose registers are there, also one that was started before: what it had is lost. The
// device's interrupt is to be enabled by the caller, level-triggered, before or after. False: there is no
// socket device.
bool socket_start(uint64_t registers);

// In the handler of the device's interrupt, which also ends a socket_port_wait().
void socket_acknowledge(void);

// A connection to a port of another domain. NULL: refused, or not answered within two seconds: a driver that
// is just starting may lose a packet.
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

// Takes in what has come. True: there was something.
bool socket_poll(void);

// Asks for a connection. NULL: there are too many. It is open when the other end has accepted, and ended if
// that has refused.
struct socket *socket_ask(uint64_t cid, uint32_t port);
// Asks how much room the other end has, whether it has accepted or not.
void socket_ask_credit(struct socket *socket);
bool socket_is_open(const struct socket *socket);
bool socket_has_ended(const struct socket *socket);

// As socket_accept(), of those that have been asked for. NULL: none.
struct socket *socket_accept_asked(uint32_t port);

// Sends one packet. False: not now, the other end has no room or the device no descriptor. `data` is the
// device's until socket_is_sent(*number).
bool socket_offer(struct socket *socket, const void *data, size_t bytes, uint64_t *number);
bool socket_is_sent(uint64_t number);

// As socket_receive(), of what is there. 0: nothing.
size_t socket_take(struct socket *socket, void *data, size_t bytes);

// Forgets one that has ended.
void socket_forget(struct socket *socket);

#endif
