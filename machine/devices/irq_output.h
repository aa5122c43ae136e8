// SPDX-License-Identifier: Apache-2.0
// The interrupt output of a controller to one core (nIRQ), as the core sees it: what the controller signals
// at one time makes the core branch to its vector a latency later, whatever the core does then: it executes,
// it waits (WFI), its software looks. Whoever connects a controller to cores keeps one for each.
#pragma once

#include "machine/engine.h"

namespace bulkhead::machine::devices {

class irq_output {
public:
    // The controller has something to signal, or nothing any more. `seen`: by when a core would see it that
    // does not see it yet. What is withdrawn before that time is never seen.
    void set(bool high, picoseconds seen)
    {
        if (!high) {
            seen_from_ = engine::never;
        } else if (seen_from_ == engine::never) {
            seen_from_ = seen;
        }
    }

    // Since when, or from when on, the core sees it; never: nothing is signalled.
    [[nodiscard]] picoseconds seen_from() const { return seen_from_; }
    [[nodiscard]] bool is_seen(picoseconds now) const { return seen_from_ <= now; }

private:
    picoseconds seen_from_ = engine::never;
};

} // namespace bulkhead::machine::devices
