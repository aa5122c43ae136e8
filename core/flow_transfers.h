/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * The largest number of transfers of a packet (n_i of F4) if it is not declared: it follows from the shortest
 * receive buffers that the device accepts and from where contiguous pieces of memory end. flow_usable_bytes()
 * makes the broker keep to this number.
 */
#ifndef BULKHEAD_CORE_FLOW_TRANSFERS_H
#define BULKHEAD_CORE_FLOW_TRANSFERS_H

#include "core/flow.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The shortest receive buffer that is accepted, header and payload. Since 6.17 Linux offers a page minus the
 * space that it needs behind the data (virtio_vsock.h, VIRTIO_VSOCK_DEFAULT_RX_BUF_SIZE); before, 4096 bytes
 * beside the header. */
#define FLOW_LEAST_BUFFER_BYTES 3776u
/* room for payload in the shortest buffer */
#define FLOW_LEAST_ROOM         (FLOW_LEAST_BUFFER_BYTES - FLOW_CONTROL_BYTES)

/* How many payload bytes the broker uses of a receive buffer with room for `room` bytes, if the packet needs
 * them. 0: the buffer is too short. The whole room is used, except a rest after whole chunks that is shorter
 * than a chunk and than the shortest buffer. Thus a transfer in contiguous memory moves at least the smaller
 * of these two, or ends the packet. */
uint64_t flow_usable_bytes(uint64_t room, uint64_t chunk_bytes);

/* The largest number of transfers of a packet of `bytes` (at least 1) in chunks of `chunk_bytes`.
 * `run_bytes`: for the copying side, the memory of both domains is contiguous only in pieces of so many
 * bytes, at multiples of it; 0: it is contiguous wherever guest-physical addresses are. */
uint64_t flow_most_transfers(uint64_t bytes, uint64_t chunk_bytes, uint64_t run_bytes);

#ifdef __cplusplus
}
#endif

#endif
