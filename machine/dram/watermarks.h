// SPDX-License-Identifier: Apache-2.0
// Turns by watermarks: reads are served first. Writes are served when there are no reads, and are drained
// from the high watermark to the low one while reads wait. A drain also ends after as many writes as the
// difference of the watermarks, and as many waiting reads are served before the next drain, so that a writer
// that is faster than the DRAM does not starve reads.
#pragma once

#include "machine/dram/turn_policy.h"

namespace bulkhead::machine::dram {

class watermarks final : public turn_policy {
public:
    watermarks(std::uint32_t high, std::uint32_t low) : high_(high), low_(low) {}

    turn take(const queued_requests &all, clocks now) override;
    void served(bool write, clocks when) override;

private:
    std::uint32_t high_;
    std::uint32_t low_;
    bool draining_ = false;
    std::uint32_t writes_left_ = 0; // writes left in this drain
    std::uint32_t reads_first_ = 0; // reads to be served before the next drain
};

} // namespace bulkhead::machine::dram
