/* SPDX-License-Identifier: Apache-2.0
 *
 * The scheduler: a component that dispatches the thread of the highest priority that does not sleep, and
 * takes turns among equals. The kernel only switches. A component that was killed is told to the memory
 * manager, which frees what it had.
 */
#include "microkernel/include/microkernel/component.h"
#include "microkernel/include/microkernel/manager.h"
#include "microkernel/include/microkernel/sys.h"
#include "microkernel/kernel/config.h"
#include <stdbool.h>

#define FOREVER UINT32_MAX
#define NOBODY  MOST_COMPONENTS

struct entry {
    bool is_runnable; /* there is one, and it is no idle server */
    uint32_t priority;
    uint32_t sleeps; /* ticks */
};

static struct entry table[MOST_COMPONENTS];
static uint32_t last = NOBODY; /* that ran: those after it come first among equals */

static void read_table(void)
{
    for (uint32_t i = 0; i < MOST_COMPONENTS; i++) {
        struct sys_words info = sys_call(SYS_INFO, SLOT_THREADS + i, INFO_SELF, 0, 0);

        table[i].priority = info.word[2];
        table[i].is_runnable = info.word[0] == SYS_OK && i != MANAGER && i != SCHEDULER;
    }
}

static uint32_t choose(void)
{
    uint32_t best = NOBODY;

    for (uint32_t n = 1; n <= MOST_COMPONENTS; n++) {
        uint32_t i = (last + n) % MOST_COMPONENTS;

        if (table[i].is_runnable && table[i].sleeps == 0 &&
            (best == NOBODY || table[i].priority < table[best].priority)) {
            best = i;
        }
    }
    return best;
}

static void pass(uint32_t ticks)
{
    for (uint32_t i = 0; i < MOST_COMPONENTS; i++) {
        uint32_t *sleeps = &table[i].sleeps;

        if (*sleeps != FOREVER) {
            *sleeps = *sleeps > ticks ? *sleeps - ticks : 0;
        }
    }
}

static void end(uint32_t component)
{
    table[component].is_runnable = false;
    if (component != MANAGER) {
        (void)sys_call(SYS_CALL, SLOT_MANAGER, MANAGER_ENDED, component, 0);
    }
}

static void handle(uint32_t event, uint32_t thread, uint32_t argument)
{
    switch (event) {
    case EVENT_TICK:
        last = thread < NOBODY ? thread : last;
        pass(argument);
        break;
    case EVENT_YIELD:
        table[thread].sleeps = argument;
        last = thread;
        break;
    case EVENT_KILLED:
        end(argument);
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

void component_main(void)
{
    read_table();
    for (;;) {
        uint32_t thread = choose();
        struct sys_words event;

        if (thread == NOBODY) {
            __asm__ volatile("wfi");
            event = sys_call(SYS_DISPATCH, SLOT_NONE, 0, 0, 0);
        } else {
            event = sys_call(SYS_DISPATCH, SLOT_THREADS + thread, 0, 0, 0);
        }
        if (event.word[0] == SYS_OK) {
            handle(event.word[1], event.word[2], event.word[3]);
        } else if (thread != NOBODY) {
            table[thread].is_runnable = false;
        }
    }
}
