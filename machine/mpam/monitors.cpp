// SPDX-License-Identifier: Apache-2.0
// Counts, overflows and captures; see the header.
#include "machine/mpam/monitors.h"

#include <algorithm>

namespace bulkhead::machine::mpam {

void storage_monitor::set(std::uint32_t control, std::uint32_t filter, std::uint64_t bytes,
                          picoseconds ready_from)
{
    if (enabled() && (control & MSMON_CTL_EN) == 0) {
        kept_ = bytes;
    }
    configure(control, filter, ready_from);
}

std::uint32_t storage_monitor::value(std::uint64_t bytes, picoseconds now) const
{
    if (!ready(now)) {
        return MSMON_NRDY;
    }
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(enabled() ? bytes : kept_, MSMON_VALUE));
}

std::uint32_t bandwidth_monitor::controls(const bandwidth_monitor_settings &of, bool interrupts)
{
    std::uint32_t all = MSMON_CTL_EN | MSMON_CTL_MATCH_PARTID | MSMON_CTL_MATCH_PMG | MSMON_CTL_OFLOW_STATUS |
                        MSMON_CTL_OFLOW_FRZ;
    all |= of.capture ? 7U << MSMON_CTL_CAPT_EVNT_SHIFT | MSMON_CTL_CAPT_RESET : 0;
    all |= of.scale != 0 ? MSMON_CTL_SCLEN : 0;
    all |= interrupts ? MSMON_CTL_OFLOW_INTR : 0;
    if (of.bits > 31) {
        all |= MSMON_CTL_OFLOW_STATUS_L | (interrupts ? MSMON_CTL_OFLOW_INTR_L : 0);
    }
    return all;
}

void bandwidth_monitor::set(std::uint32_t control, std::uint32_t filter, picoseconds ready_from)
{
    configure(control, filter, ready_from);
}

bool bandwidth_monitor::count(mpam_label label, access_kind kind, byte_count bytes, picoseconds when)
{
    constexpr std::uint32_t writes_only = 1;
    constexpr std::uint32_t reads_only = 2;
    const std::uint32_t direction = of_.by_direction ? filter() >> MSMON_FLT_MBWU_RWBW_SHIFT : 0;
    const bool wanted =
        direction != (kind == access_kind::write ? reads_only : writes_only) && matches(label);
    if (!enabled() || !ready(when) || !wanted) {
        return false;
    }
    std::uint32_t flags = 0;
    if (!frozen_) {
        const std::uint64_t past = (std::uint64_t{MSMON_VALUE} + 1) << shift();
        bytes_ += bytes.value;
        if (bytes_ >= past) {
            bytes_ %= past;
            flags |= MSMON_CTL_OFLOW_STATUS;
        }
    }
    if (of_.bits > 31 && !long_frozen_) {
        long_ += bytes.value;
        if (long_ > long_mask()) {
            long_ &= long_mask();
            flags |= MSMON_CTL_OFLOW_STATUS_L;
        }
    }
    if (flags != 0 && (control() & MSMON_CTL_OFLOW_FRZ) != 0) {
        frozen_ = true;
        long_frozen_ = true;
    }
    const bool news = (flags & ~control()) != 0;
    set_flags(flags);
    return news;
}

std::uint32_t bandwidth_monitor::value(picoseconds now) const
{
    const std::uint32_t not_ready = not_ready_ || !ready(now) ? MSMON_NRDY : 0;
    return static_cast<std::uint32_t>(bytes_ >> shift()) | not_ready;
}

std::uint64_t bandwidth_monitor::long_value(picoseconds now) const
{
    const std::uint64_t not_ready = long_not_ready_ || !ready(now) ? MSMON_L_NRDY : 0;
    return (long_ & long_mask()) | not_ready;
}

// The counter continues from the new value, and its overflow status is cleared (IHI 0099, RGNQFY).
void bandwidth_monitor::set_value(std::uint32_t value)
{
    bytes_ = std::uint64_t{value & MSMON_VALUE} << shift();
    not_ready_ = (value & MSMON_NRDY) != 0;
    frozen_ = false;
    clear_flags(MSMON_CTL_OFLOW_STATUS);
}

void bandwidth_monitor::set_long_value(std::uint64_t value)
{
    long_ = value & long_mask();
    long_not_ready_ = (value & MSMON_L_NRDY) != 0;
    long_frozen_ = false;
    clear_flags(MSMON_CTL_OFLOW_STATUS_L);
}

void bandwidth_monitor::capture(picoseconds now)
{
    captured_ = value(now);
    long_captured_ = long_value(now);
    be_ready();
    not_ready_ = false;
    long_not_ready_ = false;
    if ((control() & MSMON_CTL_CAPT_RESET) != 0) {
        bytes_ = 0;
        long_ = 0;
    }
}

bool bandwidth_monitor::interrupts() const
{
    const bool is_short =
        (control() & MSMON_CTL_OFLOW_STATUS) != 0 && (control() & MSMON_CTL_OFLOW_INTR) != 0;
    const bool is_long =
        (control() & MSMON_CTL_OFLOW_STATUS_L) != 0 && (control() & MSMON_CTL_OFLOW_INTR_L) != 0;
    return is_short || is_long;
}

} // namespace bulkhead::machine::mpam
