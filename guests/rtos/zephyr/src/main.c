/* SPDX-License-Identifier: Apache-2.0
 *
 * How a Zephyr application uses the socket library: the main thread sends a stream along a flow (Kconfig
 * gives its destination), while another, more urgent thread runs every millisecond.
 */
#include "socket_port.h"

#if __has_include(<zephyr/irq.h>)
#include <zephyr/irq.h>
#include <zephyr/sys/device_mmio.h>
#else /* before Zephyr 3.1 */
#include <irq.h>
#include <sys/device_mmio.h>
#endif

#include "core/crc32.h"
#include "guests/socket/socket.h"

#define DEVICE_AT       0x0A000000u /* as in a device tree with a socket (docs/guide/own-guests.md) */
#define DEVICE_BYTES    0x1000u
#define DEVICE_INTID    48
#define DEVICE_PRIORITY 1
#define PERIODIC_STACK  2048
#define BUFFER_BYTES    (1u << 16)

K_SEM_DEFINE(socket_port_semaphore, 0, 1);

static uint8_t data[BUFFER_BYTES];
static volatile uint64_t releases;

static void handle_interrupt(const void *nothing)
{
    ARG_UNUSED(nothing);
    socket_acknowledge();
    k_sem_give(&socket_port_semaphore);
}

static void run_periodically(void *first, void *second, void *third)
{
    struct k_timer timer;

    ARG_UNUSED(first);
    ARG_UNUSED(second);
    ARG_UNUSED(third);
    k_timer_init(&timer, NULL, NULL);
    k_timer_start(&timer, K_MSEC(1), K_MSEC(1));
    for (;;) {
        (void)k_timer_status_sync(&timer);
        releases++;
    }
}

K_THREAD_DEFINE(periodic, PERIODIC_STACK, run_periodically, NULL, NULL, NULL, -1, 0, 0);

static bool start_device(void)
{
    mm_reg_t registers;

    device_map(&registers, DEVICE_AT, DEVICE_BYTES, K_MEM_CACHE_NONE);
    IRQ_CONNECT(DEVICE_INTID, DEVICE_PRIORITY, handle_interrupt, NULL, IRQ_TYPE_LEVEL);
    if (!socket_start(registers)) {
        return false;
    }
    irq_enable(DEVICE_INTID);
    return true;
}

static uint32_t send_all(struct socket *socket, uint32_t *crc)
{
    uint32_t sent = 0;

    while (sent < CONFIG_BULKHEAD_TOTAL_BYTES) {
        uint32_t piece = MIN(CONFIG_BULKHEAD_TOTAL_BYTES - sent, BUFFER_BYTES);

        for (uint32_t i = 0; i < piece; i++) {
            data[i] = (uint8_t)((sent + i) * 7 >> 3);
        }
        if (!socket_send(socket, data, piece, CONFIG_BULKHEAD_SEND_BYTES)) {
            break;
        }
        *crc = crc32_update(*crc, data, piece);
        sent += piece;
    }
    return sent;
}

int main(void)
{
    struct socket *socket = NULL;
    uint32_t crc = 0;
    uint32_t sent;

    if (!start_device()) {
        printk("no socket device\n");
        return 0;
    }
    printk("bulkhead: ready\n");
    while (socket == NULL) { /* the other domain may be starting */
        socket = socket_connect(CONFIG_BULKHEAD_SEND_CID, CONFIG_BULKHEAD_SEND_PORT);
        if (socket == NULL) {
            k_msleep(10);
        }
    }
    sent = send_all(socket, &crc);
    socket_close(socket);
    printk("report {\"sent\": %u, \"crc32\": %u, \"releases\": %u}\n", sent, crc, (uint32_t)releases);
    return 0;
}
