// SPDX-License-Identifier: Apache-2.0
// Turns by transaction stores: reads and writes wait in one store each. A store keeps its turn until the
// other one is critical or it is empty itself. A critical store is served at least a run of requests.
// transaction_stores.h gives the sources.
#pragma once

#include <array>

#include "machine/dram/turn_policy.h"

namespace bulkhead::machine::dram {

class store_turns final : public turn_policy {
public:
    explicit store_turns(const store_settings &how) : how_(how) {}

    turn take(const queued_requests &all, clocks now) override;
    void served(bool write, clocks when) override;

private:
    struct store {
        std::uint32_t size = 0; // at the last update
        clocks unserved = 0;    // start of the time without service: the last service, or the arrival of the
                                // first request
        clocks emptied = 0;     // when the last request left
        clocks rests_until = 0;
    };

    void look(store &which, std::uint32_t size, clocks now);
    [[nodiscard]] clocks critical_at(const store &which) const;
    void give_turn(bool writing, std::uint32_t run);

    store_settings how_;
    std::array<store, 2> stores_{}; // reads, writes
    bool writing_ = false;
    std::uint32_t run_left_ = 0; // requests left in the run of a critical store
};

} // namespace bulkhead::machine::dram
