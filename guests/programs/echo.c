// SPDX-License-Identifier: Apache-2.0
//
// Echoes each typed line, which it receives by the UART's interrupt; powers off at an empty line. Shows that
// input reaches a domain.
#include <arch/mmio.h>
#include <arch/sysreg.h>

#include "guests/runtime/board.h"
#include "guests/runtime/console.h"
#include "guests/runtime/gic.h"
#include "guests/runtime/program.h"

enum {
    uart_data = 0x00,
    uart_flags = 0x18,
    uart_interrupt_mask = 0x38,
    uart_interrupt_clear = 0x44,
    flag_receive_empty = 1 << 4,
    interrupts_of_receiver = 1 << 4 | 1 << 6, // trigger level, timeout
    line_bytes = 80,
    queue_bytes = 256, // a power of two: indexes wrap around
};

// Written by the interrupt handler at `tail`, read by main at `head`.
static struct {
    volatile uint8_t bytes[queue_bytes];
    volatile uint32_t head;
    volatile uint32_t tail;
} queue;

void program_interrupt(uint32_t intid)
{
    uint64_t uart = board()->uart_base;

    if (intid != board()->uart_intid)
        return;
    mmio_write32(uart + uart_interrupt_clear, interrupts_of_receiver);
    while ((mmio_read32(uart + uart_flags) & flag_receive_empty) == 0) {
        uint8_t byte = (uint8_t)mmio_read32(uart + uart_data);
        if (queue.tail - queue.head < queue_bytes)
            queue.bytes[queue.tail++ % queue_bytes] = byte;
    }
}

// Waits for the next byte and returns it. Interrupts are masked before and after: one that comes after the
// check ends WFI.
static char next(void)
{
    char byte;

    while (queue.head == queue.tail) {
        cpu_wait_for_interrupt();
        cpu_unmask_interrupts();
        cpu_mask_interrupts();
    }
    byte = (char)queue.bytes[queue.head % queue_bytes];
    queue.head++;
    return byte;
}

void program_main(void)
{
    char line[line_bytes];
    uint32_t length = 0;

    if (!gic_init()) {
        console_write("echo: no interrupt controller\n");
        return;
    }
    gic_enable_shared(board()->uart_intid);
    mmio_write32(board()->uart_base + uart_interrupt_mask, interrupts_of_receiver);
    console_write("bulkhead: ready\n");
    for (;;) {
        char c = next();
        if (c != '\r' && c != '\n') {
            line[length] = c;
            length += length + 1 < line_bytes ? 1 : 0;
            continue;
        }
        if (length == 0)
            return;
        line[length] = 0;
        console_printf("echo: %s\n", line);
        length = 0;
    }
}
