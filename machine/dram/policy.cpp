// SPDX-License-Identifier: Apache-2.0
// Checks the settings of a controller; see the header. Called once, before a run.
#include "machine/dram/policy.h"

namespace bulkhead::machine::dram {

std::string policy::contradiction() const
{
    if (read_queue == 0 || read_queue > 1024 || write_queue == 0 || write_queue > 1024) {
        return "queues of 1 to 1024 requests are possible";
    }
    if (arbitration && stores) {
        return "arbitration by score and transaction stores: a controller has one of them";
    }
    if (arbitration) {
        return arbitration->contradiction();
    }
    if (cap == 0) {
        return "a cap of 0 row hits: at least 1 is needed";
    }
    if (age_limit == 0) {
        return "an age limit of 0 clocks: at least 1 is needed";
    }
    if (stores) {
        return stores->contradiction();
    }
    if (write_high > write_queue || write_low >= write_high) {
        return "write watermarks: low < high <= queue is needed";
    }
    return {};
}

} // namespace bulkhead::machine::dram
