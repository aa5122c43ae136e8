// SPDX-License-Identifier: Apache-2.0
// MPAM's resource monitors: storage that a partition uses in a cache (CSU) and bytes that memory moved
// (MBWU), by PARTID and PMG, with capture, overflow and not-ready behaviour (IHI 0099, chapter 6). They
// consist of registers and counters only; the component feeds them and drives the interrupt line.
#pragma once

#include <cstdint>

#include "core/mpam_registers.h"
#include "machine/mpam/label.h"
#include "machine/mpam/settings.h"
#include "machine/time.h"
#include "machine/types.h"

namespace bulkhead::machine::mpam {

// Common part of both kinds of monitors: a control register, a filter, and the time from which they are
// ready.
class monitor {
public:
    [[nodiscard]] std::uint32_t control() const { return control_; }
    [[nodiscard]] std::uint32_t filter() const { return filter_; }
    [[nodiscard]] bool enabled() const { return (control_ & MSMON_CTL_EN) != 0; }
    [[nodiscard]] bool ready(picoseconds now) const { return now >= ready_from_; }
    [[nodiscard]] bool captures(std::uint32_t event) const
    {
        return event != 0 && (control_ >> MSMON_CTL_CAPT_EVNT_SHIFT & 7U) == event;
    }
    [[nodiscard]] bool matches(mpam_label label) const
    {
        const bool partition =
            (control_ & MSMON_CTL_MATCH_PARTID) == 0 || label.partition == (filter_ & 0xFFFFU);
        const bool group = (control_ & MSMON_CTL_MATCH_PMG) == 0 ||
                           label.monitor_group == (filter_ >> MSMON_FLT_PMG_SHIFT & 0xFFU);
        return partition && group;
    }

protected:
    // `ready_from`: when the monitor is ready if this changes what it measures.
    void configure(std::uint32_t control, std::uint32_t filter, picoseconds ready_from)
    {
        constexpr std::uint32_t measured = MSMON_CTL_EN | MSMON_CTL_MATCH_PARTID | MSMON_CTL_MATCH_PMG;
        if (((control ^ control_) & measured) != 0 || filter != filter_) {
            ready_from_ = ready_from;
        }
        control_ = control;
        filter_ = filter;
    }
    void be_ready() { ready_from_ = {}; }
    void set_flags(std::uint32_t flags) { control_ |= flags; }
    void clear_flags(std::uint32_t flags) { control_ &= ~flags; }

private:
    std::uint32_t control_ = 0;
    std::uint32_t filter_ = 0;
    picoseconds ready_from_{};
};

// CSU: the bytes that a cache holds, measured at each read. A disabled monitor keeps its last value.
class storage_monitor final : public monitor {
public:
    static constexpr std::uint32_t controls(bool capture)
    {
        return MSMON_CTL_EN | MSMON_CTL_MATCH_PARTID | MSMON_CTL_MATCH_PMG |
               (capture ? 7U << MSMON_CTL_CAPT_EVNT_SHIFT : 0);
    }

    // `bytes`: what the cache holds for the filter before the change.
    void set(std::uint32_t control, std::uint32_t filter, std::uint64_t bytes, picoseconds ready_from);
    // The value of MSMON_CSU. `bytes`: what the cache holds for the filter.
    [[nodiscard]] std::uint32_t value(std::uint64_t bytes, picoseconds now) const;
    [[nodiscard]] std::uint32_t captured() const { return captured_; }
    void capture(std::uint64_t bytes, picoseconds now)
    {
        captured_ = value(bytes, now);
        be_ready();
    }

private:
    std::uint64_t kept_ = 0;
    std::uint32_t captured_ = 0;
};

// MBWU: the bytes that memory moved since the monitor became ready.
class bandwidth_monitor final : public monitor {
public:
    explicit bandwidth_monitor(const bandwidth_monitor_settings &of) : of_(of) {}

    static std::uint32_t controls(const bandwidth_monitor_settings &of, bool interrupts);

    void set(std::uint32_t control, std::uint32_t filter, picoseconds ready_from);
    // Counts a request. True if the monitor overflowed and its overflow status was clear.
    bool count(mpam_label label, access_kind kind, byte_count bytes, picoseconds when);

    // MSMON_MBWU and MSMON_MBWU_L.
    [[nodiscard]] std::uint32_t value(picoseconds now) const;
    [[nodiscard]] std::uint64_t long_value(picoseconds now) const;
    void set_value(std::uint32_t value);
    void set_long_value(std::uint64_t value);
    [[nodiscard]] std::uint32_t captured() const { return captured_; }
    [[nodiscard]] std::uint64_t long_captured() const { return long_captured_; }
    void capture(picoseconds now);

    [[nodiscard]] bool overflowed() const
    {
        return (control() & (MSMON_CTL_OFLOW_STATUS | MSMON_CTL_OFLOW_STATUS_L)) != 0;
    }
    // Whether its overflow keeps the interrupt line high.
    [[nodiscard]] bool interrupts() const;

private:
    [[nodiscard]] std::uint32_t shift() const { return (control() & MSMON_CTL_SCLEN) != 0 ? of_.scale : 0; }
    [[nodiscard]] std::uint64_t long_mask() const
    {
        return of_.bits == 44 ? MSMON_L_VALUE_44 : MSMON_L_VALUE_63;
    }

    bandwidth_monitor_settings of_;
    std::uint64_t bytes_ = 0; // of the short counter, not shifted
    std::uint64_t long_ = 0;
    bool frozen_ = false;
    bool long_frozen_ = false;
    bool not_ready_ = false; // as software wrote it
    bool long_not_ready_ = false;
    std::uint32_t captured_ = 0;
    std::uint64_t long_captured_ = 0;
};

} // namespace bulkhead::machine::mpam
