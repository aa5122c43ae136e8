/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * A transfer ends at the end of the packet, of its chunk, of its receive buffer, or of a contiguous piece of
 * memory on either side. The ends of each kind are counted separately, at their worst positions.
 */
#include "core/flow_transfers.h"

static uint64_t least_bytes(uint64_t chunk_bytes)
{
    return chunk_bytes < FLOW_LEAST_ROOM ? chunk_bytes : FLOW_LEAST_ROOM;
}

uint64_t flow_usable_bytes(uint64_t room, uint64_t chunk_bytes)
{
    uint64_t rest = room % chunk_bytes;

    if (room < FLOW_LEAST_ROOM) {
        return 0;
    }
    return rest < least_bytes(chunk_bytes) ? room - rest : room;
}

static uint64_t divide_up(uint64_t value, uint64_t by)
{
    return value / by + (value % by != 0);
}

/* The most ends of pieces that can lie within `bytes` bytes at any position. */
static uint64_t ends_within(uint64_t bytes, uint64_t run_bytes)
{
    return divide_up(bytes - 1, run_bytes);
}

uint64_t flow_most_transfers(uint64_t bytes, uint64_t chunk_bytes, uint64_t run_bytes)
{
    uint64_t buffers =
        divide_up(bytes, least_bytes(chunk_bytes)); /* each buffer but the last takes this many bytes */
    uint64_t most;

    if (run_bytes == 0) {
        return buffers;
    }
    /* Each buffer causes one end. So do the contiguous pieces of the sender's memory and of the buffers: a
     * buffer of n bytes has at most 1 + (n - 2) / run_bytes of them, and all buffers together have as many
     * bytes as the packet. */
    most = 2 * buffers + ends_within(bytes, run_bytes) + (bytes < 2 ? 0 : (bytes - 2) / run_bytes);
    if (run_bytes > chunk_bytes) {
        most += bytes / chunk_bytes;
    }
    return most < bytes ? most : bytes;
}
