// SPDX-License-Identifier: Apache-2.0
// Differences of counts, interval by interval; see the header.
#include "machine/regulation/recorder.h"

namespace bulkhead::machine::regulation {

recorder::recorder(simulated_machine &of, picoseconds start, picoseconds length, looker look)
    : of_(of), length_(length), look_(std::move(look)), before_(totals(start))
{
    of_.timeline().at(start + length_, [this, when = start + length_] { record(when); });
}

interval_sample recorder::totals(picoseconds now) const
{
    const dram::memory_profile profile = of_.memory().profile(now);
    interval_sample found{.end_ps = now.value,
                          .busy_cycles = profile.busy_cycles,
                          .cycles = profile.cycles,
                          .read_bytes = profile.read.value,
                          .written_bytes = profile.written.value,
                          .cores = {}};
    for (std::uint32_t i = 0; i < of_.core_count(); ++i) {
        core_sample one = look_(core_id{i}, now);
        one.lines = of_.core_at(core_id{i}).count_of(core_event::bus_access);
        found.cores.push_back(one);
    }
    return found;
}

void recorder::record(picoseconds now)
{
    const interval_sample after = totals(now);
    interval_sample made = after;
    made.busy_cycles -= before_.busy_cycles;
    made.cycles -= before_.cycles;
    made.read_bytes -= before_.read_bytes;
    made.written_bytes -= before_.written_bytes;
    for (std::size_t i = 0; i < made.cores.size(); ++i) {
        made.cores[i].lines -= before_.cores[i].lines;
        made.cores[i].used -= before_.cores[i].used;
        made.cores[i].throttled_ps -= before_.cores[i].throttled_ps;
    }
    intervals_.push_back(std::move(made));
    before_ = after;
    of_.timeline().at(now + length_, [this, when = now + length_] { record(when); });
}

} // namespace bulkhead::machine::regulation
