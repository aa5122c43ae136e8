// SPDX-License-Identifier: Apache-2.0
// The state that regulated cores share: the regulator, their exchange (core/), and the memory controller's
// counters, which give its load. The core that completes an interval calls it (core_driver.h).
#pragma once

#include <functional>
#include <vector>

#include "core/regulated_core.h"
#include "core/utilization.h"
#include "machine/memory_system.h"

namespace bulkhead::machine::regulation {

class shared_regulator {
public:
    // The parameters must be valid (regulator_check()). `line_bytes`: bytes of one traffic event. Interval 0
    // begins at `start`.
    shared_regulator(memory_system &memory, const regulator_parameters &wanted, std::uint64_t line_bytes,
                     picoseconds start);
    shared_regulator(const shared_regulator &) = delete;
    shared_regulator &operator=(const shared_regulator &) = delete;

    [[nodiscard]] regulator_exchange &exchange() { return exchange_; }
    [[nodiscard]] const ::regulator &state() const { return regulator_; }

    // Completes a sample with the controller's counts, and publishes new budgets. Returns the mask of cores
    // whose budget has changed.
    std::uint32_t step(regulated_core &last, regulator_sample sample, picoseconds now);

private:
    memory_system &memory_;
    ::regulator regulator_{};
    regulator_exchange exchange_{};
    utilization_meter meter_;
    std::uint64_t line_bytes_;
    std::uint64_t bytes_ = 0; // bytes moved up to the last sample
    picoseconds sampled_;
};

} // namespace bulkhead::machine::regulation
