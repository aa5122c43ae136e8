/* SPDX-License-Identifier: Apache-2.0
 *
 * Workarounds of the SMC calling convention 1.1 (DEN0028, DEN0070) as firmware of a Cortex-A72, and of cores
 * that need none, provides them. No predictor state is cleared, since the emulator has none; calls are
 * counted.
 */
#include "firmware.h"

#define SMCCC_ARCH_FEATURES 0x80000001u
#define WORKAROUND_1        0x80008000u
#define WORKAROUND_2        0x80007FFFu
#define WORKAROUND_3        0x80003FFFu
#define VERSION_1_1         0x10001
#define NOT_REQUIRED        1

#define CORTEX_A72 0xD08u

#define UART_FLAGS 0x18u
#define UART_FULL  0x20u

enum workaround { FIRST, SECOND, THIRD, WORKAROUNDS };

static volatile uint32_t calls[MAX_CORES][WORKAROUNDS];

static _Bool core_needs_them(void)
{
    uint64_t midr;

    __asm__("mrs %0, MIDR_EL1" : "=r"(midr));
    return (midr >> 4 & 0xFFF) == CORTEX_A72;
}

static int64_t features(uint64_t function)
{
    switch (function) {
    case SMCCC_VERSION:
    case SMCCC_ARCH_FEATURES:
        return 0;
    case WORKAROUND_1:
    case WORKAROUND_2:
    case WORKAROUND_3:
        return core_needs_them() ? 0 : NOT_REQUIRED;
    default:
        return NOT_SUPPORTED;
    }
}

int64_t speculation_call(uint64_t core, uint64_t function, uint64_t first)
{
    switch (function) {
    case SMCCC_VERSION:
        return VERSION_1_1;
    case SMCCC_ARCH_FEATURES:
        return features(first);
    case WORKAROUND_1:
        calls[core][FIRST]++;
        return 0;
    case WORKAROUND_2:
        calls[core][SECOND] += first != 0;
        return 0;
    case WORKAROUND_3:
        calls[core][THIRD]++;
        return 0;
    default:
        return NOT_SUPPORTED;
    }
}

static void print(char character)
{
    while ((read32(UART_PA + UART_FLAGS) & UART_FULL) != 0) {
    }
    write32(UART_PA, (uint8_t)character);
}

static void print_number(uint32_t value)
{
    char digits[10];
    uint32_t count = 0;

    do {
        digits[count++] = (char)('0' + value % 10);
        value /= 10;
    } while (value != 0);
    while (count != 0) {
        print(digits[--count]);
    }
}

void speculation_report(void)
{
    static const char text[] = "firmware: workarounds";

    print('\n');
    for (const char *at = text; *at != 0; at++) {
        print(*at);
    }
    for (uint32_t i = 0; i < WORKAROUNDS; i++) {
        uint32_t sum = 0;

        for (uint32_t core = 0; core < MAX_CORES; core++) {
            sum += calls[core][i];
        }
        print(' ');
        print_number(sum);
    }
    print('\r');
    print('\n');
}
