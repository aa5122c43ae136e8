// SPDX-License-Identifier: Apache-2.0
//
// The second VCPU: started when it is first needed in a life; then it executes the given work.
#include <arch/sysreg.h>
#include <stddef.h>

#include "guests/programs/breakout/breakout.h"
#include "guests/runtime/gic.h"
#include "guests/runtime/program.h"
#include "guests/runtime/smp.h"

static void (*volatile wanted)(void);
static volatile bool running;
static bool started;

bool second_is_told_to_stop(void)
{
    return wanted == NULL;
}

void program_secondary(uint32_t cpu)
{
    (void)cpu;
    (void)gic_init_secondary();
    for (;;) {
        void (*work)(void) = wanted;
        if (work != NULL) {
            running = true;
            cpu_sync_memory();
            work();
            cpu_sync_memory();
            running = false;
        }
    }
}

bool second_start(void (*work)(void))
{
    if (!started)
        started = smp_start() > 1;
    if (started) {
        wanted = work;
        while (!running) {
        }
    }
    return started;
}

void second_stop(void)
{
    wanted = NULL;
    while (running) {
    }
}
