// SPDX-License-Identifier: Apache-2.0
//
// How a FreeRTOS program uses the socket library: a task sends a stream along its domain's first flow, while
// another, more urgent task runs every millisecond. Start, console, timer and interrupt controller are those
// of the runtime (guests/runtime). Parameters: `total` bytes [256 KiB]; the tool adds `send_cid`, `send_port`
// and `send_bytes`. Report: `sent`, `crc32` of it, `releases` of the other task.
#include <FreeRTOS.h>
#include <arch/sysreg.h>
#include <semphr.h>
#include <task.h>

#include "core/crc32.h"
#include "guests/runtime/board.h"
#include "guests/runtime/console.h"
#include "guests/runtime/gic.h"
#include "guests/runtime/params.h"
#include "guests/runtime/program.h"
#include "guests/runtime/psci.h"
#include "guests/runtime/socket_device.h"
#include "guests/runtime/timer.h"
#include "guests/socket/socket.h"

enum { stack_words = 4096, buffer_bytes = 1 << 16, sender_priority = 1, periodic_priority = 2 };

SemaphoreHandle_t socket_port_semaphore;

static struct {
    StaticTask_t sender;
    StaticTask_t periodic;
    StackType_t sender_stack[stack_words];
    StackType_t periodic_stack[stack_words];
    StaticSemaphore_t semaphore;
    uint64_t next_tick; // of the counter
    volatile uint64_t releases;
    uint8_t data[buffer_bytes];
} demo;

noreturn void freertos_failed(const char *file, int line)
{
    console_printf("assertion failed: %s:%u\n", file, (unsigned)line);
    psci_system_off();
}

noreturn void freertos_unexpected(void)
{
    console_printf("unexpected exception: ESR %lx, FAR %lx\n", sysreg_read(ESR_EL1), sysreg_read(FAR_EL1));
    psci_system_off();
}

void freertos_start_tick(void)
{
    demo.next_tick = timer_now() + timer_frequency() / configTICK_RATE_HZ;
    timer_set(demo.next_tick);
    gic_enable_private(board()->virtual_timer_intid);
}

void freertos_next_tick(void)
{
    demo.next_tick += timer_frequency() / configTICK_RATE_HZ;
    timer_set(demo.next_tick);
}

// The port has acknowledged the interrupt, and will end it.
void vApplicationIRQHandler(uint32_t intid)
{
    BaseType_t wakes_a_task = pdFALSE;

    if (intid == board()->virtual_timer_intid) {
        FreeRTOS_Tick_Handler();
        return;
    }
    socket_interrupt(intid);
    (void)xSemaphoreGiveFromISR(socket_port_semaphore, &wakes_a_task);
    portYIELD_FROM_ISR(wakes_a_task);
}

static void run_periodically(void *nothing)
{
    TickType_t last = xTaskGetTickCount();

    (void)nothing;
    for (;;) {
        (void)xTaskDelayUntil(&last, 1);
        demo.releases++;
    }
}

static uint64_t send_all(struct socket *socket, uint64_t total, size_t packet_bytes, uint32_t *crc)
{
    uint64_t sent = 0;

    while (sent < total) {
        size_t piece = total - sent < buffer_bytes ? (size_t)(total - sent) : buffer_bytes;

        for (size_t i = 0; i < piece; i++)
            demo.data[i] = (uint8_t)((sent + i) * 7 >> 3);
        if (!socket_send(socket, demo.data, piece, packet_bytes))
            break;
        *crc = crc32_update(*crc, demo.data, piece);
        sent += piece;
    }
    return sent;
}

static void send(void *nothing)
{
    uint64_t total = param("total", 256 << 10);
    struct socket *socket = NULL;
    uint32_t crc = 0;
    uint64_t sent;

    (void)nothing;
    console_write("bulkhead: ready\n");
    while (socket == NULL) { // the other domain may be starting
        socket = socket_connect(param("send_cid", 0), (uint32_t)param("send_port", 0));
        if (socket == NULL)
            vTaskDelay(10);
    }
    sent = send_all(socket, total, (size_t)param("send_bytes", 4096), &crc);
    socket_close(socket);
    console_printf("report {\"sent\": %lu, \"crc32\": %lu, \"releases\": %lu}\n", sent, (uint64_t)crc,
                   demo.releases);
    psci_system_off();
}

void program_main(void)
{
    socket_port_semaphore = xSemaphoreCreateBinaryStatic(&demo.semaphore);
    if (!socket_init()) { // before the tick: it prepares the interrupt controller, too
        console_write("no socket device, or no interrupt controller\n");
        return;
    }
    (void)xTaskCreateStatic(send, "sender", stack_words, NULL, sender_priority, demo.sender_stack,
                            &demo.sender);
    (void)xTaskCreateStatic(run_periodically, "periodic", stack_words, NULL, periodic_priority,
                            demo.periodic_stack, &demo.periodic);
    vTaskStartScheduler();
}
