/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Checks of a packet's header (virtio 1.2, 5.10.6).
 */
#include "core/vsock.h"

_Static_assert(sizeof(struct vsock_header) == VSOCK_HEADER_BYTES, "the layout is that of the specification");

static bool is_type(uint16_t type, uint64_t features)
{
    return type == VSOCK_TYPE_STREAM || (type == VSOCK_TYPE_SEQPACKET && (features & VSOCK_F_SEQPACKET) != 0);
}

enum vsock_sanity vsock_check(const struct vsock_header *header, uint64_t sender_cid, uint64_t features,
                              uint64_t payload_bytes)
{
    if (header->bytes > payload_bytes) {
        return VSOCK_TRUNCATED;
    }
    if (header->source_cid != sender_cid) {
        return VSOCK_FOREIGN;
    }
    if (!is_type(header->type, features) || header->operation < VSOCK_REQUEST ||
        header->operation > VSOCK_CREDIT_REQUEST || header->bytes > VSOCK_MOST_BYTES ||
        (header->operation != VSOCK_PAYLOAD && header->bytes != 0)) {
        return VSOCK_UNKNOWN;
    }
    return VSOCK_SOUND;
}

struct vsock_header vsock_reset_of(const struct vsock_header *header)
{
    return (struct vsock_header){
        .source_cid = header->destination_cid,
        .destination_cid = header->source_cid,
        .source_port = header->destination_port,
        .destination_port = header->source_port,
        .type = header->type,
        .operation = VSOCK_RESET,
    };
}
