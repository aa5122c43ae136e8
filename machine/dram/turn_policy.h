// SPDX-License-Identifier: Apache-2.0
// Decides which requests have the turn: reads or writes, or one single request. The scheduler asks whenever a
// request arrives or completes; an implementation reads the queues and answers, and never issues commands
// itself. Watermarks, transaction stores and arbitration by score are implementations.
#pragma once

#include <memory>

#include "machine/dram/banks.h"
#include "machine/dram/policy.h"
#include "machine/dram/request_queue.h"

namespace bulkhead::machine::dram {

// The state that a policy may read.
struct queued_requests {
    const request_queue &reads;
    const request_queue &writes;
    const banks &rows;
    std::uint32_t served; // column commands so far, modulo 2^32
};

struct turn {
    // The only request whose column command may be issued; null: any of the direction, row hits and the
    // oldest first.
    const request_queue::entry *only = nullptr;
    // The first clock at which the turn may change without arrivals or completions.
    clocks until = ~clocks{0};
    bool writing = false;
    // The reads keep the turn until a write arrives, whatever happens to reads: until then, take() and
    // served() need not be called.
    bool settled = false;
};

class turn_policy {
public:
    turn_policy() = default;
    turn_policy(const turn_policy &) = delete;
    turn_policy &operator=(const turn_policy &) = delete;
    virtual ~turn_policy() = default;

    // The turn from `now` on. Called after every arrival, after every column command, and at `until`, unless
    // the turn is settled; calling it again changes nothing. With follows_rows(), also called after every
    // activate and precharge.
    virtual turn take(const queued_requests &all, clocks now) = 0;
    // A column command was issued; its request has left the queue.
    virtual void served(bool write, clocks when) = 0;
    // The same for policies that distinguish partitions (MPAM).
    virtual void served_for(std::uint16_t /*partition*/, bool write, clocks when) { served(write, when); }
    [[nodiscard]] virtual bool follows_rows() const { return false; }
    // tells_partitions(): whether requests that wait for room in a queue enter it by partition, not in order
    // of arrival. goes_ahead(): whether a request of partition `one` enters before an earlier one of `other`.
    [[nodiscard]] virtual bool tells_partitions() const { return false; }
    [[nodiscard]] virtual bool goes_ahead(std::uint16_t /*one*/, std::uint16_t /*other*/, clocks /*now*/)
    {
        return false;
    }
};

std::unique_ptr<turn_policy> make_turn_policy(const policy &how);

} // namespace bulkhead::machine::dram
