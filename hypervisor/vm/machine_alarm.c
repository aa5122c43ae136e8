/* SPDX-License-Identifier: Apache-2.0
 *
 * The clock's alarm is set to the earliest deadline. When it is due, it is set to the next one.
 */
#include "vm/machine_alarm.h"
#include "vm/clock.h"

static uint64_t deadlines[MACHINE_ALARM_COUNT]; /* 0: off */

static void arm(void)
{
    uint64_t earliest = 0;

    for (uint32_t i = 0; i < MACHINE_ALARM_COUNT; i++) {
        if (deadlines[i] != 0 && (earliest == 0 || deadlines[i] < earliest)) {
            earliest = deadlines[i];
        }
    }
    clock_set_alarm(CLOCK_ALARM_MACHINE, earliest);
}

void machine_alarm_set(enum machine_alarm alarm, uint64_t deadline)
{
    deadlines[alarm] = deadline;
    arm();
}

uint32_t machine_alarm_take(void)
{
    uint64_t now = clock_now();
    uint32_t due = 0;

    for (uint32_t i = 0; i < MACHINE_ALARM_COUNT; i++) {
        if (deadlines[i] != 0 && deadlines[i] <= now) {
            deadlines[i] = 0;
            due |= 1u << i;
        }
    }
    arm();
    return due;
}
