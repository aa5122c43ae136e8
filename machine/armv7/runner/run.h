// SPDX-License-Identifier: Apache-2.0
// One run of an image for a 32-bit Arm board on the simulated machine, with request and answer in JSON
// (src/bulkhead/machine/armv7.py makes the request). Everything in the request is checked here or by the code
// that uses it.
//
//   request: settings (machine/settings_json.h), profile ("armv7-m"), core {settings of the profile's
//     processor; armv7-m: interrupts, priority_bits, mpu_regions, caches (bool), words_per_cycle,
//     entry_cycles, exit_cycles, tail_chain_cycles}, memory[] {at, size_bytes} (all of the board's, including
//     DRAM), devices[] {type, at, interrupt (optional: 0), clock_hz (timers; optional for an stm32-usart:
//     without it its line is as fast as its driver)} (runner/board.h), image (ELF file), until_ps (optional:
//     no limit), until_line (ECMAScript regular expression; the run ends with the first console line in which
//     it is found; optional)
//   while it runs: console (a line), simulated_ps (when its end was sent)
//     mark (the option of a DBG that the program has executed), counts (as in the answer, up to then)
//   answer: ending ("line", "time", "idle": nothing is due, "stopped": from outside, or the processor's:
//     "halted": it waits for an interrupt and none can come, "lockup", "reset"), trouble, the counts of
//     machine/python/results.h, and the processor's counts; armv7-m: exceptions {name: entries}, mpu {faults,
//     misses (software loaded a region), miss_cycles (sum for misses, from fault to return),
//     longest_miss_cycles, miss_costs[] (pairs of cycles and number)}; armv7-a: exceptions, locked[],
//     walk_costs[] {asid, costs[]} (pairs; walks for data and code of unprivileged code in that address
//     space), kernel_walk_costs[] (the same of privileged code); not_implemented[] (instructions)
#pragma once

#include "machine/request/request.h"

namespace bulkhead::machine::armv7 {

// Executes a request; a request_run.
nlohmann::json run_request(const nlohmann::json &request, const listener &say);

} // namespace bulkhead::machine::armv7
