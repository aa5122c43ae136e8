/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Packets of the virtio socket device (virtio 1.2, 5.10): the header, and the checks of a header that a guest
 * wrote. All functions work on a copy.
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

/* Flags of a payload of VSOCK_TYPE_SEQPACKET (5.10.6.6.1.1): a message or a record ends with this packet. */
#define VSOCK_FLAG_EOM 1u
#define VSOCK_FLAG_EOR 2u

/* Flag of a shutdown (5.10.6.6): its sender receives no more data. */
#define VSOCK_FLAG_RECEIVES_NO_MORE 1u

#define VSOCK_HEADER_BYTES   44u
#define VSOCK_TYPE_STREAM    1u
#define VSOCK_TYPE_SEQPACKET 2u
#define VSOCK_MOST_BYTES     65536u /* largest payload of a packet, as drivers use it */

/* The header as it is in memory, without a gap at its end. Copies are aligned to words, as code without
 * unaligned accesses would otherwise take each field byte by byte. */
struct __attribute__((packed, aligned(4))) vsock_header {
    uint64_t source_cid;
    uint64_t destination_cid;
    uint32_t source_port;
    uint32_t destination_port;
    uint32_t bytes; /* bytes of payload */
    uint16_t type;
    uint16_t operation; /* enum vsock_operation */
    uint32_t flags;
    uint32_t buffer_bytes; /* size of the sender's receive buffer for this connection */
    uint32_t taken_bytes;  /* bytes that the sender has taken from that buffer, modulo 2^32 */
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
    VSOCK_FOREIGN, /* the source is not the sender: dropped, as the specification demands */
    /* unknown type or operation, or a payload where none is allowed: answered with a reset */
    VSOCK_UNKNOWN,
    VSOCK_TRUNCATED, /* it announces more payload than was sent: the device stops */
};

/* Checks the header of a packet that `sender_cid` sent with `payload_bytes` bytes behind it; `features` are
 * those that its driver accepted. */
enum vsock_sanity vsock_check(const struct vsock_header *header, uint64_t sender_cid, uint64_t features,
                              uint64_t payload_bytes);

/* The reset that answers a packet, in the name of its receiver. */
struct vsock_header vsock_reset_of(const struct vsock_header *header);

#ifdef __cplusplus
}
#endif

#endif
