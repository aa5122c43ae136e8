// SPDX-License-Identifier: Apache-2.0
//
// Time of a call into the hypervisor and back (F5, hypervisor_call). Reports ticks of the counter; `bulkhead
// bench flows` knows their length. Parameters: `times` [1000], `rest_us` [50] between two calls, `write_kib`
// [0]: begins each rest with writes to that much memory (call_times.h).
#include "guests/programs/call_times.h"

#include "guests/runtime/console.h"
#include "guests/runtime/memory.h"
#include "guests/runtime/params.h"
#include "guests/runtime/program.h"
#include "guests/runtime/ticks.h"
#include "guests/runtime/timer.h"

void program_main(void)
{
    uint64_t rest = ns_to_ticks(param("rest_us", 50) * 1000, timer_frequency());
    struct memory_area arena = memory_arena();
    struct displacer displacer;

    if (!displacer_init(&displacer, &arena, param("write_kib", 0) * 1024)) {
        console_write("calls: too little memory\n");
        return;
    }
    struct call_times found = call_times_measure(param("times", 1000), rest, &displacer);

    if (found.count != 0)
        console_printf("report {\"count\": %lu, \"min\": %lu, \"avg\": %lu, \"max\": %lu, \"median\": %lu}\n",
                       found.count, found.min, found.avg, found.max, found.median);
}
