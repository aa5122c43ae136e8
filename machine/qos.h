// SPDX-License-Identifier: Apache-2.0
// How the registers of a QoS-400 regulator limit the traffic of a master (CoreLink QoS-400 Network
// Interconnect Advanced Quality of Service, programmer's model): rates are fractions of the interconnect's
// clock, in transactions. Used for settings with these numbers and for register writes by software
// (machine/devices/qos_regulator.h).
#pragma once

#include <algorithm>

#include "machine/settings.h"

namespace bulkhead::machine {

inline constexpr std::uint32_t qos_rate_one = 1U << 12U; // one transaction in each clock
inline constexpr std::uint32_t qos_peak_one = 1U << 8U;

// Rounded down: never more than the registers allow.
[[nodiscard]] constexpr std::uint64_t qos_bytes_per_s(const qos_settings &wanted, std::uint32_t part,
                                                      std::uint32_t one)
{
    constexpr std::uint64_t ps_per_s = 1'000'000'000'000; // the product with 4095 and 4096 bytes fits in 64
                                                          // bits
    return ps_per_s * wanted.transaction_bytes * part / wanted.clock_ps / one;
}

// The machine admits single lines, and a transaction consists of several: the last line of a burst may be
// sent together with the first.
[[nodiscard]] constexpr regulator_settings regulator_of(const qos_settings &wanted, std::uint64_t line_bytes)
{
    if (wanted.clock_ps == 0) {
        return {};
    }
    constexpr std::uint64_t most_burst_bytes = 16U << 20U; // the largest burst that a regulator here can
                                                           // represent
    const std::uint64_t burst =
        std::min(std::uint64_t{std::max(wanted.burst, 1U)} * wanted.transaction_bytes, most_burst_bytes);
    const std::uint64_t rate = qos_bytes_per_s(wanted, wanted.rate, qos_rate_one);
    return {.rate_bytes_per_s = rate,
            .burst_bytes = rate == 0 ? 0 : burst - std::min(burst, line_bytes),
            .peak_bytes_per_s = qos_bytes_per_s(wanted, wanted.peak, qos_peak_one)};
}

} // namespace bulkhead::machine
