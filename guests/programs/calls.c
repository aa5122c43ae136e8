// SPDX-License-Identifier: Apache-2.0
//
// Time of a call into the hypervisor and back (F5, hypervisor_call): of a call that it does not serve, some
// time after the previous one. Reports ticks of the counter; `bulkhead bench flows` knows their length.
// Parameters: `times` [1000], `rest_us` [50] in between.
#include <arch/sysreg.h>
#include <bulkhead_layout.h>

#include "guests/runtime/console.h"
#include "guests/runtime/params.h"
#include "guests/runtime/program.h"
#include "guests/runtime/ticks.h"
#include "guests/runtime/timer.h"

enum { most_times = 10000 };

static uint64_t taken[most_times];

static uint64_t call(void)
{
    uint64_t x[CALL_REGISTERS] = {BH_HYPERCALL_BROKER_OPEN}; // a call that only the broker may make
    uint64_t before = timer_now();

    cpu_hypervisor_call_all(x);
    return timer_now() - before;
}

static uint64_t nothing(void)
{
    uint64_t before = timer_now();

    return timer_now() - before;
}

static void sort(uint64_t *values, uint64_t count)
{
    for (uint64_t gap = count / 2; gap > 0; gap /= 2) {
        for (uint64_t i = gap; i < count; i++) {
            uint64_t value = values[i];
            uint64_t at = i;

            for (; at >= gap && values[at - gap] > value; at -= gap)
                values[at] = values[at - gap];
            values[at] = value;
        }
    }
}

void program_main(void)
{
    uint64_t times = param("times", 1000);
    uint64_t rest = ns_to_ticks(param("rest_us", 50) * 1000, timer_frequency());
    uint64_t overhead = nothing();
    uint64_t sum = 0;

    times = times < most_times ? times : most_times;
    for (uint64_t i = 0; i < times; i++) {
        uint64_t until = timer_now() + rest;
        uint64_t took;

        while (timer_now() < until) {
        }
        took = call();
        taken[i] = took > overhead ? took - overhead : 0;
        sum += taken[i];
    }
    if (times == 0)
        return;
    sort(taken, times);
    console_printf("report {\"count\": %lu, \"min\": %lu, \"avg\": %lu, \"max\": %lu, \"median\": %lu}\n",
                   times, taken[0], (sum + times - 1) / times, taken[times - 1], taken[times / 2]);
}
