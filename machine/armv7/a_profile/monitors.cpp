// SPDX-License-Identifier: Apache-2.0
// Event numbers (DDI 0388I, table 11-5) and the core's counts that they stand for; see the header.
#include "machine/armv7/a_profile/monitors.h"

#include <algorithm>

namespace bulkhead::machine::armv7::a_profile {

namespace {

struct event {
    std::uint32_t number;
    core_event counted;
};

// Event 0x62 and the stall cycles in general are sums of several counts, which total() adds up.
constexpr event events[] = {
    {0x01, core_event::l1i_refill},    {0x02, core_event::l1i_tlb_refill}, {0x03, core_event::l1d_refill},
    {0x04, core_event::memory_access}, {0x05, core_event::l1_tlb_refill},  {0x65, core_event::l1d_write_back},
    {0x82, core_event::l2i_tlb_stall}, {0x83, core_event::l2_tlb_stall},   {0x84, core_event::l1i_tlb_stall},
    {0x85, core_event::l1_tlb_stall},
};

constexpr std::uint32_t instructions = 0x68, cycles = 0x11, exceptions = 0x09, main_tlb_stall = 0x62;

// Bits of PMCR.
constexpr std::uint32_t reset_events = 2, reset_cycles = 4, kept_bits = 0x39;
constexpr std::uint32_t implementer = 0x41093000; // Arm, Cortex-A9
constexpr std::uint32_t count_shift = 11;
constexpr std::uint32_t every_64 = 8; // D: PMCCNTR counts each 64th cycle

} // namespace

std::uint64_t monitors::total(std::uint32_t index) const
{
    if (index == cycle_counter) {
        const std::uint64_t now = on_.counts().cycles;
        return (control_ & every_64) != 0 ? now / 64 : now;
    }
    const std::uint32_t number = counters_[index].event;
    if (const auto found = std::ranges::find(events, number, &event::number); found != std::end(events)) {
        return on_.count_of(found->counted);
    }
    switch (number) {
    case instructions:
        return on_.counts().instructions;
    case cycles:
        return on_.counts().cycles;
    case exceptions:
        return exceptions_;
    case main_tlb_stall:
        return on_.count_of(core_event::l2_tlb_stall) + on_.count_of(core_event::l2i_tlb_stall);
    default:
        return 0; // is not counted
    }
}

void monitors::settle()
{
    for (std::uint32_t index = 0; index <= cycle_counter; ++index) {
        counter &own = counters_[index];
        const std::uint64_t now = total(index);
        if (counts(index)) {
            own.value += now - own.seen;
            overflowed_ |= own.value >> 32U != 0 ? bit_of(index) : 0;
            own.value &= 0xFFFFFFFFU;
        }
        own.seen = now;
    }
}

std::uint32_t monitors::read(monitor_register which)
{
    settle();
    switch (which) {
    case monitor_register::control:
        return implementer | counters << count_shift | control_;
    case monitor_register::enable_set:
    case monitor_register::enable_clear:
        return enabled_;
    case monitor_register::overflow:
        return overflowed_;
    case monitor_register::select:
        return select_;
    case monitor_register::cycles:
        return static_cast<std::uint32_t>(counters_[cycle_counter].value);
    case monitor_register::event_type:
        return has_selected() ? counters_[select_].event : 0;
    case monitor_register::event_count:
        return has_selected() ? static_cast<std::uint32_t>(counters_[select_].value) : 0;
    case monitor_register::user_enable:
        return user_enable_;
    case monitor_register::increment:
    case monitor_register::interrupt_set:
    case monitor_register::interrupt_clear:
        break;
    }
    return 0;
}

void monitors::write(monitor_register which, std::uint32_t value)
{
    settle();
    switch (which) {
    case monitor_register::control:
        control_ = value & kept_bits;
        for (std::uint32_t index = 0; index < counters && (value & reset_events) != 0; ++index) {
            set(index, 0);
        }
        if ((value & reset_cycles) != 0) {
            set(cycle_counter, 0);
        }
        counters_[cycle_counter].seen = total(cycle_counter); // D may have changed
        break;
    case monitor_register::enable_set:
        enabled_ |= value & all_bits;
        break;
    case monitor_register::enable_clear:
        enabled_ &= ~value;
        break;
    case monitor_register::overflow:
        overflowed_ &= ~value;
        break;
    case monitor_register::increment:
        for (std::uint32_t index = 0; index < counters; ++index) {
            if ((value >> index & 1U) != 0 && counters_[index].event == 0 && counts(index)) {
                set(index, counters_[index].value + 1);
            }
        }
        break;
    case monitor_register::select:
        select_ = value & 0x1FU;
        break;
    case monitor_register::cycles:
        set(cycle_counter, value);
        break;
    case monitor_register::event_type:
        if (has_selected()) {
            counters_[select_].event = value & 0xFFU;
            counters_[select_].seen = total(select_);
        }
        break;
    case monitor_register::event_count:
        if (has_selected()) {
            set(select_, value);
        }
        break;
    case monitor_register::user_enable:
        user_enable_ = value & 1U;
        break;
    case monitor_register::interrupt_set:
        if (value != 0 && !reported_) {
            reported_ = true;
            missing_("PMU overflow interrupt");
        }
        break;
    case monitor_register::interrupt_clear:
        break;
    }
}

} // namespace bulkhead::machine::armv7::a_profile
