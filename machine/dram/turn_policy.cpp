// SPDX-License-Identifier: Apache-2.0
// Makes the implementation that a policy's values select; see the header.
#include "machine/dram/turn_policy.h"

#include "machine/dram/score_turns.h"
#include "machine/dram/store_turns.h"
#include "machine/dram/watermarks.h"

namespace bulkhead::machine::dram {

std::unique_ptr<turn_policy> make_turn_policy(const policy &how)
{
    if (how.arbitration) {
        return std::make_unique<score_turns>(*how.arbitration);
    }
    if (how.stores) {
        return std::make_unique<store_turns>(*how.stores);
    }
    return std::make_unique<watermarks>(how.write_high, how.write_low);
}

} // namespace bulkhead::machine::dram
