// SPDX-License-Identifier: Apache-2.0
// Order of commands if MPAM divides the bandwidth. Requests of the partitions that are first in the order of
// bandwidth_control.h are served first; among equals the controller's own policy decides, row hits and the
// oldest first. While the first request waits for its bank, others are served that do not delay it. A request
// older than the controller's age limit is served before all others.
#pragma once

#include <array>

#include "machine/dram/bandwidth_control.h"
#include "machine/dram/turn_policy.h"

namespace bulkhead::machine::dram {

class partition_turns final : public turn_policy {
public:
    // Turns of channel number `channel`. `control` must outlive this object.
    partition_turns(const policy &how, const timing &timing, bandwidth_control &control, std::size_t channel,
                    byte_count burst);

    turn take(const queued_requests &all, clocks now) override;
    void served(bool write, clocks when) override { usual_->served(write, when); }
    void served_for(std::uint16_t partition, bool write, clocks when) override;
    [[nodiscard]] bool follows_rows() const override { return true; }
    [[nodiscard]] bool tells_partitions() const override { return true; }
    [[nodiscard]] bool goes_ahead(std::uint16_t one, std::uint16_t other, clocks now) override;

private:
    using entry = request_queue::entry;
    // Choice of one direction: `first`, the request that is first in the order, and `goes`, the one that is
    // served, which can be a row hit of the same urgency.
    struct choice {
        const entry *first = nullptr;
        const entry *goes = nullptr;
        standing place; // standing of `first`
    };

    // Where partitions stand at one moment, each asked for once: the queues have many requests of a few
    // partitions.
    class standings {
    public:
        standings(partition_turns &of, clocks now) : of_(of), now_(now) {}
        [[nodiscard]] standing of(std::uint16_t partition);

    private:
        struct known {
            std::uint16_t partition;
            standing place;
        };
        partition_turns &of_;
        clocks now_;
        std::array<known, 8> known_; // the first `count_`; those of more partitions are asked for each time
        std::size_t count_ = 0;
    };

    [[nodiscard]] standing standing_of(std::uint16_t partition, clocks now);
    [[nodiscard]] bool all_stand_alike(const queued_requests &all, clocks now);
    [[nodiscard]] choice choose(const request_queue &queue, bool write, const banks &rows, clocks now);
    [[nodiscard]] const entry *overdue(const request_queue &queue, clocks now) const;
    [[nodiscard]] clocks next_command_at(const entry &one, bool write, const banks &rows, clocks now) const;
    [[nodiscard]] const entry *in_the_shadow(const request_queue &queue, bool write, const banks &rows,
                                             const entry &of, clocks until, clocks now);

    std::unique_ptr<turn_policy> usual_;
    bandwidth_control &control_;
    std::size_t channel_;
    byte_count burst_;
    clock_domain clock_;
    clocks between_columns_;
    clocks age_limit_;
    std::uint32_t cap_;
    bool overtakes_ = false;       // the last choice serves another request than `first`
    std::uint32_t overtakers_ = 0; // number of such choices in a row that were served
};

} // namespace bulkhead::machine::dram
