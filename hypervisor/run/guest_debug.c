/* SPDX-License-Identifier: Apache-2.0
 *
 * Clears, saves and loads a guest's debug registers. Registers that the core does not have must not be
 * accessed, because the access would trap at EL2.
 */
#include "run/guest_debug.h"
#include <arch/sysreg.h>
#include <stdint.h>

#define COUNT(dfr0, shift) ((uint32_t)((dfr0) >> (shift)&0xF) + 1)
#define BREAKPOINTS_SHIFT  12
#define WATCHPOINTS_SHIFT  20
#define ALL_CLAIMS         0xFFu

#define FOR_EACH_FROM_LAST(X)                                                                                \
    X(15) X(14) X(13) X(12) X(11) X(10) X(9) X(8) X(7) X(6) X(5) X(4) X(3) X(2) X(1) X(0)

static void breakpoints_reset(uint32_t count)
{
    switch (count) {
#define CASE(n)                                                                                              \
    case (n) + 1:                                                                                            \
        sysreg_write(DBGBCR##n##_EL1, 0);                                                                    \
        sysreg_write(DBGBVR##n##_EL1, 0);                                                                    \
        __attribute__((fallthrough));
        FOR_EACH_FROM_LAST(CASE)
#undef CASE
    default:
        break;
    }
}

static void watchpoints_reset(uint32_t count)
{
    switch (count) {
#define CASE(n)                                                                                              \
    case (n) + 1:                                                                                            \
        sysreg_write(DBGWCR##n##_EL1, 0);                                                                    \
        sysreg_write(DBGWVR##n##_EL1, 0);                                                                    \
        __attribute__((fallthrough));
        FOR_EACH_FROM_LAST(CASE)
#undef CASE
    default:
        break;
    }
}

void guest_debug_reset(void)
{
    uint64_t dfr0 = sysreg_read(ID_AA64DFR0_EL1);

    sysreg_write(MDSCR_EL1, 0);
    sysreg_write(MDCCINT_EL1, 0);
    sysreg_write(DBGCLAIMCLR_EL1, ALL_CLAIMS);
    breakpoints_reset(COUNT(dfr0, BREAKPOINTS_SHIFT));
    watchpoints_reset(COUNT(dfr0, WATCHPOINTS_SHIFT));
}

static void breakpoints_save(uint32_t count, uint64_t pairs[GUEST_DEBUG_PAIRS][2])
{
    switch (count) {
#define CASE(n)                                                                                              \
    case (n) + 1:                                                                                            \
        pairs[n][0] = sysreg_read(DBGBCR##n##_EL1);                                                          \
        pairs[n][1] = sysreg_read(DBGBVR##n##_EL1);                                                          \
        __attribute__((fallthrough));
        FOR_EACH_FROM_LAST(CASE)
#undef CASE
    default:
        break;
    }
}

static void watchpoints_save(uint32_t count, uint64_t pairs[GUEST_DEBUG_PAIRS][2])
{
    switch (count) {
#define CASE(n)                                                                                              \
    case (n) + 1:                                                                                            \
        pairs[n][0] = sysreg_read(DBGWCR##n##_EL1);                                                          \
        pairs[n][1] = sysreg_read(DBGWVR##n##_EL1);                                                          \
        __attribute__((fallthrough));
        FOR_EACH_FROM_LAST(CASE)
#undef CASE
    default:
        break;
    }
}

static void breakpoints_load(uint32_t count, const uint64_t pairs[GUEST_DEBUG_PAIRS][2])
{
    switch (count) {
#define CASE(n)                                                                                              \
    case (n) + 1:                                                                                            \
        sysreg_write(DBGBCR##n##_EL1, pairs[n][0]);                                                          \
        sysreg_write(DBGBVR##n##_EL1, pairs[n][1]);                                                          \
        __attribute__((fallthrough));
        FOR_EACH_FROM_LAST(CASE)
#undef CASE
    default:
        break;
    }
}

static void watchpoints_load(uint32_t count, const uint64_t pairs[GUEST_DEBUG_PAIRS][2])
{
    switch (count) {
#define CASE(n)                                                                                              \
    case (n) + 1:                                                                                            \
        sysreg_write(DBGWCR##n##_EL1, pairs[n][0]);                                                          \
        sysreg_write(DBGWVR##n##_EL1, pairs[n][1]);                                                          \
        __attribute__((fallthrough));
        FOR_EACH_FROM_LAST(CASE)
#undef CASE
    default:
        break;
    }
}

void guest_debug_save(struct guest_debug *to)
{
    uint64_t dfr0 = sysreg_read(ID_AA64DFR0_EL1);

    to->control = sysreg_read(MDSCR_EL1);
    to->interrupts = sysreg_read(MDCCINT_EL1);
    to->claims = sysreg_read(DBGCLAIMCLR_EL1);
    breakpoints_save(COUNT(dfr0, BREAKPOINTS_SHIFT), to->breakpoints);
    watchpoints_save(COUNT(dfr0, WATCHPOINTS_SHIFT), to->watchpoints);
}

void guest_debug_load(const struct guest_debug *from)
{
    uint64_t dfr0 = sysreg_read(ID_AA64DFR0_EL1);

    sysreg_write(MDSCR_EL1, from->control);
    sysreg_write(MDCCINT_EL1, from->interrupts);
    sysreg_write(DBGCLAIMCLR_EL1, ALL_CLAIMS & ~from->claims);
    sysreg_write(DBGCLAIMSET_EL1, from->claims);
    breakpoints_load(COUNT(dfr0, BREAKPOINTS_SHIFT), from->breakpoints);
    watchpoints_load(COUNT(dfr0, WATCHPOINTS_SHIFT), from->watchpoints);
}
