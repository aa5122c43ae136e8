// SPDX-License-Identifier: Apache-2.0
// Searches both queues by age; see the header. Bounded by their lengths.
#include "machine/dram/arbitration.h"

namespace bulkhead::machine::dram {

std::string arbitration::contradiction() const
{
    if (row_hit > greatest || direction > greatest || most > greatest) {
        return "arbitration: scores of 0 to 15 are possible";
    }
    if (age == 0 || age > greatest) {
        return "arbitration: an age of 1 to 15 for each lost arbitration is needed";
    }
    if (guard > 255) {
        return "arbitration: a guard of 0 to 255 lost arbitrations is possible";
    }
    return {};
}

contender arbitrate(const arbitration &rule, const request_queue &reads, const request_queue &writes,
                    const banks &banks, std::uint32_t served, bool wrote)
{
    contender best;
    for (const request_queue *const queue : {&reads, &writes}) {
        const bool write = queue == &writes;
        const bool same_direction = write == wrote;
        const request_queue::entry *one = queue->oldest();
        for (std::uint32_t left = queue->size(); left != 0; --left, one = one->younger) {
            const std::uint32_t lost = served - one->stamp;
            // A row hit is the best class: this request and younger ones can be no better.
            if (!contender{one, write, rule.score(true, same_direction, lost)}.beats(best)) {
                break;
            }
            const bool hits = banks.open_row(one->bank) == one->row;
            const contender other{one, write, rule.score(hits, same_direction, lost)};
            best = other.beats(best) ? other : best;
        }
    }
    return best;
}

} // namespace bulkhead::machine::dram
