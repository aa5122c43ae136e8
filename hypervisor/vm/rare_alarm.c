/* SPDX-License-Identifier: Apache-2.0
 *
 * Sets the clock's alarm to the earliest deadline, and when that is due, to the next one.
 */
#include "vm/rare_alarm.h"
#include "vm/clock.h"
#include "vm/cpu.h"

static void arm(const uint64_t deadlines[RARE_ALARM_COUNT])
{
    uint64_t earliest = 0;

    for (uint32_t i = 0; i < RARE_ALARM_COUNT; i++) {
        if (deadlines[i] != 0 && (earliest == 0 || deadlines[i] < earliest)) {
            earliest = deadlines[i];
        }
    }
    clock_set_alarm(CLOCK_ALARM_RARE, earliest);
}

void rare_alarm_set(enum rare_alarm alarm, uint64_t deadline)
{
    uint64_t *deadlines = this_cpu()->rare_alarms;

    deadlines[alarm] = deadline;
    arm(deadlines);
}

uint32_t rare_alarm_take(void)
{
    uint64_t *deadlines = this_cpu()->rare_alarms;
    uint64_t now = clock_now();
    uint32_t due = 0;

    for (uint32_t i = 0; i < RARE_ALARM_COUNT; i++) {
        if (deadlines[i] != 0 && deadlines[i] <= now) {
            deadlines[i] = 0;
            due |= 1u << i;
        }
    }
    arm(deadlines);
    return due;
}
