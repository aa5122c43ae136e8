// SPDX-License-Identifier: Apache-2.0
// A whole simulated machine made from settings: cores, shared levels, interconnect, DRAM and the engine that
// orders them. This is the embedding API: code that runs programs, traces or the hypervisor on the machine
// starts here.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "machine/core.h"
#include "machine/engine.h"
#include "machine/frames.h"
#include "machine/memory_system.h"
#include "machine/mpam/components.h"
#include "machine/settings.h"

namespace bulkhead::machine {

class simulated_machine {
public:
    // Refuses impossible settings and says what is wrong. `log`: receives the commands of DRAM channel 0.
    static result<std::unique_ptr<simulated_machine>> make(const settings &wanted,
                                                           std::vector<dram::issued> *log = nullptr);

    [[nodiscard]] const settings &made_from() const { return settings_; }
    [[nodiscard]] engine &timeline() { return timeline_; }
    [[nodiscard]] memory_system &memory() { return memory_; }
    [[nodiscard]] frames &ram() { return ram_; }
    [[nodiscard]] core &core_at(core_id which) { return *cores_.at(which.value); }
    [[nodiscard]] std::size_t core_count() const { return cores_.size(); }
    // Null: the settings have no MPAM.
    [[nodiscard]] mpam::components *mpam() { return mpam_.get(); }

    // Sets whether a range of DRAM is used by several cores at once from now on. Its lines are taken out of
    // all private caches. Must not be called from an event.
    void share(phys_addr start, byte_count size, bool shared);

    // Digest of everything that happened so far; equal for equal runs.
    [[nodiscard]] std::uint64_t digest() const { return memory_.events().value(); }

private:
    simulated_machine(const settings &wanted, std::vector<cache> levels, dram::memory memory);

    settings settings_;
    frames ram_;
    memory_system memory_;
    std::unique_ptr<mpam::components> mpam_;
    engine timeline_;
    std::vector<load_store_unit *> snooped_; // of all cores
    std::vector<std::unique_ptr<core>> cores_;
};

} // namespace bulkhead::machine
