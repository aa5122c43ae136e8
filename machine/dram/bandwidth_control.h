// SPDX-License-Identifier: Apache-2.0
// Where MPAM's bandwidth control takes hold of the memory controller: it is asked for each request that
// arrives whether it may enter the queue, whose requests go first there, and told what the data bus moved.
// machine/mpam/bandwidth_partitions.h implements it; without one, requests enter as they come.
#pragma once

#include <cstddef>
#include <cstdint>

#include "machine/mpam/label.h"
#include "machine/time.h"
#include "machine/types.h"

namespace bulkhead::machine::dram {

// How one partition's requests stand beside others': the more urgent ones go first, among equals those with
// the earlier deadline, which is no time but a place in the order of proportional shares.
struct standing {
    std::uint32_t urgency = 0;
    std::uint64_t deadline = 0;
    constexpr bool operator==(const standing &) const = default;
    [[nodiscard]] constexpr bool before(const standing &other) const
    {
        return urgency != other.urgency ? urgency > other.urgency : deadline < other.deadline;
    }
};

class bandwidth_control {
public:
    struct request {
        std::size_t channel;
        mpam_label label;
        access_kind kind;
        byte_count bytes;
    };

    bandwidth_control() = default;
    bandwidth_control(const bandwidth_control &) = delete;
    bandwidth_control &operator=(const bandwidth_control &) = delete;
    virtual ~bandwidth_control() = default;

    // A request has arrived, and enters at the time that is returned: at `when`, or later, in which case it
    // comes again then. Those of a channel come in order of time.
    virtual picoseconds admit(const request &what, picoseconds when) = 0;
    // A request has entered.
    virtual void entered(const request &what, picoseconds when) = 0;
    // The channel's data bus moves a burst for a partition.
    virtual void moved(std::size_t channel, std::uint16_t partition, byte_count bytes, picoseconds when) = 0;

    // Of all requests in the channel's queues none has an earlier deadline.
    virtual void waits_from(std::size_t /*channel*/, std::uint64_t /*deadline*/) {}

    // Of a partition's requests in a channel's queues, at that time, and until when it stays so if nothing is
    // moved.
    [[nodiscard]] virtual standing standing_of(std::size_t channel, std::uint16_t partition,
                                               picoseconds when) = 0;
    [[nodiscard]] virtual picoseconds stands_until(picoseconds when) = 0;
};

} // namespace bulkhead::machine::dram
