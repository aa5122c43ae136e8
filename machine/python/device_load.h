// SPDX-License-Identifier: Apache-2.0
// A disk-like or network-like device as a load generator, behind an SMMU or not, while programs run on the
// cores. Made by the bindings from a JSON object; it runs without end.
#pragma once

#include <memory>
#include <string>

#include <nlohmann/json.hpp>

#include "machine/address_space.h"
#include "machine/devices/bus_master.h"
#include "machine/machine.h"

namespace bulkhead::machine {

class device_load {
public:
    // The object: master (name of its port), owner, start_at_ps, line_ps, outstanding_lines,
    // rate_bytes_per_s, coherent; one of disk (base, memory_bytes, command_bytes, queue_depth, reads_memory,
    // seed) and network (ring, buffers, buffer_count, packet_bytes, line_rate_bytes_per_s, seed), whose
    // addresses are those before translation; smmu (space: machine/python/space_json.h; tlb, main,
    // walk_cache: entries, ways; hit_ps, request_ps), or null. Refuses missing keys and impossible values.
    static result<std::unique_ptr<device_load>> make(simulated_machine &machine, const std::string &text);

    // master, bytes (moved), bytes_read, bytes_written, dropped, faults, and of the SMMU lookups, misses,
    // walks, walk_reads, walk_ps.
    [[nodiscard]] nlohmann::json report() const;

private:
    device_load() = default;

    std::string master_;
    std::unique_ptr<devices::bus_traffic> traffic_;
    std::unique_ptr<address_space> space_; // tables of the SMMU
    std::unique_ptr<smmu> smmu_;
    std::unique_ptr<devices::bus_master> master_device_;
};

} // namespace bulkhead::machine
