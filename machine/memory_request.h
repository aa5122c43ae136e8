// SPDX-License-Identifier: Apache-2.0
// What travels with a line from who asks for it to DRAM: one request for all of its way, reads and writes
// alike. Caches see the owner, regulators the master, partitioning and its monitors the label (MPAM).
#pragma once

#include <cstdint>

#include "machine/cache.h"
#include "machine/mpam/label.h"
#include "machine/types.h"

namespace bulkhead::machine {

// A core's data, or its instructions.
[[nodiscard]] constexpr std::uint8_t requester_of(std::uint32_t core, bool instructions)
{
    return static_cast<std::uint8_t>(core << 1U | (instructions ? 1U : 0U));
}

struct line_request {
    phys_addr line;
    access_kind kind = access_kind::read; // write: a whole line goes down
    owner_id owner{};                     // of the memory
    std::uint32_t master = 0;             // the interconnect's port that it takes
    mpam_label mpam{};
    std::uint8_t requester = 0; // of a level that locks ways by who asks: requester_of()
    bool prefetch = false;
    bool allocate = false; // of a read: it enters every level at once (instructions, table walks)
    bool clean = false;    // of a write: memory has the same; it goes no further than a level that wants it
    bool coming = false;   // of such a write: its data may still be on their way

    // A line that a cache gives up because of this request: its owner's and its partition's line, by the
    // request's way.
    [[nodiscard]] line_request write_of(written_back victim) const
    {
        return {.line = victim.line,
                .kind = access_kind::write,
                .owner = victim.owner,
                .master = master,
                .mpam = victim.mpam,
                .requester = requester};
    }
    [[nodiscard]] written_back as_written_back() const { return {line, owner, mpam}; }
};

} // namespace bulkhead::machine
