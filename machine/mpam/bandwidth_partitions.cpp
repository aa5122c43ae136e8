// SPDX-License-Identifier: Apache-2.0
// The regulator; see the header. Proportional shares are start-time fair queueing (Goyal et al., SIGCOMM
// 1996): each burst advances its partition's tag by the stride, the smallest tag goes first, and a partition
// that was idle returns with the smallest tag of those that wait.
#include "machine/mpam/bandwidth_partitions.h"

#include <algorithm>

#include "core/mpam_registers.h"

namespace bulkhead::machine::mpam {

bandwidth_partitions::bandwidth_partitions(const resource_settings &of, const bus_speed &bus,
                                           std::size_t channels, const partition_map &map,
                                           const std::vector<partition_controls> &controls)
    : of_(of), bus_(bus), map_(map), controls_(controls), uses_(channels * map.internal_count()),
      first_(channels)
{
    controls_changed();
}

bandwidth_partitions::limits bandwidth_partitions::limits_of(const partition_controls &own) const
{
    limits made;
    if (of_.bandwidth) {
        const bandwidth_settings &has = *of_.bandwidth;
        made.window_ps = own.window_ps();
        const std::uint64_t whole = bus_.bytes_in(made.window_ps);
        made.min_bytes = has.min ? minimum_of(own.bandwidth_min, has.bits, whole) : 0;
        made.max_bytes = has.max ? maximum_of(own.bandwidth_max, has.bits, whole) : made.max_bytes;
        made.hard = has.max && (own.bandwidth_max & MPAMCFG_MBW_MAX_HARDLIM) != 0;
        made.any_portion =
            has.portions == 0 ||
            std::ranges::any_of(own.bandwidth_portions, [](std::uint32_t word) { return word != 0; });
        made.every_portion = has_all(own.bandwidth_portions, has.portions);
        const bool shares = has.proportional && (own.proportional & MPAMCFG_MBW_PROP_EN) != 0;
        made.stride = shares ? (own.proportional & MPAMCFG_MBW_PROP_STRIDEM1) + 1 : 1;
    }
    if (of_.priority && of_.priority->internal != 0) {
        const std::uint32_t most = (1U << of_.priority->internal) - 1;
        const std::uint32_t value = own.priority & most;
        made.priority = of_.priority->zero_is_low ? value : most - value;
    }
    return made;
}

void bandwidth_partitions::controls_changed()
{
    limits_.clear();
    windows_.clear();
    proportional_ = false;
    for (const partition_controls &own : controls_) {
        limits_.push_back(limits_of(own));
        const std::uint64_t window = limits_.back().window_ps;
        if (of_.bandwidth && std::ranges::find(windows_, window) == windows_.end()) {
            windows_.push_back(window);
        }
        proportional_ = proportional_ || (of_.bandwidth && of_.bandwidth->proportional &&
                                          (own.proportional & MPAMCFG_MBW_PROP_EN) != 0);
    }
}

// The start of the partition's next part of the window, or `when` if that time is in one of its parts. Here
// all partitions have the component's window.
picoseconds bandwidth_partitions::next_portion(const partition_controls &own, picoseconds when) const
{
    const std::uint32_t portions = of_.bandwidth->portions;
    const std::uint64_t window = std::max<std::uint64_t>(of_.bandwidth->window_ps, portions);
    const std::uint64_t start = when.value / window * window;
    const auto begin_of = [&](std::uint64_t portion) { return start + portion * window / portions; };
    std::uint64_t portion = 0;
    while (portion + 1 < portions && begin_of(portion + 1) <= when.value) {
        ++portion;
    }
    for (std::uint64_t i = portion; i < portion + portions; ++i) {
        const std::uint64_t number = i % portions;
        if ((own.bandwidth_portions[number / 32] >> number % 32 & 1U) != 0) {
            return picoseconds{std::max(when.value, begin_of(i))};
        }
    }
    return when;
}

picoseconds bandwidth_partitions::admit(const request &what, picoseconds when)
{
    const std::uint16_t partition = map_.known(what.label).partition;
    const std::uint16_t internal = map_.internal_of(partition);
    const limits &own = limits_[internal];
    if (!of_.bandwidth || !map_.enabled(partition) || !own.any_portion) {
        return when;
    }
    if (!own.every_portion) {
        const picoseconds from = next_portion(controls_[internal], when);
        if (from > when) {
            return from;
        }
    }
    const use &used = use_of(what.channel, internal);
    const std::uint64_t window = when.value / own.window_ps;
    const bool within = used.entered_in != window || used.entered + what.bytes.value <= own.max_bytes;
    if (own.hard && !within) { // one burst enters in each window, however small the limit
        return picoseconds{(window + 1) * own.window_ps};
    }
    return when;
}

void bandwidth_partitions::entered(const request &what, picoseconds when)
{
    const mpam_label label = map_.checked(what.label);
    const std::uint16_t internal = map_.internal_of(label.partition);
    use &used = use_of(what.channel, internal);
    const std::uint64_t window = when.value / limits_[internal].window_ps;
    used.entered = (used.entered_in == window ? used.entered : 0) + what.bytes.value;
    used.entered_in = window;
    if (entered_) {
        entered_(label, what.kind, what.bytes, when);
    }
}

void bandwidth_partitions::moved(std::size_t channel, std::uint16_t partition, byte_count bytes,
                                 picoseconds when)
{
    const std::uint16_t internal = map_.internal_of(map_.known({partition, 0}).partition);
    const limits &own = limits_[internal];
    use &used = use_of(channel, internal);
    const std::uint64_t window = when.value / own.window_ps;
    used.moved = (used.moved_in == window ? used.moved : 0) + bytes.value;
    used.moved_in = window;
    if (proportional_) {
        used.finished = std::max(used.finished, first_[channel]) + own.stride;
    }
}

dram::standing bandwidth_partitions::standing_of(std::size_t channel, std::uint16_t partition,
                                                 picoseconds when)
{
    const std::uint16_t known = map_.known({partition, 0}).partition;
    const std::uint16_t internal = map_.internal_of(known);
    const limits &own = limits_[internal];
    const use &used = use_of(channel, internal);
    const std::uint64_t moved = used.moved_in == when.value / own.window_ps ? used.moved : 0;
    preference stands = between;
    if (!map_.enabled(known) || !own.any_portion) {
        stands = left_over;
    } else if (moved < own.min_bytes) {
        stands = below_minimum;
    } else if (!own.hard && moved >= own.max_bytes) {
        stands = above_maximum; // bursts that a hard limit admits are within it
    }
    return {.urgency = stands << 16U | own.priority,
            .deadline = proportional_ ? std::max(used.finished, first_[channel]) : 0};
}

picoseconds bandwidth_partitions::stands_until(picoseconds when)
{
    picoseconds next{~std::uint64_t{0} / 2000}; // far in the future, and still convertible to clocks
    for (const std::uint64_t window : windows_) {
        next = std::min(next, picoseconds{(when.value / window + 1) * window});
    }
    return next;
}

} // namespace bulkhead::machine::mpam
