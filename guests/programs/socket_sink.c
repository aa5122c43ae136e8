// SPDX-License-Identifier: Apache-2.0
//
// Receives the streams of its domain's first flow, one after the other, and reports of each the bytes, its
// CRC-32, and whether it ended by a reset. Parameters: `receive_port` (given by the tool), `times` [without
// end].
#include "core/crc32.h"
#include "guests/runtime/console.h"
#include "guests/runtime/params.h"
#include "guests/runtime/program.h"
#include "guests/runtime/socket_device.h"
#include "guests/runtime/ticks.h"
#include "guests/runtime/timer.h"
#include "guests/socket/socket.h"

enum { piece_bytes = 4096 };

static uint8_t piece[piece_bytes];

void program_interrupt(uint32_t intid)
{
    socket_interrupt(intid);
}

static void receive_all(struct socket *socket)
{
    uint64_t start = timer_now();
    uint64_t received = 0;
    uint32_t crc = 0;
    size_t bytes;

    while ((bytes = socket_receive(socket, piece, sizeof(piece))) != 0) {
        crc = crc32_update(crc, piece, bytes);
        received += bytes;
    }
    console_printf("report {\"received\": %lu, \"crc\": %u, \"ns\": %lu, \"reset\": %u}\n", received, crc,
                   ticks_to_ns(timer_now() - start, timer_frequency()), (uint32_t)socket_was_reset(socket));
}

void program_main(void)
{
    uint32_t port = (uint32_t)param("receive_port", 0);
    uint64_t times = param("times", UINT64_MAX);

    if (!socket_init()) {
        console_write("socket_sink: there is no socket device\n");
        return;
    }
    console_write("bulkhead: ready\n");
    for (uint64_t i = 0; i < times; i++) {
        struct socket *socket = socket_accept(port);

        receive_all(socket);
        socket_close(socket);
    }
    console_write("socket_sink: done\n");
}
