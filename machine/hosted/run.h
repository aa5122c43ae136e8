// SPDX-License-Identifier: Apache-2.0
// One run of the hypervisor on the simulated machine, asked for and answered in JSON: what
// src/bulkhead/machine/ hosted.py sends and reads. Files are named in the request; everything in it is
// checked here or by who uses it.
//
//   request: settings (machine/settings_json.h), board {gicd_pa, gicr_pa, uart_pa, uart_irq, maintenance_irq,
//     hypervisor_timer_irq, virtual_timer_irq, physical_timer_irq, timer_hz, mpidrs[], entry_ps, exit_ps,
//     barrier_ps}, package (ELF file with what a loader loads), load_address, owners (file: one byte a
//     frame), pool_bytes, hypervisor (image file), domains[] {program (image file), memory_end,
//     several_cores}, until_ps, frames[] (physical addresses of pages to be shown), frames_file (where their
//     bytes go)
//   answer: ending ("off", "time", "idle", "confused"), trouble, console, started_ps, and what
//     machine/python/results.h counts
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "machine/types.h"

namespace bulkhead::machine::hosted {

result<nlohmann::json> run_request(const std::string &text);

} // namespace bulkhead::machine::hosted
