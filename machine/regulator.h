// SPDX-License-Identifier: Apache-2.0
// A QoS-400 style regulator of one direction of one master: an average rate, a burst that may exceed it, and
// a peak rate. It delays requests and never drops them. Calls must be in order of time.
#pragma once

#include <algorithm>

#include "machine/settings.h"
#include "machine/time.h"

namespace bulkhead::machine {

class regulator {
public:
    explicit regulator(const regulator_settings &wanted) { set(wanted); }

    // Takes effect with the next request; traffic above the old rate still has to be made up for.
    void set(const regulator_settings &wanted)
    {
        rate_bytes_per_s_ = wanted.rate_bytes_per_s;
        peak_bytes_per_s_ = wanted.peak_bytes_per_s;
        burst_ps_ = ps_for(wanted.burst_bytes, rate_bytes_per_s_);
    }

    // The time at which a request of `bytes` that is ready at `when` may be sent.
    picoseconds admit(picoseconds when, std::uint64_t bytes)
    {
        if ((rate_bytes_per_s_ | peak_bytes_per_s_) == 0 && std::max(paid_until_, peak_from_) <= when.value)
            [[likely]] {
            return when;
        }
        const std::uint64_t by_rate = paid_until_ > burst_ps_ ? paid_until_ - burst_ps_ : 0;
        const std::uint64_t start = std::max({when.value, by_rate, peak_from_});
        paid_until_ = std::max(paid_until_, start) + ps_for(bytes, rate_bytes_per_s_);
        peak_from_ = start + ps_for(bytes, peak_bytes_per_s_);
        delayed_ps_ += start - when.value;
        return picoseconds{start};
    }

    [[nodiscard]] picoseconds delayed() const { return picoseconds{delayed_ps_}; }

private:
    // Rounded up: the rate is never exceeded. Without a rate: 0.
    static std::uint64_t ps_for(std::uint64_t bytes, std::uint64_t bytes_per_s)
    {
        constexpr std::uint64_t ps_per_s = 1'000'000'000'000;
        return bytes_per_s == 0 ? 0 : (bytes * ps_per_s + bytes_per_s - 1) / bytes_per_s;
    }

    std::uint64_t rate_bytes_per_s_ = 0;
    std::uint64_t peak_bytes_per_s_ = 0;
    std::uint64_t burst_ps_ = 0;
    std::uint64_t paid_until_ = 0; // when the rate has made up for all bytes that were sent
    std::uint64_t peak_from_ = 0;  // no request may be sent before it
    std::uint64_t delayed_ps_ = 0;
};

} // namespace bulkhead::machine
