// SPDX-License-Identifier: Apache-2.0
// 32-bit counters that stop while profiling is off or frozen.
#include "machine/devices/mmdc_profile.h"

#include <iterator>

namespace bulkhead::machine::devices {

dram::memory_profile mmdc_profile::counted(picoseconds now) const
{
    dram::memory_profile found = before_;
    if (counts()) {
        const dram::memory_profile all = seen_(now);
        found.cycles += all.cycles - since_.cycles;
        found.busy_cycles += all.busy_cycles - since_.busy_cycles;
        found.read.value += all.read.value - since_.read.value;
        found.written.value += all.written.value - since_.written.value;
    }
    return found;
}

std::uint32_t mmdc_profile::read(std::uint64_t offset, picoseconds now) const
{
    if (offset == control) {
        return control_;
    }
    if (offset == filter) {
        return filter_;
    }
    const dram::memory_profile found = counted(now);
    const std::uint64_t values[] = {found.cycles,
                                    found.busy_cycles,
                                    found.read.value / line_bytes_,
                                    found.written.value / line_bytes_,
                                    found.read.value,
                                    found.written.value};
    const std::uint64_t index = (offset - first_counter) / 4;
    return offset >= first_counter && index < std::size(values) ? static_cast<std::uint32_t>(values[index])
                                                                : 0;
}

void mmdc_profile::write(std::uint64_t offset, std::uint32_t value, picoseconds now)
{
    if (offset == filter) {
        filter_ = value;
    }
    if (offset != control) {
        return;
    }
    before_ = (value & reset) != 0 ? dram::memory_profile{} : counted(now);
    control_ = value & (enable | freeze); // the reset takes no time
    if (counts()) {
        since_ = seen_(now);
    }
}

} // namespace bulkhead::machine::devices
