// SPDX-License-Identifier: Apache-2.0
// Turns by score: of all queued requests the one with the highest score goes next (arbitration.h). Its rows
// are opened first, others' in its shadow.
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
    bool wrote_ = false; // the last column command
};

} // namespace bulkhead::machine::dram
