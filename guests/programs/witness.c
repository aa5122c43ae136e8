// SPDX-License-Identifier: Apache-2.0
//
// A quiet domain that detects changes of its memory: each step checks every word of its memory, replaces it
// by the next pattern, and prints the step's number and a hash of all that was read since the start, so that
// each line depends on the parameters only. A word that was changed by others ends it at once, with the
// word's address. Parameters: `step_us`, `memory_kib`, `seed`, `steps` (0: forever), `print_every` steps (0:
// never), `watch`: as a manager, it ends the machine a second after the `watch_count` [1] domains from this
// one (its index) on have ended, or after its own last step.
#include <arch/sysreg.h>

#include "guests/runtime/board.h"
#include "guests/runtime/console.h"
#include "guests/runtime/gic.h"
#include "guests/runtime/manager.h"
#include "guests/runtime/memory.h"
#include "guests/runtime/params.h"
#include "guests/runtime/program.h"
#include "guests/runtime/random.h"
#include "guests/runtime/ticks.h"
#include "guests/runtime/timer.h"

#define NOBODY ~0ull

enum { last_words_ns = 1000000000 }; // for output that other domains have yet to print

void program_interrupt(uint32_t intid)
{
    if (intid == board()->virtual_timer_intid)
        timer_stop();
}

static uint64_t pattern(uint64_t seed, uint64_t step, uint64_t index)
{
    return random_mix(seed ^ step << 40 ^ index);
}

// Checks the patterns of `step`, writes those of the next. Adds the values read to *hash.
static bool check_and_move_on(uint64_t seed, uint64_t step, uint64_t *words, uint64_t count, uint64_t *hash)
{
    for (uint64_t i = 0; i < count; i++) {
        uint64_t found = words[i];
        if (found != pattern(seed, step, i)) {
            console_printf("witness: step %lu: word at %lx is %016lx, not %016lx\n", step,
                           (uint64_t)(uintptr_t)&words[i], found, pattern(seed, step, i));
            return false;
        }
        *hash = random_mix(*hash ^ found);
        words[i] = pattern(seed, step + 1, i);
    }
    return true;
}

static bool have_ended(uint64_t first, uint64_t count)
{
    for (uint64_t domain = first; domain < first + count; domain++) {
        struct manager_answer answer = manager_state(domain);

        if (answer.result != 0 ||
            (answer.state != BH_DOMAIN_STATE_STOPPED && answer.state != BH_DOMAIN_STATE_CRASHED))
            return false;
    }
    return true;
}

void program_main(void)
{
    uint64_t watched = param("watch", NOBODY);
    uint64_t watch_count = param("watch_count", 1);
    uint64_t seed = param("seed", 1);
    uint64_t steps = param("steps", 0);
    uint64_t print_every = param("print_every", 10);
    uint64_t step_ticks = ns_to_ticks(param("step_us", 10000) * 1000, timer_frequency());
    struct memory_area area = memory_arena();
    uint64_t *words = (uint64_t *)(uintptr_t)area.start;
    uint64_t count = param("memory_kib", 256) * 1024 / sizeof(*words);
    uint64_t hash = 0;

    if (count > area.bytes / sizeof(*words))
        count = area.bytes / sizeof(*words);
    if (!gic_init()) {
        console_write("witness: no usable interrupt controller\n");
        return;
    }
    gic_enable_private(board()->virtual_timer_intid);
    for (uint64_t i = 0; i < count; i++)
        words[i] = pattern(seed, 0, i);
    console_write("bulkhead: ready\n");
    uint64_t next = timer_now();
    for (uint64_t step = 0; steps == 0 || step < steps; step++) {
        if (!check_and_move_on(seed, step, words, count, &hash))
            return;
        if (print_every != 0 && step % print_every == 0)
            console_printf("witness: step %lu hash %016lx\n", step, hash);
        next += step_ticks;
        timer_sleep_until(next);
        if (watched != NOBODY && have_ended(watched, watch_count))
            break;
    }
    if (watched != NOBODY) {
        timer_sleep_until(timer_now() + ns_to_ticks(last_words_ns, timer_frequency()));
        (void)manager_end_machine();
        for (;;)
            cpu_wait_for_interrupt();
    }
}
