// SPDX-License-Identifier: Apache-2.0
// Register semantics of the performance monitors. Every change has the same steps: count up to now with the
// old configuration, change it, and set up watches for the new one.
#include "machine/devices/pmu.h"

#include <algorithm>

namespace bulkhead::machine::devices {

namespace {

constexpr std::uint32_t pmcr_e = 1U << 0U;
constexpr std::uint32_t pmcr_p = 1U << 1U;
constexpr std::uint32_t pmcr_c = 1U << 2U;
constexpr std::uint32_t pmcr_d = 1U << 3U;
constexpr std::uint32_t pmcr_dp = 1U << 5U;
constexpr std::uint32_t pmcr_lc = 1U << 6U;
constexpr std::uint32_t pmcr_kept = pmcr_e | pmcr_d | 1U << 4U | pmcr_dp | pmcr_lc;
constexpr std::uint32_t pmcr_n_shift = 11;

constexpr std::uint32_t type_p = 31;
constexpr std::uint32_t type_u = 30;
constexpr std::uint32_t type_nsk = 29;
constexpr std::uint32_t type_nsu = 28;
constexpr std::uint32_t type_nsh = 27;
constexpr std::uint32_t type_filters = 0xFC000000U;
constexpr std::uint32_t type_event = 0x3FFU;

constexpr std::uint64_t mdcr_hpmn = 0x1F;
constexpr std::uint64_t mdcr_hpme = 1U << 7U;
constexpr std::uint64_t mdcr_hpmd = 1U << 17U;

constexpr std::uint64_t cycles_divided = 64; // PMCR.D
constexpr std::uint64_t word = 0xFFFFFFFFU;

bool bit(std::uint64_t of, std::uint32_t number)
{
    return (of >> number & 1U) != 0;
}

} // namespace

pmu::pmu(std::uint32_t counters, source from)
    : count_(std::clamp(counters, 1U, max_counters)), from_(std::move(from)), mdcr_(count_)
{
    asked_.fill(never);
}

template <class Function> void pmu::for_each(Function &&function)
{
    for (std::uint32_t index = 0; index < count_; ++index) {
        function(index);
    }
    function(cycle_counter);
}

std::uint32_t pmu::hpmn() const
{
    return std::min(static_cast<std::uint32_t>(mdcr_ & mdcr_hpmn), count_);
}

std::uint32_t pmu::visible() const
{
    return level_ == 2 ? count_ : hpmn();
}

std::uint32_t pmu::visible_set() const
{
    return static_cast<std::uint32_t>((std::uint64_t{1} << visible()) - 1) | 1U << cycle_counter;
}

std::uint16_t pmu::event_of(std::uint32_t index) const
{
    return index == cycle_counter ? pmu_event::cpu_cycles
                                  : static_cast<std::uint16_t>(counters_[index].type & type_event);
}

bool pmu::is_implemented(std::uint16_t event) const
{
    if (event >= place_of_own) {
        return event == from_.own_event;
    }
    return bit(event < 32 ? from_.implemented0 : from_.implemented1, event % 32U);
}

bool pmu::is_enabled(std::uint32_t index) const
{
    const bool on = is_hypervisors(index) ? (mdcr_ & mdcr_hpme) != 0 : (pmcr_ & pmcr_e) != 0;
    return on && bit(enabled_, index);
}

bool pmu::counts_here(std::uint32_t index) const
{
    const std::uint32_t type = counters_[index].type;
    if (level_ == 0) {
        return bit(type, type_u) == bit(type, type_nsu);
    }
    if (level_ == 1) {
        return bit(type, type_p) == bit(type, type_nsk);
    }
    const bool prohibited = (mdcr_ & mdcr_hpmd) != 0 &&
                            (index == cycle_counter ? (pmcr_ & pmcr_dp) != 0 : !is_hypervisors(index));
    return bit(type, type_nsh) && !prohibited;
}

std::uint64_t pmu::wrap_mask(std::uint32_t index) const
{
    return index == cycle_counter && (pmcr_ & pmcr_lc) != 0 ? ~std::uint64_t{0} : word;
}

// Counts `times` further events. The cycle counter always has 64 bits; without PMCR.LC it overflows at 32
// bits, but is not cut there.
void pmu::advance(std::uint32_t index, std::uint64_t times)
{
    counter &own = counters_[index];
    const std::uint64_t mask = wrap_mask(index);
    const bool overflow = times > mask - (own.value & mask);
    const std::uint64_t wraps = mask == word ? ((own.value & word) + times) >> 32U : (overflow ? 1U : 0U);
    own.value += times;
    if (index != cycle_counter) {
        own.value &= word;
    }
    if (!overflow) {
        return;
    }
    overflowed_ |= 1U << index;
    const std::uint32_t next = index + 1;
    if (index % 2 == 0 && next < count_ && event_of(next) == pmu_event::chain && is_enabled(next)) {
        advance(next, wraps);
    }
}

void pmu::sync()
{
    for_each([this](std::uint32_t index) {
        const std::uint16_t event = event_of(index);
        if (!is_implemented(event)) {
            return;
        }
        counter &own = counters_[index];
        const std::uint64_t total = from_.total(event);
        if (is_enabled(index) && counts_here(index)) {
            const bool divided = index == cycle_counter && (pmcr_ & (pmcr_d | pmcr_lc)) == pmcr_d;
            advance(index, divided ? total / cycles_divided - own.seen / cycles_divided : total - own.seen);
        }
        own.seen = total;
    });
}

// Overflows without an interrupt are found when software reads the registers; only those with an interrupt
// are watched.
void pmu::ask()
{
    std::array<std::uint64_t, places> wanted{};
    wanted.fill(never);
    for_each([&](std::uint32_t index) {
        const std::uint16_t event = event_of(index);
        const bool chained = index % 2 == 0 && index + 1 < count_ && event_of(index + 1) == pmu_event::chain;
        const bool interrupts = bit(interrupt_, index) || (chained && bit(interrupt_, index + 1));
        if (!interrupts || !is_implemented(event) || !is_enabled(index) || !counts_here(index)) {
            return;
        }
        const counter &own = counters_[index];
        const std::uint64_t mask = wrap_mask(index);
        const std::uint64_t left = mask - (own.value & mask); // the carry overflows, too
        const bool divided = index == cycle_counter && (pmcr_ & (pmcr_d | pmcr_lc)) == pmcr_d;
        const std::uint64_t target = divided ? (own.seen / cycles_divided + left + 1) * cycles_divided
                                             : (left >= never - own.seen - 1 ? never : own.seen + left + 1);
        wanted[place_of(event)] = std::min(wanted[place_of(event)], target);
    });
    for (std::size_t place = 0; place < wanted.size(); ++place) {
        if (wanted[place] != asked_[place]) {
            asked_[place] = wanted[place];
            const bool own = place == place_of_own;
            from_.watch(own ? from_.own_event : static_cast<std::uint16_t>(place), wanted[place]);
        }
    }
}

bool pmu::line_level() const
{
    std::uint32_t open = mdcr_ & mdcr_hpme ? ~0U : 0U; // of the hypervisor's counters
    const std::uint32_t guests =
        static_cast<std::uint32_t>((std::uint64_t{1} << hpmn()) - 1) | 1U << cycle_counter;
    open = (pmcr_ & pmcr_e) != 0 ? open | guests : open & ~guests;
    return (overflowed_ & interrupt_ & open) != 0;
}

void pmu::settle()
{
    for_each([this](std::uint32_t index) {
        if (is_implemented(event_of(index))) {
            counters_[index].seen = from_.total(event_of(index));
        }
    });
    ask();
    if (const bool high = line_level(); high != line_) {
        line_ = high;
        from_.line(high);
    }
}

void pmu::set_exception_level(std::uint32_t level)
{
    if (level != level_) {
        sync();
        level_ = level;
        settle();
    }
}

void pmu::reached()
{
    asked_.fill(never); // the watch has been reached: set it again
    sync();
    settle();
}

std::uint32_t pmu::selected(pmu_register which, std::uint32_t index) const
{
    return which == pmu_register::pmxevtyper || which == pmu_register::pmxevcntr ? selr_ : index;
}

std::uint64_t pmu::read(pmu_register which, std::uint32_t index)
{
    sync();
    settle();
    const std::uint32_t place = selected(which, index);
    switch (which) {
    case pmu_register::pmcr:
        return pmcr_ | visible() << pmcr_n_shift;
    case pmu_register::pmcntenset:
    case pmu_register::pmcntenclr:
        return enabled_ & visible_set();
    case pmu_register::pmovsset:
    case pmu_register::pmovsclr:
        return overflowed_ & visible_set();
    case pmu_register::pmintenset:
    case pmu_register::pmintenclr:
        return interrupt_ & visible_set();
    case pmu_register::pmswinc:
        return 0;
    case pmu_register::pmselr:
        return selr_;
    case pmu_register::pmccntr:
        return counters_[cycle_counter].value;
    case pmu_register::pmccfiltr:
        return counters_[cycle_counter].type;
    case pmu_register::pmceid0:
        return from_.implemented0 | 1U << pmu_event::sw_incr | 1U << pmu_event::chain;
    case pmu_register::pmceid1:
        return from_.implemented1;
    case pmu_register::pmuserenr:
        return userenr_;
    case pmu_register::pmxevcntr:
    case pmu_register::pmevcntr:
        return place < visible() ? counters_[place].value : 0;
    case pmu_register::pmxevtyper:
    case pmu_register::pmevtyper:
        return place < visible() || place == cycle_counter ? counters_[place].type : 0;
    case pmu_register::mdcr_el2:
        return mdcr_;
    }
    return 0;
}

void pmu::write_pmcr(std::uint64_t value)
{
    if ((value & pmcr_p) != 0) {
        for (std::uint32_t index = 0; index < visible(); ++index) {
            counters_[index].value = 0;
        }
    }
    if ((value & pmcr_c) != 0) {
        counters_[cycle_counter].value = 0;
    }
    pmcr_ = static_cast<std::uint32_t>(value) & pmcr_kept;
}

void pmu::increment_by_software(std::uint32_t set)
{
    for (std::uint32_t index = 0; index < visible(); ++index) {
        if (bit(set, index) && event_of(index) == pmu_event::sw_incr && is_enabled(index) &&
            counts_here(index)) {
            advance(index, 1);
        }
    }
}

void pmu::write(pmu_register which, std::uint64_t value, std::uint32_t index)
{
    sync();
    const auto low = static_cast<std::uint32_t>(value);
    const std::uint32_t set = low & visible_set();
    const std::uint32_t place = selected(which, index);
    switch (which) {
    case pmu_register::pmcr:
        write_pmcr(value);
        break;
    case pmu_register::pmcntenset:
        enabled_ |= set;
        break;
    case pmu_register::pmcntenclr:
        enabled_ &= ~set;
        break;
    case pmu_register::pmovsset:
        overflowed_ |= set;
        break;
    case pmu_register::pmovsclr:
        overflowed_ &= ~set;
        break;
    case pmu_register::pmintenset:
        interrupt_ |= set;
        break;
    case pmu_register::pmintenclr:
        interrupt_ &= ~set;
        break;
    case pmu_register::pmswinc:
        increment_by_software(set);
        break;
    case pmu_register::pmselr:
        selr_ = low & 0x1FU;
        break;
    case pmu_register::pmccntr:
        counters_[cycle_counter].value = value;
        break;
    case pmu_register::pmccfiltr:
        counters_[cycle_counter].type = low & type_filters;
        break;
    case pmu_register::pmuserenr:
        userenr_ = low & 0xFU;
        break;
    case pmu_register::pmxevcntr:
    case pmu_register::pmevcntr:
        if (place < visible()) {
            counters_[place].value = low;
        }
        break;
    case pmu_register::pmxevtyper:
    case pmu_register::pmevtyper:
        if (place == cycle_counter) {
            counters_[place].type = low & type_filters;
        } else if (place < visible()) {
            counters_[place].type = low & (type_filters | type_event);
        }
        break;
    case pmu_register::mdcr_el2:
        mdcr_ = value;
        break;
    case pmu_register::pmceid0:
    case pmu_register::pmceid1:
        break;
    }
    settle();
}

} // namespace bulkhead::machine::devices
