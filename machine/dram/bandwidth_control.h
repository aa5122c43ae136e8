// SPDX-License-Identifier: Apache-2.0
// Interface between a memory controller and MPAM's bandwidth control. The controller asks when each arriving
// request may enter the queue, and in which order partitions are served; it reports the bytes that the data
// bus moved. machine/mpam/bandwidth_partitions.h implements it; without it, requests enter in the order of
// arrival.
#pragma once

#include <cstddef>
#include <cstdint>

#include "machine/mpam/label.h"
#include "machine/time.h"
#include "machine/types.h"

namespace bulkhead::machine::dram {

// Order of partitions: the more urgent one is served first, of equally urgent ones that with the smaller
// deadline. A deadline is a position in the order of proportional shares, not a time.
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

    // A request has arrived at `when`. Returns `when` if it may enter, or a later time at which the
    // controller asks again. Calls for one channel come in order of time.
    virtual picoseconds admit(const request &what, picoseconds when) = 0;
    // A request has entered the queue.
    virtual void entered(const request &what, picoseconds when) = 0;
    // The channel's data bus transfers a burst for a partition.
    virtual void moved(std::size_t channel, std::uint16_t partition, byte_count bytes, picoseconds when) = 0;

    // The smallest deadline of all requests in the channel's queues is now `deadline`.
    virtual void waits_from(std::size_t /*channel*/, std::uint64_t /*deadline*/) {}

    // standing_of(): the order of a partition's requests in a channel's queues at `when`. stands_until():
    // until when no order changes if nothing is transferred.
    [[nodiscard]] virtual standing standing_of(std::size_t channel, std::uint16_t partition,
                                               picoseconds when) = 0;
    [[nodiscard]] virtual picoseconds stands_until(picoseconds when) = 0;
};

} // namespace bulkhead::machine::dram
