// SPDX-License-Identifier: Apache-2.0
// Turns by watermarks: reads go first. Writes use what reads leave, and are drained from the high watermark
// to the low one while reads wait. A drain ends after as many writes as lie between the watermarks, too, and
// as many of the reads that wait go before the next one, so that who writes faster than the DRAM starves
// nobody.
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
    std::uint32_t writes_left_ = 0; // of this drain
    std::uint32_t reads_first_ = 0; // that go before the next drain
};

} // namespace bulkhead::machine::dram
