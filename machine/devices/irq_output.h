// SPDX-License-Identifier: Apache-2.0
// The interrupt output of a controller to one core (nIRQ) as the core sees it: a signalled interrupt takes
// the core to its vector after a latency, whether the core executes, waits (WFI), or its software polls. The
// code that connects a controller to cores keeps one for each core.
#pragma once

#include "machine/engine.h"

namespace bulkhead::machine::devices {

class irq_output {
public:
    // The controller signals an interrupt, or none any more. `seen`: when the core sees it, if it does not
    // see one already. An interrupt that is withdrawn before that time is never seen.
    void set(bool high, picoseconds seen)
    {
        if (!high) {
            seen_from_ = engine::never;
        } else if (seen_from_ == engine::never) {
            seen_from_ = seen;
        }
    }

    // When the core began or begins to see the interrupt; never: none is signalled.
    [[nodiscard]] picoseconds seen_from() const { return seen_from_; }
    [[nodiscard]] bool is_seen(picoseconds now) const { return seen_from_ <= now; }

private:
    picoseconds seen_from_ = engine::never;
};

} // namespace bulkhead::machine::devices
