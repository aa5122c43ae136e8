// SPDX-License-Identifier: Apache-2.0
//
// Sends a stream to the destination of its domain's first flow. Parameters: `send_cid`, `send_port`,
// `send_bytes` (of a packet; all three are given by the tool), `total` [1 MiB], `times` [1] connections one
// after the other. Tries again after a refusal. Reports the bytes sent and their CRC-32.
#include "core/crc32.h"
#include "guests/runtime/board.h"
#include "guests/runtime/console.h"
#include "guests/runtime/gic.h"
#include "guests/runtime/memory.h"
#include "guests/runtime/params.h"
#include "guests/runtime/program.h"
#include "guests/runtime/socket_device.h"
#include "guests/runtime/ticks.h"
#include "guests/runtime/timer.h"
#include "guests/socket/socket.h"

enum { piece_bytes = 1 << 17, pauses_per_s = 20 };

void program_interrupt(uint32_t intid)
{
    if (intid == board()->virtual_timer_intid)
        timer_stop();
    socket_interrupt(intid);
}

static void fill(uint8_t *piece, uint64_t at)
{
    for (uint64_t i = 0; i < piece_bytes; i++)
        piece[i] = (uint8_t)((at + i) * 7 + ((at + i) >> 8) + ((at + i) >> 16));
}

static bool send_all(struct socket *socket, uint8_t *piece, uint64_t total, uint64_t packet_bytes)
{
    uint32_t crc = 0;
    uint64_t start = timer_now();
    uint64_t sent = 0;

    while (sent < total) {
        uint64_t bytes = total - sent < piece_bytes ? total - sent : piece_bytes;

        fill(piece, sent);
        if (!socket_send(socket, piece, bytes, packet_bytes))
            break;
        crc = crc32_update(crc, piece, bytes);
        sent += bytes;
    }
    console_printf("report {\"sent\": %lu, \"crc\": %u, \"ns\": %lu, \"reset\": %u}\n", sent, crc,
                   ticks_to_ns(timer_now() - start, timer_frequency()), (uint32_t)socket_was_reset(socket));
    return sent == total;
}

// The other domain may not have started, or not restarted yet.
static struct socket *connect_patiently(void)
{
    struct socket *socket;

    while ((socket = socket_connect(param("send_cid", 0), (uint32_t)param("send_port", 0))) == NULL)
        timer_sleep_until(timer_now() + timer_frequency() / pauses_per_s);
    return socket;
}

void program_main(void)
{
    struct memory_area arena = memory_arena();
    uint64_t times = param("times", 1);

    if (!socket_init() || arena.bytes < piece_bytes) {
        console_write("socket_source: there is no socket device, or no memory\n");
        return;
    }
    gic_enable_private(board()->virtual_timer_intid);
    console_write("bulkhead: ready\n");
    for (uint64_t i = 0; i < times; i++) {
        struct socket *socket = connect_patiently();

        (void)send_all(socket, (uint8_t *)arena.start, param("total", 1 << 20), param("send_bytes", 4096));
        socket_close(socket);
    }
    console_write("socket_source: done\n");
}
