// SPDX-License-Identifier: Apache-2.0
//
// Sends packets that a correct driver does not send.
#include "guests/socket/flood.h"

#include "guests/socket/socket_driver.h"

void socket_prepare_flood(void)
{
    struct queue *queue = &socket_driver.shared->queues[VSOCK_QUEUE_TX];

    socket_driver.shared->sent_headers[0] = (struct vsock_header){
        .source_cid = socket_driver.cid + 1000,
        .destination_cid = socket_driver.cid,
        .type = VSOCK_TYPE_STREAM,
        .operation = VSOCK_PAYLOAD,
    };
    for (uint32_t i = 0; i < entries; i++) {
        describe(queue, i, &socket_driver.shared->sent_headers[0], VSOCK_HEADER_BYTES, 0);
        make_available(queue, i);
    }
}

void socket_flood(bool tell)
{
    struct queue *queue = &socket_driver.shared->queues[VSOCK_QUEUE_TX];

    while (queue->seen != *index_of_used(queue)) {
        socket_port_barrier();
        make_available(queue, queue->used.ring[queue->seen % entries].head);
        queue->seen++;
    }
    if (tell)
        notify(VSOCK_QUEUE_TX);
}
