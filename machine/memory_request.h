// SPDX-License-Identifier: Apache-2.0
// The attributes that travel with a line from the requester to DRAM: one request all the way, for reads and
// writes alike. Caches use the owner, regulators the master, partitioning and its monitors the label (MPAM).
#pragma once

#include <cstdint>

#include "machine/cache.h"
#include "machine/mpam/label.h"
#include "machine/types.h"

namespace bulkhead::machine {

// The requester number of a core's data side, or of its instruction side.
[[nodiscard]] constexpr std::uint8_t requester_of(std::uint32_t core, bool instructions)
{
    return static_cast<std::uint8_t>(core << 1U | (instructions ? 1U : 0U));
}

struct line_request {
    phys_addr line;
    access_kind kind = access_kind::read; // write: a whole line is written to the level below
    owner_id owner{};                     // owner of the memory
    std::uint32_t master = 0;             // port of the interconnect that the request uses
    mpam_label mpam{};
    std::uint8_t requester = 0; // requester_of(), for levels that lock ways by requester
    bool prefetch = false;
    bool allocate = false; // of a read: it is allocated in every level at once (instructions, table walks)
    bool clean = false;    // of a write: memory has the same data; the line goes no further than a level that
                           // takes clean lines
    bool coming = false;   // of a clean write: its data may not have arrived yet

    // The request for a line that a cache evicts because of this request: owner and partition are the line's,
    // the route is this request's.
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
