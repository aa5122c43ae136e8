// SPDX-License-Identifier: Apache-2.0
// The instruction side of a core: L1I, and the texts that must be told when a line is evicted from it. Blocks
// of code whose lines are all in L1I execute without a lookup (machine/program/program_text.h); other blocks
// come here, line by line. A miss is a read that is allocated in every level on its route, as an instruction
// fetch, and the core waits for it. Lines of L1I are clean, and writes of other cores do not snoop it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>

#include "machine/cache.h"
#include "machine/event_tallies.h"
#include "machine/frames.h"
#include "machine/load_store_unit.h"
#include "machine/sequencer.h"

namespace bulkhead::machine {

// Code that was fetched by cores.
class fetched_text {
public:
    virtual ~fetched_text() = default;

    // The core with this bit no longer has the line at `offset` in its L1I.
    virtual void left(std::uint64_t core_bit, std::uint64_t offset, std::uint64_t bytes) = 0;
};

class fetch_unit {
public:
    // Number of cores that can have an instruction side: texts keep one bit for each.
    static constexpr std::uint32_t most_cores = 16;

    // `l1i`: nothing if the core has no L1I.
    fetch_unit(std::optional<cache> l1i, const core_settings &wanted, const frames &ram,
               load_store_unit &load_store, sequencer &turn, event_tallies &tallies);

    // 0: this core does not model instruction fetches.
    [[nodiscard]] std::uint64_t core_bit() const { return bit_; }
    [[nodiscard]] const cache *l1i() const { return l1i_ ? &*l1i_ : nullptr; }

    // Fetches the line of `where`, which is at `offset` of `text`. Its offset in the text is its virtual
    // address, by which L1I is indexed. Returns when the line has arrived. True: it missed, and the access
    // was made in order.
    bool fetch(phys_addr where, const std::shared_ptr<fetched_text> &text, std::uint64_t offset);
    // Invalidates a line that leaves the caches above a level.
    void drop(phys_addr line);
    void drop_all();
    void set_label(mpam_label label) { label_ = label; }

private:
    struct holder {
        std::weak_ptr<fetched_text> text; // the text may have ended since
        std::uint64_t offset = 0;
    };
    [[nodiscard]] std::uint64_t line_bytes() const { return l1i_->geometry().line().value; }
    void hold(phys_addr line, const std::shared_ptr<fetched_text> &text, std::uint64_t offset);
    void tell(phys_addr line);
    void wait_for(memory_system::reply reply);

    std::optional<cache> l1i_;
    mpam_label label_{};
    std::uint64_t bit_;
    std::uint64_t outer_line_bytes_; // line size of all other caches: on a Cortex-A7 twice that of L1I
    picoseconds l2_latency_;
    const frames &ram_;
    load_store_unit &load_store_;
    sequencer &turn_;
    event_tallies &tallies_;
    std::unordered_map<std::uint64_t, holder> holders_; // by line
};

} // namespace bulkhead::machine
