// SPDX-License-Identifier: Apache-2.0
// All memory-system components of a machine, connected to the levels and the memory controller that they
// divide. The machine makes it when its settings have MPAM, and not otherwise.
#pragma once

#include <memory>
#include <vector>

#include "machine/memory_system.h"
#include "machine/mpam/component.h"

namespace bulkhead::machine::mpam {

class components {
public:
    // The settings were accepted; the memory is that of the machine, before anything runs. Levels keep labels
    // from now on.
    components(const settings &wanted, memory_system &memory);

    [[nodiscard]] const system_settings &made_from() const { return settings_; }
    [[nodiscard]] std::size_t count() const { return all_.size(); }
    [[nodiscard]] component &at(std::size_t index) { return *all_[index]; }

private:
    system_settings settings_;
    std::vector<std::unique_ptr<component>> all_;
};

} // namespace bulkhead::machine::mpam
