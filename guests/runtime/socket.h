// SPDX-License-Identifier: Apache-2.0
//
// Stream sockets between domains: a driver of the virtio socket device (virtio 1.2, 5.10) behind the MMIO
// transport. A few connections at a time. Most calls wait until they are done, with interrupts taken
// meanwhile; those below are for programs with several connections, and do not. Programs pass interrupts on
// to socket_interrupt().
#ifndef BULKHEAD_GUESTS_SOCKET_H
#define BULKHEAD_GUESTS_SOCKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct socket;

// Finds the device and starts it, also one that was started before: what it had is lost. False: the domain
// has none, or no interrupt controller.
bool socket_init(void);

// The driver's part of an interrupt; nothing, if it is another one's.
void socket_interrupt(uint32_t intid);

// A connection to a port of another domain. NULL: refused, or not answered within two seconds: a driver that
// is just starting may lose a packet. The timer's interrupt is enabled, and program_interrupt() calls
// timer_stop() for it.
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

// For programs that attack: packets that name another sender, as many as the device has places for, sent
// again as soon as it gives them back. The device is told of them where `tell`. No other call sends after the
// first.
void socket_prepare_flood(void);
void socket_flood(bool tell);

#endif
