// SPDX-License-Identifier: Apache-2.0
// A timer that is enabled and has not expired has one event in the engine's queue; a change cancels it.
#include "machine/devices/generic_timer.h"

#include <utility>

namespace bulkhead::machine::devices {
namespace {

constexpr std::uint32_t enabled = 1;
constexpr std::uint32_t masked = 2;
constexpr std::uint32_t status = 4;
constexpr unsigned __int128 ps_per_s = 1'000'000'000'000;

} // namespace

generic_timer::generic_timer(engine &timeline, std::uint64_t frequency_hz, std::size_t cores, output line)
    : timeline_(timeline), frequency_hz_(frequency_hz), cores_(cores), line_(std::move(line))
{
}

std::uint64_t generic_timer::counter() const
{
    return static_cast<std::uint64_t>(timeline_.now().value * static_cast<unsigned __int128>(frequency_hz_) /
                                      ps_per_s);
}

// The first time at which the counter shows `ticks`; never: beyond what the clock can hold.
picoseconds generic_timer::time_of(std::uint64_t ticks) const
{
    const unsigned __int128 ps = (ticks * ps_per_s + frequency_hz_ - 1) / frequency_hz_;
    return ps >= engine::never.value ? engine::never : picoseconds{static_cast<std::uint64_t>(ps)};
}

bool generic_timer::expired(core_id core, timer_kind which) const
{
    const timer &one = at(core, which);
    return (one.control & enabled) != 0 && counter_of(core, which) >= one.compare;
}

std::uint64_t generic_timer::control(core_id core, timer_kind which) const
{
    return at(core, which).control | (expired(core, which) ? status : 0);
}

std::uint64_t generic_timer::compare(core_id core, timer_kind which) const
{
    return at(core, which).compare;
}

void generic_timer::set_control(core_id core, timer_kind which, std::uint64_t value)
{
    at(core, which).control = static_cast<std::uint32_t>(value & (enabled | masked));
    update(core, which);
}

void generic_timer::set_compare(core_id core, timer_kind which, std::uint64_t value)
{
    at(core, which).compare = value;
    update(core, which);
}

void generic_timer::set_offset(core_id core, std::uint64_t ticks)
{
    cores_[core.value].offset = ticks;
    update(core, timer_kind::virtual_);
}

void generic_timer::update(core_id core, timer_kind which)
{
    timer &one = at(core, which);
    const bool due = expired(core, which);
    if (one.due) {
        timeline_.cancel(*one.due);
        one.due.reset();
    }
    if ((one.control & enabled) != 0 && !due) {
        const std::uint64_t offset = which == timer_kind::virtual_ ? cores_[core.value].offset : 0;
        const std::uint64_t ticks = one.compare + offset;
        const picoseconds when = ticks < one.compare ? engine::never : time_of(ticks);
        if (when != engine::never) {
            one.due = timeline_.at(when, [this, core, which] {
                at(core, which).due.reset();
                update(core, which);
            });
        }
    }
    const bool high = due && (one.control & masked) == 0;
    if (high != one.high) {
        one.high = high;
        line_(core, which, high);
    }
}

} // namespace bulkhead::machine::devices
