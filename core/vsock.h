/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Packets of the virtio socket device (virtio 1.2, 5.10): their header, and what of it can be believed. All
 * here works on a copy.
 */
#ifndef BULKHEAD_CORE_VSOCK_H
#define BULKHEAD_CORE_VSOCK_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define VSOCK_DEVICE_ID   19u
#define VSOCK_QUEUE_RX    0u
#define VSOCK_QUEUE_TX    1u
#define VSOCK_QUEUE_EVENT 2u
#define VSOCK_QUEUES      3u

#define VSOCK_EVENT_TRANSPORT_RESET 0u

/* Features (5.10.3). */
#define VSOCK_F_STREAM    (1ull << 0)
#define VSOCK_F_SEQPACKET (1ull << 1)

/* Flags of a payload of VSOCK_TYPE_SEQPACKET (5.10.6.6.1.1): a message, a record ends with it. */
#define VSOCK_FLAG_EOM 1u
#define VSOCK_FLAG_EOR 2u

#define VSOCK_HEADER_BYTES   44u
#define VSOCK_TYPE_STREAM    1u
#define VSOCK_TYPE_SEQPACKET 2u
#define VSOCK_MOST_BYTES     65536u /* of a packet's payload, as drivers have it */

/* As it lies in memory. */
struct __attribute__((packed)) vsock_header {
    uint64_t source_cid;
    uint64_t destination_cid;
    uint32_t source_port;
    uint32_t destination_port;
    uint32_t bytes; /* of payload */
    uint16_t type;
    uint16_t operation; /* enum vsock_operation */
    uint32_t flags;
    uint32_t buffer_bytes; /* of the sender's receive buffer for this connection ... */
    uint32_t taken_bytes;  /* ... and what it has taken from there, modulo 2^32 */
};

enum vsock_operation {
    VSOCK_REQUEST = 1,
    VSOCK_RESPONSE = 2,
    VSOCK_RESET = 3,
    VSOCK_SHUTDOWN = 4,
    VSOCK_PAYLOAD = 5,
    VSOCK_CREDIT_UPDATE = 6,
    VSOCK_CREDIT_REQUEST = 7,
};

enum vsock_sanity {
    VSOCK_SOUND,
    VSOCK_FOREIGN,   /* it says that another one sent it: dropped, as the specification demands */
    VSOCK_UNKNOWN,   /* a type or an operation that there is not, or a payload where none belongs: reset */
    VSOCK_TRUNCATED, /* it says that there is more than was sent: the device stops */
};

/* What `sender_cid`, with these features accepted, sent: the header, with `payload_bytes` behind it. */
enum vsock_sanity vsock_check(const struct vsock_header *header, uint64_t sender_cid, uint64_t features,
                              uint64_t payload_bytes);

/* The reset that answers a packet, as if its receiver sent it. */
struct vsock_header vsock_reset_of(const struct vsock_header *header);

#ifdef __cplusplus
}
#endif

#endif
