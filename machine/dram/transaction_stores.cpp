// SPDX-License-Identifier: Apache-2.0
// Checks that the values fit in a controller's registers; see the header. Called once, before a run.
#include "machine/dram/transaction_stores.h"

namespace bulkhead::machine::dram {

std::string store_settings::contradiction() const
{
    constexpr std::uint32_t most_clocks = 1U << 17U; // of two 16-bit registers, in their clocks
    if (starve == 0 || starve > most_clocks) {
        return "transaction stores: 1 to 131072 clocks without service are possible";
    }
    if (run == 0 || run > 255) {
        return "transaction stores: runs of 1 to 255 requests are possible";
    }
    if (rest > most_clocks || idle > most_clocks) {
        return "transaction stores: at most 131072 clocks of rest and of idle time are possible";
    }
    return {};
}

} // namespace bulkhead::machine::dram
