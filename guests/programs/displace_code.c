// SPDX-License-Identifier: Apache-2.0
//
// The code is a run of instructions that the compiler cannot shorten.
#include "guests/programs/displace_code.h"

#include <stdint.h>

// 64 KiB of instructions in a row, more than the instruction caches of the boards: two instructions that the
// compiler cannot merge with the next ones, 8192 times.
#define TIMES_2(code)    code code
#define TIMES_16(code)   TIMES_2(TIMES_2(TIMES_2(TIMES_2(code))))
#define TIMES_8192(code) TIMES_2(TIMES_16(TIMES_16(TIMES_16(code))))

void displace_code(void)
{
    static volatile uint64_t kept;
    const uint64_t key = kept;
    uint64_t value = kept;

    // cppcheck-suppress unknownMacro ; it does not expand a macro in the macro's own argument
    TIMES_8192(value = (value ^ key) + key;)
    kept = value;
}
