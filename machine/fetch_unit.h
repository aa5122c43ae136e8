// SPDX-License-Identifier: Apache-2.0
// The instruction side of a core: L1I, and who must be told when a line leaves it. Blocks of code whose lines
// are all there execute without a question (machine/program/program_text.h); the others come here, line by
// line. A miss is a read that enters every level on its way, as an instruction fetch does, and the core waits
// for it. L1I's lines are clean, and no other core's writes look for them.
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

// Code that was fetched.
class fetched_text {
public:
    virtual ~fetched_text() = default;

    // A core (by its bit) has the line at `offset` no longer.
    virtual void left(std::uint64_t core_bit, std::uint64_t offset, std::uint64_t bytes) = 0;
};

class fetch_unit {
public:
    // Cores that can have an instruction side: texts have a bit for each.
    static constexpr std::uint32_t most_cores = 16;

    // `l1i`: nothing, and there is none.
    fetch_unit(std::optional<cache> l1i, const core_settings &wanted, const frames &ram,
               load_store_unit &load_store, sequencer &turn, event_tallies &tallies);

    // 0: this core fetches nothing.
    [[nodiscard]] std::uint64_t core_bit() const { return bit_; }
    [[nodiscard]] const cache *l1i() const { return l1i_ ? &*l1i_ : nullptr; }

    // The line that has `where`, which is at `offset` of `text`: its virtual address, for L1I is indexed by
    // that. Returns when it is there. True: it was not, and the access came in order.
    bool fetch(phys_addr where, const std::shared_ptr<fetched_text> &text, std::uint64_t offset);
    // A line that leaves the caches above a level.
    void drop(phys_addr line);
    void drop_all();
    void set_label(mpam_label label) { label_ = label; }

private:
    struct holder {
        std::weak_ptr<fetched_text> text; // which may have ended since
        std::uint64_t offset = 0;
    };
    [[nodiscard]] std::uint64_t line_bytes() const { return l1i_->geometry().line().value; }
    void hold(phys_addr line, const std::shared_ptr<fetched_text> &text, std::uint64_t offset);
    void tell(phys_addr line);
    void wait_for(memory_system::reply reply);

    std::optional<cache> l1i_;
    mpam_label label_{};
    std::uint64_t bit_;
    std::uint64_t outer_line_bytes_; // of all other caches, twice as many on a Cortex-A7
    picoseconds l2_latency_;
    const frames &ram_;
    load_store_unit &load_store_;
    sequencer &turn_;
    event_tallies &tallies_;
    std::unordered_map<std::uint64_t, holder> holders_; // by line
};

} // namespace bulkhead::machine
