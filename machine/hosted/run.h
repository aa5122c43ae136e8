// SPDX-License-Identifier: Apache-2.0
// One run of the hypervisor on the simulated machine, with request and answer in JSON
// (src/bulkhead/machine/request.py makes the request). The request names files; everything in it is checked
// here or by the code that uses it.
//
//   request: settings (machine/settings_json.h), board {gic ("gicv2", "gicv3"), gicd_pa, gicr_pa or gicc_pa,
//     gich_pa, gicv_pa, uart ("pl011", "cadence"), uart_pa, uart_irq, maintenance_irq, hypervisor_timer_irq,
//     virtual_timer_irq, physical_timer_irq, timer_hz, event_counters, overflow_irqs[] (0: none), mpidrs[],
//     s2fwb, entry_ps, exit_ps, barrier_ps, dma[] {at, channel_bytes, interrupts[] (one a channel), master,
//     coherent, start_ps, finish_ps, line_ps}, qos[] {at, master}}, package (ELF file with what a loader
//     loads), load_address, owners (file: one byte a frame), pool_bytes, hypervisor (image file), domains[]
//     {program (image file), memory_end, others_at (IPA of physical address 0 in its view of others' memory;
//     0: it has none)}, until_ps (optional: no limit), typed[] {at_ps, text: each character stands for the
//     byte of its number} (optional: nothing), frames[] (physical addresses of pages whose bytes are wanted),
//     frames_file (file for these bytes)
//   while it runs, after each piece of simulated time: console (new output), simulated_ps
//   answer: ending ("off", "time", "idle", "confused", "stopped"), trouble, started_ps, and the counts of
//     machine/python/results.h since the hypervisor reported that everything has started
#pragma once

#include "machine/request/request.h"

namespace bulkhead::machine::hosted {

// Executes a request; a request_run.
nlohmann::json run_request(const nlohmann::json &request, const listener &say);

} // namespace bulkhead::machine::hosted
