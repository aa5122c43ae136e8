/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * How many transfers a packet takes at most (n_i of F4), where nobody says it: of the shortest receive
 * buffers that the device accepts, and where pieces of memory end. The broker keeps to what is counted here
 * by flow_usable_bytes().
 */
#ifndef BULKHEAD_CORE_FLOW_TRANSFERS_H
#define BULKHEAD_CORE_FLOW_TRANSFERS_H

#include "core/flow.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Of a receive buffer, header and payload. Linux offers a page less what it needs behind the data, since 6.17
 * (virtio_vsock.h, VIRTIO_VSOCK_DEFAULT_RX_BUF_SIZE); before, 4096 bytes beside the header. */
#define FLOW_LEAST_BUFFER_BYTES 3776u
#define FLOW_LEAST_ROOM         (FLOW_LEAST_BUFFER_BYTES - FLOW_CONTROL_BYTES) /* for payload */

/* Of a receive buffer with room for so much payload: how much of it the broker uses, where the packet needs
 * it. 0: the buffer is too short. All of the room, but no rest after whole chunks that is shorter than a
 * chunk and than the shortest buffer: so a transfer in contiguous memory moves the smaller of these two at
 * least, or ends the packet. */
uint64_t flow_usable_bytes(uint64_t room, uint64_t chunk_bytes);

/* Transfers of a packet of `bytes` (1 at least) in chunks, at most. `run_bytes`: memory of both domains is
 * contiguous for who copies only in pieces of so many bytes, at multiples of it; 0: wherever it is for the
 * guest. */
uint64_t flow_most_transfers(uint64_t bytes, uint64_t chunk_bytes, uint64_t run_bytes);

#ifdef __cplusplus
}
#endif

#endif
