/* SPDX-License-Identifier: Apache-2.0
 *
 * The kernel's time, which no component can change. If components can only read the clock, the two are the
 * same. The time has 32 bits; the timer ticks often enough that it is read before it wraps around.
 */
#include "clock.h"
#include "microkernel/scheduler/scheduler.h"

#define NS_PER_S     1000000000u
#define LONGEST_TICK 16 /* per second: 62.5 ms, which fits the timers of all boards */
#define SHORTEST_NS  10000u

static struct {
    uint64_t clocks;
    uint32_t last;
    uint32_t clock_hz;
    uint32_t timer_hz;
} time;

static uint32_t read_time(void)
{
#ifdef CLOCK_CAN_BE_SET
    return sys_call(SYS_INFO, SLOT_SELF, INFO_TIME, 0, 0).word[1];
#else
    return clock_read();
#endif
}

void time_start(void)
{
    time.timer_hz = sys_call(SYS_INFO, SLOT_SELF, INFO_CLOCK, 0, 0).word[2];
    time.clock_hz = sys_call(SYS_INFO, SLOT_SELF, INFO_TIME, 0, 0).word[2];
    time.last = read_time();
}

uint64_t time_now(void)
{
    uint32_t now = read_time();

    time.clocks += now - time.last;
    time.last = now;
    return time.clocks;
}

uint64_t time_of_ns(uint64_t ns)
{
    return ns / NS_PER_S * time.clock_hz + ns % NS_PER_S * time.clock_hz / NS_PER_S;
}

uint64_t time_in_ns(uint64_t clocks)
{
    return clocks / time.clock_hz * NS_PER_S + clocks % time.clock_hz * NS_PER_S / time.clock_hz;
}

void time_set_tick(uint64_t clocks)
{
    uint64_t most = time.clock_hz / LONGEST_TICK;
    uint64_t least = time_of_ns(SHORTEST_NS);
    uint64_t bounded = clocks > most ? most : clocks < least ? least : clocks;
    uint32_t tick = (uint32_t)(bounded * time.timer_hz / time.clock_hz);

    (void)sys_do(SYS_HARDWARE, SLOT_HARDWARE, HW_TICK, tick, 0);
}
