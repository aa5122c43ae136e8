// SPDX-License-Identifier: Apache-2.0
// The performance monitors of a Cortex-A9 (DDI 0388I, chapter 11; PMUv2 of DDI 0406C, C12), fed by its core's
// counts: the cycle counter, six event counters, overflow flags. A counter is computed when it is read. There
// is no overflow interrupt; if software enables one, `missing` is called once.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string_view>

#include "machine/core.h"

namespace bulkhead::machine::armv7::a_profile {

enum class monitor_register : std::uint8_t {
    control,      // PMCR
    enable_set,   // PMCNTENSET
    enable_clear, // PMCNTENCLR
    overflow,     // PMOVSR
    increment,    // PMSWINC
    select,       // PMSELR
    cycles,       // PMCCNTR
    event_type,   // PMXEVTYPER
    event_count,  // PMXEVCNTR
    user_enable,  // PMUSERENR
    interrupt_set,
    interrupt_clear
};

class monitors {
public:
    static constexpr std::uint32_t counters = 6;

    monitors(const core &on, std::function<void(std::string_view)> missing)
        : on_(on), missing_(std::move(missing))
    {
    }

    [[nodiscard]] bool for_users() const { return (user_enable_ & 1U) != 0; }
    [[nodiscard]] std::uint32_t read(monitor_register which);
    void write(monitor_register which, std::uint32_t value);
    void count_exception() { ++exceptions_; }

private:
    static constexpr std::uint32_t cycle_counter = counters; // its index
    static constexpr std::uint32_t cycle_bit = 1U << 31U;
    static constexpr std::uint32_t all_bits = cycle_bit | ((1U << counters) - 1);

    struct counter {
        std::uint32_t event = 0;
        std::uint64_t value = 0; // when the total was `seen`; software reads 32 bits of it
        std::uint64_t seen = 0;  // the event's total
    };

    static std::uint32_t bit_of(std::uint32_t index)
    {
        return index == cycle_counter ? cycle_bit : 1U << index;
    }
    [[nodiscard]] std::uint64_t total(std::uint32_t index) const;
    [[nodiscard]] bool counts(std::uint32_t index) const
    {
        return (control_ & 1U) != 0 && (enabled_ & bit_of(index)) != 0;
    }
    // Updates all counters to the present; called before any of their state is read or changed.
    void settle();
    void set(std::uint32_t index, std::uint64_t value) { counters_[index].value = value; }
    [[nodiscard]] bool has_selected() const { return select_ < counters; }

    const core &on_;
    std::function<void(std::string_view)> missing_;
    std::uint32_t control_ = 0;
    std::uint32_t enabled_ = 0;
    std::uint32_t overflowed_ = 0;
    std::uint32_t select_ = 0;
    std::uint32_t user_enable_ = 0;
    std::uint64_t exceptions_ = 0;
    bool reported_ = false;
    std::array<counter, counters + 1> counters_{};
};

} // namespace bulkhead::machine::armv7::a_profile
