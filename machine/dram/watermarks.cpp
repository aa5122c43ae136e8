// SPDX-License-Identifier: Apache-2.0
// Drains of the write queue; see the header.
#include "machine/dram/watermarks.h"

namespace bulkhead::machine::dram {

turn watermarks::take(const queued_requests &all, clocks /*now*/)
{
    const std::uint32_t reads = all.reads.size();
    const std::uint32_t writes = all.writes.size();
    if (reads == 0) {
        reads_first_ = 0;
    }
    if (draining_ && (writes <= low_ || writes_left_ == 0)) {
        draining_ = false;
        reads_first_ = writes <= low_ || reads == 0 ? 0 : high_ - low_;
    }
    if (!draining_ && writes >= high_ && reads_first_ == 0) {
        draining_ = true;
        writes_left_ = high_ - low_;
    }
    return {.writing = writes != 0 && (draining_ || reads == 0), .settled = writes == 0 && reads_first_ == 0};
}

void watermarks::served(bool write, clocks /*when*/)
{
    std::uint32_t &left = write ? writes_left_ : reads_first_;
    left -= left != 0 ? 1 : 0;
}

} // namespace bulkhead::machine::dram
