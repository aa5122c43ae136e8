// SPDX-License-Identifier: Apache-2.0
// Turns by score: the queued request with the highest score is served next (arbitration.h). Its row is opened
// first, rows of other requests in the shadow of that.
#pragma once

#include "machine/dram/turn_policy.h"

namespace bulkhead::machine::dram {

class score_turns final : public turn_policy {
public:
    explicit score_turns(const arbitration &rule) : rule_(rule) {}

    turn take(const queued_requests &all, clocks /*now*/) override
    {
        if (all.reads.size() + all.writes.size() == 0) {
            return {};
        }
        const contender winner = arbitrate(rule_, all.reads, all.writes, all.rows, all.served, wrote_);
        return {.only = winner.request, .writing = winner.write};
    }
    void served(bool write, clocks /*when*/) override { wrote_ = write; }
    [[nodiscard]] bool follows_rows() const override { return true; }

private:
    arbitration rule_;
    bool wrote_ = false; // the last column command was a write
};

} // namespace bulkhead::machine::dram
