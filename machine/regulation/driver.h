// SPDX-License-Identifier: Apache-2.0
// Budgets and regulators on the cores of a machine without a hypervisor: programs, traces and generators run
// under the same policy (core/) as VCPUs do at EL2. The code that runs the machine makes one and keeps it as
// long as the machine runs.
#pragma once

#include <memory>
#include <vector>

#include "machine/machine.h"
#include "machine/regulation/core_driver.h"
#include "machine/regulation/recorder.h"
#include "machine/regulation/settings.h"

namespace bulkhead::machine::regulation {

class driver {
public:
    // Budgets apply from `start` on. Call it outside of a run. Refuses impossible settings and says what is
    // wrong.
    static result<std::unique_ptr<driver>> make(simulated_machine &of, const settings &wanted,
                                                picoseconds start);
    driver(const driver &) = delete;
    driver &operator=(const driver &) = delete;
    ~driver() = default;

    [[nodiscard]] const std::vector<std::unique_ptr<core_driver>> &cores() const { return cores_; }
    // null: no feedback regulator
    [[nodiscard]] const shared_regulator *shared() const { return shared_.get(); }
    [[nodiscard]] const recorder *series() const { return series_.get(); } // null: no time series
    [[nodiscard]] picoseconds start() const { return start_; }

private:
    driver(simulated_machine &of, const settings &wanted, const regulator_parameters *regulator,
           picoseconds start);
    [[nodiscard]] core_sample look(core_id which, picoseconds now) const;

    picoseconds start_;
    std::unique_ptr<shared_regulator> shared_;
    std::vector<std::unique_ptr<core_driver>> cores_;
    std::unique_ptr<recorder> series_;
};

} // namespace bulkhead::machine::regulation
