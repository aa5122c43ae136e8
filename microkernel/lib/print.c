/* SPDX-License-Identifier: Apache-2.0
 *
 * Text on the console, 8 characters in each system call.
 */
#include "microkernel/include/microkernel/rt.h"
#include "microkernel/include/microkernel/sys.h"

#define AT_ONCE 8u

void rt_print(const char *text)
{
    while (*text != '\0') {
        uint32_t word[2] = {0, 0};

        for (uint32_t i = 0; i < AT_ONCE && *text != '\0'; i++) {
            word[i / 4u] |= (uint32_t)(uint8_t)*text++ << 8u * (i % 4u);
        }
        (void)sys_call(SYS_HARDWARE, SLOT_HARDWARE, HW_CONSOLE, word[0], word[1]);
    }
}

void rt_print_number(unsigned value)
{
    char text[11];
    char *at = &text[sizeof text - 1u];

    *at = '\0';
    do {
        *--at = (char)('0' + value % 10u);
        value /= 10u;
    } while (value != 0);
    rt_print(at);
}
