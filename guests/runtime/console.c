// SPDX-License-Identifier: Apache-2.0
//
// The transmitting half of a PL011 (Arm DDI 0183), polled. Baud rate and clock are left as they are found.
#include "guests/runtime/console.h"

#include <arch/mmio.h>

#include "guests/runtime/board.h"
#include "guests/runtime/format.h"

enum {
    uart_data = 0x00,
    uart_flags = 0x18,
    uart_line_control = 0x2C,
    uart_control = 0x30,
    uart_interrupt_mask = 0x38,
    flag_transmit_full = 1 << 5,
    line_8_bits = 3 << 5,
    line_fifos = 1 << 4,
    control_enable = 1 << 0,
    control_transmit = 1 << 8,
    control_receive = 1 << 9,
};

void console_init(void)
{
    uint64_t base = board()->uart_base;

    if (base == 0)
        return;
    mmio_write32(base + uart_interrupt_mask, 0);
    mmio_write32(base + uart_line_control, line_8_bits | line_fifos);
    mmio_write32(base + uart_control, control_enable | control_transmit | control_receive);
}

bool console_try_put(char c)
{
    uint64_t base = board()->uart_base;

    if (base == 0)
        return true;
    if ((mmio_read32(base + uart_flags) & flag_transmit_full) != 0)
        return false;
    mmio_write32(base + uart_data, (unsigned char)c);
    return true;
}

static void put(char c)
{
    while (!console_try_put(c)) {
    }
}

void console_write(const char *text)
{
    for (; *text != 0; text++) {
        if (*text == '\n')
            put('\r');
        put(*text);
    }
}

void console_printf(const char *format, ...)
{
    char buffer[256];
    struct text text;
    va_list arguments;

    text_start(&text, buffer, sizeof(buffer));
    va_start(arguments, format);
    text_append_list(&text, format, arguments);
    va_end(arguments);
    console_write(buffer);
}
