/* SPDX-License-Identifier: Apache-2.0
 *
 * Chooses the component with the highest priority that may run; components of equal priority take turns.
 * Reports a killed component to the memory manager, which frees its memory.
 */
#include "microkernel/scheduler/scheduler.h"
#include "microkernel/include/microkernel/component.h"
#include "microkernel/include/microkernel/manager.h"

#define WORD_BITS 32u
#define TICK_NS   1000000u /* tick of rt_sleep() */
#define NEAR_NS   50000u   /* more than the instructions from setting the timer to wfi take */

static bool is_ending;         /* a component with the permission has ended the run */
static uint32_t last = NOBODY; /* the last one that ran: its successors come first among equals */

static uint32_t choose(uint64_t now)
{
    uint32_t best = NOBODY;

    for (uint32_t n = 1; n <= MOST_COMPONENTS; n++) {
        uint32_t i = (last + n) % MOST_COMPONENTS;

        if (jobs_may_run(&table[i], now) && (best == NOBODY || table[i].priority < table[best].priority)) {
            best = i;
        }
    }
    return best;
}

static void end(uint32_t component)
{
    table[component].is_runnable = false;
    if (component != MANAGER) {
        (void)sys_call(SYS_CALL, SLOT_MANAGER, MANAGER_ENDED, component, 0);
    }
}

static void sleep(uint32_t thread, uint32_t ticks, uint64_t now)
{
    struct entry *entry = &table[thread];

    jobs_end(thread, now);
    if (ticks == UINT32_MAX) {
        entry->is_runnable = false;
    }
    entry->wakes = now + (uint64_t)ticks * time_of_ns(TICK_NS);
}

static void handle(uint32_t event, uint32_t thread, uint32_t argument, uint64_t now)
{
    switch (event) {
    case EVENT_TICK:
        last = thread < NOBODY ? thread : last;
        break;
    case EVENT_YIELD:
        sleep(thread, argument, now);
        last = thread;
        break;
    case EVENT_KILLED:
        end(argument);
        break;
    case EVENT_END:
        report_ending(argument);
        is_ending = true;
        break;
    case EVENT_WAITS:
        if (thread < NOBODY) {
            table[thread].is_runnable = false;
        }
        break;
    default:
        break;
    }
}

/* Whether the queue still holds text: the scheduler then keeps giving it to the UART, because no component
 * needs the time. */
static bool console_is_behind(void)
{
    struct sys_words answer = sys_call(SYS_HARDWARE, SLOT_HARDWARE, HW_CONSOLE, 0, 0);

    return answer.word[0] == SYS_OK && answer.word[1] != 0;
}

static void run(uint32_t thread, uint64_t now)
{
    struct sys_words event;
    uint64_t before = now;

    uint64_t left = jobs_next(thread, now) - now;

    time_set_tick(left);
    if (thread == NOBODY) {
        /* A tick between these two instructions would be missed until the next one. This cannot happen if the
         * tick is far away. */
        if (left > time_of_ns(NEAR_NS) && !console_is_behind()) {
            __asm__ volatile("wfi");
        }
        event = sys_call(SYS_DISPATCH, SLOT_NONE, 0, 0, 0);
    } else {
        event = sys_call(SYS_DISPATCH, SLOT_THREADS + thread, 0, 0, 0);
    }
    now = time_now();
    if (thread != NOBODY) {
        jobs_charge(thread, now - before);
    }
    if (event.word[0] == SYS_OK) {
        handle(event.word[1], event.word[2], event.word[3], now);
    } else if (thread != NOBODY) {
        table[thread].is_runnable = false;
    }
}

static uint64_t end_of_run(void)
{
    struct sys_words info = sys_call(SYS_INFO, SLOT_SELF, INFO_RUN, 0, 0);
    uint64_t ns = info.word[1] | (uint64_t)info.word[2] << WORD_BITS;

    return ns != 0 ? time_of_ns(ns) : FOREVER;
}

void component_main(void)
{
    uint64_t ends;
    uint64_t now;

    time_start();
    ends = end_of_run();
    jobs_start(time_now());
    for (now = time_now(); now < ends && !is_ending; now = time_now()) {
        jobs_release(now);
        run(choose(now), now);
    }
    report_all();
    (void)sys_do(SYS_HARDWARE, SLOT_HARDWARE, HW_END, 0, 0);
}
