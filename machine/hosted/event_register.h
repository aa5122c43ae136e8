// SPDX-License-Identifier: Apache-2.0
// The event register of one core (DDI 0487, D1.6.1), which WFE waits for and clears, and the events that are
// on their way to it. cpu.h has one.
#pragma once

#include <deque>

#include "machine/engine.h"

namespace bulkhead::machine::hosted {

class event_register {
public:
    void set() { set_ = true; }
    // An event that another core has sent arrives then; not before those that were sent earlier.
    void set_at(picoseconds when) { coming_.push_back(when); }
    void clear() { set_ = false; }

    [[nodiscard]] bool is_set(picoseconds now)
    {
        for (; !coming_.empty() && coming_.front() <= now; coming_.pop_front()) {
            set_ = true;
        }
        return set_;
    }

    // When the next one arrives that has not arrived when is_set() was asked; never: none.
    [[nodiscard]] picoseconds coming() const { return coming_.empty() ? engine::never : coming_.front(); }

private:
    bool set_ = false;
    std::deque<picoseconds> coming_;
};

} // namespace bulkhead::machine::hosted
