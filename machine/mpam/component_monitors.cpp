// SPDX-License-Identifier: Apache-2.0
// Registers of monitors: selection, configuration, values, captures and overflows.
#include "machine/mpam/component.h"

namespace bulkhead::machine::mpam {

namespace {

enum class kind : std::uint8_t { none, storage, bandwidth };

kind kind_of(std::uint64_t offset)
{
    switch (offset) {
    case MSMON_CFG_CSU_FLT:
    case MSMON_CFG_CSU_CTL:
    case MSMON_CSU:
    case MSMON_CSU_CAPTURE:
        return kind::storage;
    case MSMON_CFG_MBWU_FLT:
    case MSMON_CFG_MBWU_CTL:
    case MSMON_MBWU:
    case MSMON_MBWU_CAPTURE:
    case MSMON_MBWU_L:
    case MSMON_MBWU_L_CAPTURE:
    case MSMON_MBWU_OFSR:
        return kind::bandwidth;
    default:
        return kind::none;
    }
}

constexpr std::uint32_t filter_ids = 0xFFU << MSMON_FLT_PMG_SHIFT | 0xFFFFU;

} // namespace

void component::select_monitor(std::uint32_t value)
{
    const std::uint32_t number = value & 0xFFFFU;
    const std::uint32_t ris = settings_.has_ris() ? value >> MPAM_SEL_RIS_SHIFT & 0xFU : 0;
    if (ris < resources_.size() &&
        number >= std::max(resources_[ris]->storage.size(), resources_[ris]->moved.size())) {
        errors_.report(MPAM_ERROR_MONITOR_RANGE, {.partid_or_monitor = number, .instance = ris});
        return;
    }
    mon_sel_ = number | ris << MPAM_SEL_RIS_SHIFT;
}

// The instance whose monitor of that kind is selected; else null, after reporting an error.
resource *component::selected_monitors(bool storage)
{
    const std::uint32_t ris = monitor_ris();
    const std::uint32_t number = mon_sel_ & 0xFFFFU;
    const errors::syndrome what{.partid_or_monitor = number, .instance = ris};
    if (ris >= resources_.size()) {
        errors_.report(MPAM_ERROR_UNDEFINED_RIS_MON_SEL, what);
        return nullptr;
    }
    resource &own = *resources_[ris];
    const std::size_t count = storage ? own.storage.size() : own.moved.size();
    if (count == 0) {
        if (settings_.has_ris()) { // without instances it is a reserved location
            errors_.report(MPAM_ERROR_RIS_NO_MONITOR, what);
        }
        return nullptr;
    }
    if (number >= count) {
        errors_.report(MPAM_ERROR_MONITOR_RANGE, what);
        return nullptr;
    }
    return &own;
}

std::uint64_t component::bytes_held(const resource &of, const storage_monitor &by) const
{
    std::uint64_t lines = 0;
    for (std::uint32_t partid = 0; partid < map_.partids(); ++partid) {
        for (std::uint32_t group = 0; group < map_.groups(); ++group) {
            const mpam_label label{static_cast<std::uint16_t>(partid), static_cast<std::uint8_t>(group)};
            lines += by.matches(label) ? of.cache->lines_of(label) : 0;
        }
    }
    return lines * of.cache->line_bytes();
}

std::uint64_t component::read_monitor(std::uint64_t offset, picoseconds now)
{
    if (offset == MSMON_CFG_MON_SEL) {
        return mon_sel_;
    }
    if (settle_) {
        settle_(now);
    }
    if (offset == MSMON_OFLOW_SR) {
        return settings_.has_ris() ? overflow_status() : 0;
    }
    const kind which = kind_of(offset);
    const resource *const own = which != kind::none ? selected_monitors(which == kind::storage) : nullptr;
    if (own == nullptr) {
        return 0;
    }
    const std::uint32_t number = mon_sel_ & 0xFFFFU;
    if (which == kind::storage) {
        const storage_monitor &one = own->storage[number];
        switch (offset) {
        case MSMON_CFG_CSU_FLT:
            return one.filter();
        case MSMON_CFG_CSU_CTL:
            return one.control() | MSMON_CTL_TYPE_CSU;
        case MSMON_CSU:
            return one.value(bytes_held(*own, one), now);
        default:
            return one.captured();
        }
    }
    const bandwidth_monitor &one = own->moved[number];
    const bool has_long = own->of.bandwidth_monitors->bits > 31;
    switch (offset) {
    case MSMON_CFG_MBWU_FLT:
        return one.filter();
    case MSMON_CFG_MBWU_CTL:
        return one.control() | MSMON_CTL_TYPE_MBWU;
    case MSMON_MBWU:
        return one.value(now);
    case MSMON_MBWU_CAPTURE:
        return one.captured();
    case MSMON_MBWU_L:
        return has_long ? one.long_value(now) : 0;
    case MSMON_MBWU_L_CAPTURE:
        return has_long ? one.long_captured() : 0;
    default:
        return settings_.has_ris() ? overflow_bits(*own) : 0;
    }
}

bool component::filter_in_range(std::uint32_t filter) const
{
    return (filter & 0xFFFFU) < map_.partids() && (filter >> MSMON_FLT_PMG_SHIFT & 0xFFU) < map_.groups();
}

void component::configure(resource &of, bool storage, std::uint32_t control, std::uint32_t filter,
                          picoseconds now)
{
    if (!filter_in_range(filter)) {
        errors_.report(MPAM_ERROR_MSMONCFG_ID_RANGE, {.partid_or_monitor = filter & 0xFFFFU,
                                                      .group = filter >> MSMON_FLT_PMG_SHIFT & 0xFFU,
                                                      .instance = monitor_ris()});
        return;
    }
    const std::uint32_t number = mon_sel_ & 0xFFFFU;
    const picoseconds ready_from = now + picoseconds{settings_.not_ready_ps};
    if (storage) {
        storage_monitor &one = of.storage[number];
        one.set(control & storage_monitor::controls(of.of.storage_monitors->capture), filter & filter_ids,
                bytes_held(of, one), ready_from);
        return;
    }
    const bandwidth_monitor_settings &has = *of.of.bandwidth_monitors;
    const std::uint32_t by_direction = has.by_direction ? 3U << MSMON_FLT_MBWU_RWBW_SHIFT : 0;
    of.moved[number].set(control & bandwidth_monitor::controls(has, settings_.overflow_interrupt != 0),
                         filter & (filter_ids | by_direction), ready_from);
    follow_overflows();
}

// `whole`: the write has all 64 bits of a 64-bit register.
void component::write_monitor(std::uint64_t offset, std::uint64_t value, bool whole, picoseconds now)
{
    const auto word = static_cast<std::uint32_t>(value);
    if (offset == MSMON_CFG_MON_SEL) {
        select_monitor(word);
        return;
    }
    if (settle_) {
        settle_(now);
    }
    if (offset == MSMON_CAPT_EVNT) {
        if ((word & MSMON_CAPT_EVNT_NOW) != 0) {
            capture(now);
        }
        return;
    }
    const kind which = kind_of(offset);
    resource *const own = which != kind::none ? selected_monitors(which == kind::storage) : nullptr;
    if (own == nullptr) {
        return;
    }
    const std::uint32_t number = mon_sel_ & 0xFFFFU;
    if (which == kind::storage) {
        const storage_monitor &one = own->storage[number];
        if (offset == MSMON_CFG_CSU_FLT) {
            configure(*own, true, one.control(), word, now);
        } else if (offset == MSMON_CFG_CSU_CTL) {
            configure(*own, true, word, one.filter(), now);
        } // the value is measured, and the capture comes from an event: neither is written
        return;
    }
    bandwidth_monitor &one = own->moved[number];
    if (offset == MSMON_CFG_MBWU_FLT) {
        configure(*own, false, one.control(), word, now);
    } else if (offset == MSMON_CFG_MBWU_CTL) {
        configure(*own, false, word, one.filter(), now);
    } else if (offset == MSMON_MBWU) {
        one.set_value(word);
        follow_overflows();
    } else if (offset == MSMON_MBWU_L && own->of.bandwidth_monitors->bits > 31) {
        const std::uint64_t upper = one.long_value(now) & ~std::uint64_t{0xFFFFFFFF};
        one.set_long_value(whole ? value : upper | word);
        follow_overflows();
    }
}

// The local capture event, for all monitors whose CAPT_EVNT selects it.
void component::capture(picoseconds now)
{
    for (const std::unique_ptr<resource> &own : resources_) {
        for (storage_monitor &one : own->storage) {
            if (one.captures(MSMON_CTL_CAPT_EVNT_NOW)) {
                one.capture(bytes_held(*own, one), now);
            }
        }
        for (bandwidth_monitor &one : own->moved) {
            if (one.captures(MSMON_CTL_CAPT_EVNT_NOW)) {
                one.capture(now);
            }
        }
    }
}

// --- Overflows ---

// MSMON_*_OFSR: the overflow status of the 32 monitors around the selected one.
std::uint32_t component::overflow_bits(const resource &of) const
{
    const std::uint32_t first = mon_sel_ & 0xFFE0U;
    std::uint32_t bits = 0;
    for (std::uint32_t i = 0; i < 32 && first + i < of.moved.size(); ++i) {
        bits |= of.moved[first + i].overflowed() ? 1U << i : 0;
    }
    return bits;
}

std::uint32_t component::overflow_status() const
{
    std::uint32_t status = 0;
    for (std::size_t ris = 0; ris < resources_.size(); ++ris) {
        for (const bandwidth_monitor &one : resources_[ris]->moved) {
            status |= one.overflowed() ? MSMON_OFLOW_SR_MBWU | 1U << ris : 0;
        }
    }
    return status;
}

void component::follow_overflows()
{
    bool high = false;
    for (const std::unique_ptr<resource> &own : resources_) {
        for (const bandwidth_monitor &one : own->moved) {
            high = high || one.interrupts();
        }
    }
    if (high != overflow_high_) {
        overflow_high_ = high;
        if (overflow_line_) {
            overflow_line_(high);
        }
    }
}

} // namespace bulkhead::machine::mpam
