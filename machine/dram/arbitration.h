// SPDX-License-Identifier: Apache-2.0
// Arbitration by score: queued reads and writes compete in one queue, as in NXP's MMDC (i.MX 6ULL reference
// manual, 35.5.1.3 and 35.5.1.4, "dynamic scoring" and "guarding"). The priority that a master sends with a
// request (QoS) is not modelled. The scheduler uses this if a channel's policy says so.
#pragma once

#include <string>

#include "machine/dram/banks.h"
#include "machine/dram/request_queue.h"

namespace bulkhead::machine::dram {

struct arbitration {
    static constexpr std::uint32_t greatest = 15; // maximum score: four bits

    std::uint32_t row_hit = 4;   // score of a request whose row is open
    std::uint32_t direction = 2; // score of a read after a read, or a write after a write
    std::uint32_t age = 1;       // score for each arbitration that the request lost
    std::uint32_t most = 15;     // maximum score by age
    std::uint32_t guard = 15;    // arbitrations that may be lost after age has reached its maximum

    // Why the values contradict each other; empty if they do not.
    [[nodiscard]] std::string contradiction() const;

    // Number of lost arbitrations after which a request is served before all that have lost fewer.
    [[nodiscard]] std::uint32_t patience() const { return (most + age - 1) / age + guard; }

    // The request with the highest score is served first, of equal ones the oldest. `lost`: arbitrations lost
    // since it was queued.
    [[nodiscard]] std::uint32_t score(bool hits, bool same_direction, std::uint32_t lost) const
    {
        // Without a division, as this is computed for every command: it is lost >= patience().
        if (lost >= guard && std::uint64_t{lost - guard} * age >= most) {
            return greatest + 1;
        }
        const std::uint32_t fixed = (hits ? row_hit : 0) + (same_direction ? direction : 0);
        return std::min(greatest, fixed + std::min(most, age * lost));
    }
};

// A queued request and the values that arbitration compares.
struct contender {
    const request_queue::entry *request = nullptr;
    bool write = false;
    std::uint32_t score = 0;
    [[nodiscard]] bool beats(const contender &other) const
    {
        return other.request == nullptr || score > other.score ||
               (score == other.score && request->order < other.request->order);
    }
};

// The request to serve next. `served`: column commands of the channel so far, modulo 2^32; `wrote`: the last
// of them was a write. At least one request must be queued.
contender arbitrate(const arbitration &rule, const request_queue &reads, const request_queue &writes,
                    const banks &banks, std::uint32_t served, bool wrote);

} // namespace bulkhead::machine::dram
