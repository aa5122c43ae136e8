// SPDX-License-Identifier: Apache-2.0
// Measures the load of the memory for the regulator; see the header.
#include "machine/regulation/shared_regulator.h"

namespace bulkhead::machine::regulation {

namespace {

constexpr std::uint32_t profile_bits = 32; // width of the controller's counters, of DDRMC and MMDC alike

} // namespace

shared_regulator::shared_regulator(memory_system &memory, const regulator_parameters &wanted,
                                   std::uint64_t line_bytes, picoseconds start)
    : memory_(memory), meter_{{profile_bits, 0}, {profile_bits, 0}, false}, line_bytes_(line_bytes),
      sampled_(start)
{
    regulator_init(&regulator_, &wanted);
    regulator_exchange_init(&exchange_, wanted.regulated, 0);
    const dram::memory_profile profile = memory_.profile(start);
    bytes_ = profile.read.value + profile.written.value;
    std::uint32_t none = 0;
    (void)utilization_measure(&meter_, profile.busy_cycles, profile.cycles, &none);
}

std::uint32_t shared_regulator::step(regulated_core &last, regulator_sample sample, picoseconds now)
{
    const dram::memory_profile profile = memory_.profile(now);
    const std::uint64_t bytes = profile.read.value + profile.written.value;
    sample.has_utilization =
        utilization_measure(&meter_, profile.busy_cycles, profile.cycles, &sample.utilization);
    sample.traffic_events = (bytes - bytes_) / line_bytes_;
    sample.elapsed_ticks = (now - sampled_).value;
    bytes_ = bytes;
    sampled_ = now;
    return regulated_step(&last, &regulator_, &sample);
}

} // namespace bulkhead::machine::regulation
