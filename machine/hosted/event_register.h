// SPDX-License-Identifier: Apache-2.0
// The event register of one core (DDI 0487, D1.6.1), which WFE waits for and clears, and the events that are
// on the way to it. Owned by cpu.h.
#pragma once

#include <deque>

#include "machine/engine.h"

namespace bulkhead::machine::hosted {

class event_register {
public:
    void set() { set_ = true; }
    // An event of another core arrives at `when`, which must not be before that of an earlier call.
    void set_at(picoseconds when) { coming_.push_back(when); }
    void clear() { set_ = false; }

    [[nodiscard]] bool is_set(picoseconds now)
    {
        for (; !coming_.empty() && coming_.front() <= now; coming_.pop_front()) {
            set_ = true;
        }
        return set_;
    }

    // Arrival time of the next event that had not arrived at the last is_set(); never: none.
    [[nodiscard]] picoseconds coming() const { return coming_.empty() ? engine::never : coming_.front(); }

private:
    bool set_ = false;
    std::deque<picoseconds> coming_;
};

} // namespace bulkhead::machine::hosted
