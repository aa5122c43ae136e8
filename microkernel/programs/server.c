/* SPDX-License-Identifier: Apache-2.0
 *
 * Answers calls with the sum of two words, and with the time since the clock value in the third word.
 */
#include "clock.h"
#include "microkernel/include/microkernel/component.h"
#include "microkernel/include/microkernel/sys.h"
#include "microkernel/programs/say.h"

void component_main(void)
{
    struct sys_words request = {{0, 0, 0, 0}};
    uint32_t since = 0;

    for (;;) {
        request =
            sys_call(SYS_REPLY_WAIT, SLOT_SERVE, request.word[1] + request.word[2], since, clock_read());
        since = clock_read() - request.word[3];
    }
}
