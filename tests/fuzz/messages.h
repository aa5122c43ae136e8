// SPDX-License-Identifier: Apache-2.0
// Message interrupts of fuzzed guests: what functions, guests and their commands do, and what may come of it.
// A guest gets only LPIs that it has mapped itself, and no more of them than its own functions and commands
// have caused; the physical ITS gets nothing to do.
#pragma once

#include "machine.h"
#include "tests/traps/its_model.h"
#include "tests/traps/pci_model.h"

#include <array>
#include <set>

namespace bulkhead_fuzz {

// The board's parts, which a machine with an SMMU has. Both are copied with the state of a machine.
struct MessageHardware {
    bulkhead_test::ItsModel its;
    bulkhead_test::PciModel bus;

    MessageHardware();
    void plug_in();
};

class Messages {
public:
    Messages(Machine &machine, MessageHardware &hardware);

    // One step of a guest on a core, as `operation` and the input say.
    void step(uint32_t core, uint8_t operation, Input &input);
    // A function's message, which the SMMU has let through.
    void write(uint32_t stream, uint32_t event);
    // The guest on the core acknowledges an interrupt.
    void acknowledge(uint32_t core);
    void judge() const;

private:
    struct Guest {
        std::set<uint32_t> mapped; // INTIDs of all commands that it has ever written
        uint64_t causes = 0;       // messages of its functions
        uint64_t taken = 0;        // LPIs
        bool raises = false; // it has written commands that raise LPIs, each perhaps executed many times
        bool writes_any_bytes = false; // into its queue: they may be any commands
        uint32_t written = 0;          // CWRITER as it should be
    };

    void put(uint32_t core, Input &input);
    void open(uint32_t core);
    void access_any(uint32_t core, Input &input);
    void configure(uint32_t core, Input &input);

    Machine &machine_;
    MessageHardware &hardware_;
    std::array<Guest, domains> guests_{};
    size_t commands_; // of the physical ITS, at the start
};

} // namespace bulkhead_fuzz
