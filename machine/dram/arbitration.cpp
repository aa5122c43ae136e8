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

namespace {

// The best request of one queue. A younger request has lost no more arbitrations than an older one. So of
// those whose row is open the oldest has the highest score and goes first, and of the others likewise: two
// requests are compared.
contender best_of(const arbitration &rule, const request_queue &queue, const banks &banks,
                  std::uint32_t served, bool write, bool same_direction)
{
    const auto hits = [&banks](const request_queue::entry &one) {
        return banks.open_row(one.bank) == one.row;
    };
    const auto with_score = [&](const request_queue::entry &one, bool hit) {
        return contender{&one, write, rule.score(hit, same_direction, served - one.stamp)};
    };
    const request_queue::entry *one = queue.oldest();
    const contender oldest = with_score(*one, hits(*one));
    for (std::uint32_t left = queue.size(); left != 0; --left, one = one->younger) {
        if (hits(*one)) {
            const contender hit = with_score(*one, true);
            return hit.beats(oldest) ? hit : oldest;
        }
    }
    return oldest;
}

} // namespace

contender arbitrate(const arbitration &rule, const request_queue &reads, const request_queue &writes,
                    const banks &banks, std::uint32_t served, bool wrote)
{
    contender best;
    for (const request_queue *const queue : {&reads, &writes}) {
        const bool write = queue == &writes;
        if (queue->size() != 0) {
            const contender other = best_of(rule, *queue, banks, served, write, write == wrote);
            best = other.beats(best) ? other : best;
        }
    }
    return best;
}

} // namespace bulkhead::machine::dram
