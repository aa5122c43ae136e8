// SPDX-License-Identifier: Apache-2.0
// One run of the hypervisor on the simulated machine, asked for and answered in JSON
// (src/bulkhead/machine/request.py makes the request). Files are named in it; everything is checked here or
// by who uses it.
//
//   request: settings (machine/settings_json.h), board {gic ("gicv2", "gicv3"), gicd_pa, gicr_pa or gicc_pa,
//     gich_pa, gicv_pa, uart ("pl011", "cadence"), uart_pa, uart_irq, maintenance_irq, hypervisor_timer_irq,
//     virtual_timer_irq, physical_timer_irq, timer_hz, event_counters, overflow_irqs[] (0: none), mpidrs[],
//     s2fwb, entry_ps, exit_ps, barrier_ps, dma[] {at, channel_bytes, interrupts[] (one a channel), master,
//     coherent, start_ps, finish_ps, line_ps}, qos[] {at, master}}, package (ELF file with what a loader
//     loads), load_address, owners (file: one byte a frame), pool_bytes, hypervisor (image file), domains[]
//     {program (image file), memory_end, others_at (IPA at which it sees others' physical address 0; 0: it
//     does not)}, until_ps (unsaid: no limit), typed[] {at_ps, text: characters that stand for the bytes of
//     their numbers} (unsaid: nothing), frames[] (physical addresses of pages to be shown), frames_file
//     (where their bytes go)
//   while it runs, after each piece of simulated time: console (what is new), simulated_ps
//   answer: ending ("off", "time", "idle", "confused", "stopped"), trouble, started_ps, and what
//     machine/python/results.h counts, since the hypervisor said that all had started
#pragma once

#include "machine/request/request.h"

namespace bulkhead::machine::hosted {

// A request_run.
nlohmann::json run_request(const nlohmann::json &request, const listener &say);

} // namespace bulkhead::machine::hosted
