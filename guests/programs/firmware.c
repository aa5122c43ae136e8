// SPDX-License-Identifier: Apache-2.0
//
// Calls a function of the board's firmware, by SMC, and reports the result. Parameters: `function`
// [0xC2000001], `first`: its first argument [0]. Report: `answer`, -1 for an unknown function.
#include <arch/sysreg.h>

#include "guests/runtime/console.h"
#include "guests/runtime/params.h"
#include "guests/runtime/program.h"

#define OF_THE_CHIP 0xC2000001ull

void program_main(void)
{
    uint64_t answer = cpu_firmware_call(param("function", OF_THE_CHIP), param("first", 0), 0, 0);

    console_write("bulkhead: ready\n");
    console_printf("report {\"answer\": %ld}\n", (long)answer);
}
