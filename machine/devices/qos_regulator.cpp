// SPDX-License-Identifier: Apache-2.0
// Converts register values to rates; see the header.
#include "machine/devices/qos_regulator.h"

namespace bulkhead::machine::devices {

namespace {

namespace reg = qos_register;

constexpr unsigned peak_shift = 24;
constexpr unsigned rate_shift = 20;
constexpr std::uint32_t peak_mask = 0xFFU << peak_shift;
constexpr std::uint32_t burst_mask = 0xFFFF;
constexpr std::uint32_t rate_mask = 0xFFFU << rate_shift;
constexpr std::uint64_t burst_behind_peak = 4;
constexpr std::uint64_t rate_behind_peak = 8;

std::uint32_t mask_of(std::uint64_t offset)
{
    switch (offset) {
    case reg::write_peak:
    case reg::read_peak:
        return peak_mask;
    case reg::write_burst:
    case reg::read_burst:
        return burst_mask;
    case reg::write_rate:
    case reg::read_rate:
        return rate_mask;
    default:
        return ~0U;
    }
}

bool is_register(std::uint64_t offset)
{
    return offset >= reg::first && offset < reg::end && offset % 4 == 0;
}

} // namespace

qos_regulator::qos_regulator(memory_system &memory, std::size_t master, const qos_settings &wanted)
    : memory_(memory), master_(master), settings_(wanted)
{
    for (const std::uint64_t peak : {reg::write_peak, reg::read_peak}) {
        at(peak) = wanted.peak << peak_shift;
        at(peak + burst_behind_peak) = wanted.burst;
        at(peak + rate_behind_peak) = wanted.rate << rate_shift;
    }
    at(reg::control) = (wanted.rate | wanted.peak) != 0 ? reg::enable_write_rate | reg::enable_read_rate : 0;
}

std::uint32_t &qos_regulator::at(std::uint64_t offset)
{
    return registers_[(offset - reg::first) / 4];
}

std::uint32_t qos_regulator::read(std::uint64_t offset) const
{
    return is_register(offset) ? registers_[(offset - reg::first) / 4] : 0;
}

void qos_regulator::write(std::uint64_t offset, std::uint32_t value)
{
    if (is_register(offset)) {
        at(offset) = value & mask_of(offset);
        set();
    }
}

regulator_settings qos_regulator::wanted_of(std::uint64_t peak, std::uint32_t enable) const
{
    if ((read(reg::control) & enable) == 0) {
        return {};
    }
    qos_settings now = settings_;
    now.peak = read(peak) >> peak_shift;
    now.burst = read(peak + burst_behind_peak);
    now.rate = read(peak + rate_behind_peak) >> rate_shift;
    return regulator_of(now, memory_.line_bytes());
}

void qos_regulator::set()
{
    memory_.writes_of(master_).set(wanted_of(reg::write_peak, reg::enable_write_rate));
    memory_.reads_of(master_).set(wanted_of(reg::read_peak, reg::enable_read_rate));
}

} // namespace bulkhead::machine::devices
