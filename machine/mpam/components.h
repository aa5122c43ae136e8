// SPDX-License-Identifier: Apache-2.0
// All memory-system components of a machine, connected to the levels and the memory controller that they
// divide. The machine makes them only if its settings have `mpam`.
#pragma once

#include <memory>
#include <vector>

#include "machine/memory_system.h"
#include "machine/mpam/component.h"

namespace bulkhead::machine::mpam {

class components {
public:
    // The settings must be accepted (machine/mpam/check.h). `memory` is the machine's, before anything runs;
    // its cache levels keep the labels of lines from now on.
    components(const settings &wanted, memory_system &memory);

    [[nodiscard]] const system_settings &made_from() const { return settings_; }
    [[nodiscard]] std::size_t count() const { return all_.size(); }
    [[nodiscard]] component &at(std::size_t index) { return *all_[index]; }

private:
    system_settings settings_;
    std::vector<std::unique_ptr<component>> all_;
};

} // namespace bulkhead::machine::mpam
