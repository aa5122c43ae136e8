// SPDX-License-Identifier: Apache-2.0
//
// The call is one that only the broker may make.
#include "guests/programs/call_times.h"

#include <arch/sysreg.h>
#include <bulkhead_layout.h>

#include "guests/programs/displace_code.h"
#include "guests/runtime/timer.h"

static uint64_t taken[CALL_TIMES_MOST];

static uint64_t call(void)
{
    uint64_t x[CALL_REGISTERS] = {BH_HYPERCALL_BROKER_OPEN};
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

struct call_times call_times_measure(uint64_t times, uint64_t rest, struct displacer *displacer)
{
    uint64_t count = times < CALL_TIMES_MOST ? times : CALL_TIMES_MOST;
    uint64_t overhead = nothing();
    uint64_t sum = 0;

    for (uint64_t i = 0; i < count; i++) {
        uint64_t until = timer_now() + rest;
        uint64_t took;

        displacer_pass(displacer);
        if (displacer->buffer.bytes != 0)
            displace_code();
        while (timer_now() < until) {
        }
        took = call();
        taken[i] = took > overhead ? took - overhead : 0;
        sum += taken[i];
    }
    if (count == 0)
        return (struct call_times){0};
    sort(taken, count);
    return (struct call_times){.count = count,
                               .min = taken[0],
                               .avg = (sum + count - 1) / count,
                               .max = taken[count - 1],
                               .median = taken[count / 2]};
}
