// SPDX-License-Identifier: Apache-2.0
//
// State of the driver, for socket.c, and for programs that attack (flood.c), which bypass the driver.
#ifndef BULKHEAD_GUESTS_SOCKET_DRIVER_H
#define BULKHEAD_GUESTS_SOCKET_DRIVER_H

#include <socket_port.h>
#include <stddef.h>
#include <stdint.h>

#include "core/vsock.h"
#include "guests/socket/bounce.h"
#include "guests/socket/socket.h"

// A program may be built with more (guests/CMakeLists.txt).
#ifndef SOCKET_CONNECTIONS
#define SOCKET_CONNECTIONS 8
#endif
#ifndef SOCKET_ENTRIES
#define SOCKET_ENTRIES 32 // at most 64: a word has a bit for each pair of descriptors
#endif

enum {
    most_sockets = SOCKET_CONNECTIONS,
    entries = SOCKET_ENTRIES, // of each queue
    buffer_bytes = 4096,
    buffers = entries /
              2, // a header and a payload each Bytes received and not yet read, of a connection. The other
                 // end is told of reads in steps of the largest packet, so the buffer has room for one more.
    window_step_bytes = 1 << 16,
    window_bytes = 4 * window_step_bytes,
    first_port = 1024,
    // Packets without payload that are under way to one domain. A domain that gives no buffers must not hold
    // all descriptors.
    most_controls = 4,
    connect_timeout_s = 2, // Linux's value (VSOCK_DEFAULT_CONNECT_TIMEOUT)
};

enum registers {
    device_id = 0x008,
    device_features = 0x010,
    device_features_select = 0x014,
    driver_features = 0x020,
    driver_features_select = 0x024,
    queue_select = 0x030,
    queue_entries = 0x038,
    queue_ready = 0x044,
    queue_notify = 0x050,
    interrupt_status = 0x060,
    interrupt_acknowledge = 0x064,
    status_register = 0x070,
    queue_places = 0x080, // low and high word of three addresses, 16 bytes apart
    config_cid = 0x100,
};

// Of features 32 to 63.
enum features {
    feature_version_1 = 1,
    feature_access_platform = 2, // the device reaches only its pool
};

enum status {
    status_acknowledge = 1,
    status_driver = 2,
    status_driver_ok = 4,
    status_features_ok = 8,
};

enum descriptor_flags { descriptor_next = 1, descriptor_write = 2 };

struct descriptor {
    uint64_t at;
    uint32_t bytes;
    uint16_t flags;
    uint16_t next;
};

struct queue {
    _Alignas(4096) struct descriptor descriptors[entries];
    struct {
        uint16_t flags;
        uint16_t index;
        uint16_t ring[entries];
    } available;
    _Alignas(64) struct {
        uint16_t flags;
        uint16_t index;
        struct {
            uint32_t head;
            uint32_t written;
        } ring[entries];
    } used;
    uint16_t seen; // of the used ring
};

enum state {
    socket_free,
    socket_connecting,
    socket_asked, // requested by another domain, and not accepted yet
    socket_open,
    socket_ended, // the other end has closed: received bytes can still be read
    socket_reset,
    socket_left, // forgotten, and the other end is not told yet
};

struct socket {
    enum state state;
    uint64_t peer_cid;
    uint32_t own_port;
    uint32_t peer_port;
    uint32_t sent; // bytes, modulo 2^32
    uint32_t peer_window;
    uint32_t peer_taken;
    uint32_t received;
    uint32_t taken;
    // The part of `taken` that the peer is told of: in whole steps, so that it always has credit for a whole
    // packet.
    uint32_t told;
    uint32_t pending; // operations that wait for a descriptor: bit n is enum vsock_operation n
    uint8_t bytes[window_bytes];
};

// What the device reads and writes, beside payload that is sent.
struct shared {
    struct queue queues[VSOCK_QUEUES];
    struct vsock_header sent_headers[buffers];
    struct vsock_header received_headers[buffers];
    uint8_t received[buffers][buffer_bytes];
    uint32_t event;
};

struct socket_driver {
    uint64_t registers;
    uint64_t cid;
    uint32_t next_port;
    uint32_t free_pairs;       // of descriptors of the sending queue: bit i is descriptors 2i and 2i + 1
    uint32_t waiting;          // sockets with pending operations: bit i is sockets[i]
    uint64_t numbers[buffers]; // of the packet that a pair has or had: the pair, modulo `buffers`
    struct shared *shared;     // `own`, or the beginning of the pool
    struct bounce bounce;
    uint64_t slots[buffers]; // of `bounce`, that a pair holds
    void *pool;
    size_t pool_bytes;
    struct shared own;
    struct socket sockets[most_sockets];
};

extern struct socket_driver socket_driver;

static inline volatile uint16_t *index_of_used(struct queue *queue)
{
    return &queue->used.index;
}

static inline void write_register(uint32_t offset, uint64_t value)
{
    socket_port_write(socket_driver.registers + offset, (uint32_t)value);
}

static inline void notify(uint32_t queue)
{
    socket_port_barrier();
    write_register(queue_notify, queue);
}

static inline void make_available(struct queue *queue, uint32_t head)
{
    queue->available.ring[queue->available.index % entries] = (uint16_t)head;
    socket_port_barrier(); // the entry before the index
    *(volatile uint16_t *)&queue->available.index = (uint16_t)(queue->available.index + 1);
}

static inline void describe(struct queue *queue, uint32_t index, const void *at, size_t bytes, uint32_t flags)
{
    queue->descriptors[index] = (struct descriptor){
        .at = socket_port_physical(at),
        .bytes = (uint32_t)bytes,
        .flags = (uint16_t)flags,
        .next = (uint16_t)(index + 1),
    };
}

#endif
