// SPDX-License-Identifier: Apache-2.0
//
// Output on the domain's PL011. Lines end in '\n' here and in CR LF on the wire. Without a UART in the device
// tree, output is dropped. Not serialised between VCPUs: only one of them should write.
#ifndef BULKHEAD_GUESTS_CONSOLE_H
#define BULKHEAD_GUESTS_CONSOLE_H

#include <stdbool.h>

void console_init(void);

// Writes one character if the UART takes it now. False: its FIFO is full. For callers that must not wait.
bool console_try_put(char c);

// Waits for the UART as long as it takes.
void console_write(const char *text);

// At most 255 characters a call.
__attribute__((format(printf, 1, 2))) void console_printf(const char *format, ...);

#endif
