// SPDX-License-Identifier: Apache-2.0
//
// The code is a run of instructions that the compiler cannot shorten.
#include "guests/programs/displace_code.h"

#include <stdint.h>

// 64 KiB of instructions in a row, more than the instruction caches of the boards: two instructions that the
// compiler cannot merge with the next ones, 8192 times. They are divided into functions, as the time to
// compile a function grows faster than its length. Each function adds its number first: the compiler would
// merge functions that are equal.
#define TIMES_2(code)   code code
#define TIMES_16(code)  TIMES_2(TIMES_2(TIMES_2(TIMES_2(code))))
#define TIMES_512(code) TIMES_2(TIMES_16(TIMES_16(code)))

#define EACH_PART(do_with)                                                                                   \
    do_with(0) do_with(1) do_with(2) do_with(3) do_with(4) do_with(5) do_with(6) do_with(7) do_with(8)       \
        do_with(9) do_with(10) do_with(11) do_with(12) do_with(13) do_with(14) do_with(15)

#define DEFINE(number)                                                                                       \
    static __attribute__((noinline)) uint64_t part_##number(uint64_t value, uint64_t key)                    \
    {                                                                                                        \
        value += number;                                                                                     \
        TIMES_512(value = (value ^ key) + key;)                                                              \
        return value;                                                                                        \
    }
#define CALL(number) value = part_##number(value, key);

// cppcheck-suppress unknownMacro ; it does not expand a macro in the macro's own argument
EACH_PART(DEFINE)

void displace_code(void)
{
    static volatile uint64_t kept;
    const uint64_t key = kept;
    uint64_t value = kept;

    EACH_PART(CALL)
    kept = value;
}
