// SPDX-License-Identifier: Apache-2.0
// Whose turn it is: reads or writes, or one request alone. The scheduler asks whenever a request came or
// went; an implementation looks at the queues and answers, and never issues anything itself. Watermarks,
// transaction stores and arbitration by score are its implementations.
#pragma once

#include <memory>

#include "machine/dram/banks.h"
#include "machine/dram/policy.h"
#include "machine/dram/request_queue.h"

namespace bulkhead::machine::dram {

// What a policy may look at.
struct queued_requests {
    const request_queue &reads;
    const request_queue &writes;
    const banks &rows;
    std::uint32_t served; // column commands up to now, modulo 2^32
};

struct turn {
    // The one request whose column command may go; none: any of the direction, row hits and the oldest first.
    const request_queue::entry *only = nullptr;
    // The first clock at which it is another one's turn although nothing came or went.
    clocks until = ~clocks{0};
    bool writing = false;
    // It is the reads' turn until a write comes, whatever becomes of reads: nobody needs to ask or tell
    // before.
    bool settled = false;
};

class turn_policy {
public:
    turn_policy() = default;
    turn_policy(const turn_policy &) = delete;
    turn_policy &operator=(const turn_policy &) = delete;
    virtual ~turn_policy() = default;

    // The turn from `now` on. Asked after every arrival, every column command and at `until`, unless the
    // turn is settled; asking once more changes nothing. With follows_rows() also after every activate and
    // precharge.
    virtual turn take(const queued_requests &all, clocks now) = 0;
    // A column command went out; its request has left the queue.
    virtual void served(bool write, clocks when) = 0;
    // The same, for who tells partitions apart (MPAM).
    virtual void served_for(std::uint16_t /*partition*/, bool write, clocks when) { served(write, when); }
    [[nodiscard]] virtual bool follows_rows() const { return false; }
    // Whether requests that wait for room in a queue enter it by their partitions, not as they came, and
    // whether one of a partition enters before an earlier one of another.
    [[nodiscard]] virtual bool tells_partitions() const { return false; }
    [[nodiscard]] virtual bool goes_ahead(std::uint16_t /*one*/, std::uint16_t /*other*/, clocks /*now*/)
    {
        return false;
    }
};

std::unique_ptr<turn_policy> make_turn_policy(const policy &how);

} // namespace bulkhead::machine::dram
