// SPDX-License-Identifier: Apache-2.0
// A front end that needs no program: it walks over memory in a given order, any number of times, and records
// how long each walk took. Experiments, calibration and validation put it on cores (machine/python). It knows
// nothing of the platform: the caller gives the addresses, and the translation tables if the core's MMU is
// on.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "machine/core.h"
#include "machine/random.h"
#include "machine/translated.h"
#include "machine/types.h"

namespace bulkhead::machine {

enum class walk_kind : std::uint8_t {
    read,       // independent loads
    write,      // stores
    update,     // a load and a store at each place
    chase,      // each load gives the address of the next
    copy,       // loads of the first half of the places, each stored to the same place of the second half
    random,     // loads of randomly drawn places; each load gives the address of the next
    random_pair // two random loads at a time; the addresses of the next two depend on both
};

struct walk_settings {
    walk_kind kind = walk_kind::read;
    std::vector<std::uint64_t> addresses; // addresses of pages if page_bytes is not 0, else of the places
                                          // themselves
    std::uint64_t page_bytes = 0;
    std::uint64_t bytes = 0;         // bytes of the pages that are walked; 0: all
    std::uint32_t stride_bytes = 64; // distance of places within pages
    std::uint32_t access_bytes = 8;
    bool shuffled = false;          // places in random order, the same in each walk
    std::uint64_t seed = 1;         // seed of that order
    std::uint32_t instructions = 2; // instructions for each place, including its loads and stores
    std::uint64_t draws = 0;        // random kinds: loads in each walk; 0: as many as there are places
    std::uint64_t walks = 1;        // number of walks; 0: endless
    std::uint64_t start_ps = 0;     // time before which the first walk does not start
    std::uint64_t period_ps = 0;    // each walk starts at a multiple of this time, and the core computes
                                    // until then; 0: at once
    std::optional<space_settings> space{}; // how addresses are translated; nothing: they are physical
    bool flush_tlb = false;                // before each access, so that its instruction fetch needs a walk
                                           // too
};

class walk {
public:
    // Refuses settings without places, a stride of 0, accesses that cross a page, fewer instructions than
    // accesses, places outside of the space, and what address_space::make() refuses.
    static result<walk> make(const walk_settings &wanted);

    // Sets up translation on this core's MMU, if there is a space. Call it before the core runs; refuses what
    // the MMU refuses.
    [[nodiscard]] std::optional<refusal> prepare(core &mine);
    // Runs all walks on the core; must be called on its fiber. Returns when they are done.
    void run_on(core &mine);

    // Durations of the walks that have completed.
    [[nodiscard]] const std::vector<picoseconds> &times() const { return times_; }
    [[nodiscard]] std::uint64_t places() const { return places_.size(); }

private:
    explicit walk(const walk_settings &wanted) : settings_(wanted), chance_(wanted.seed) {}
    void await_period(core &mine) const;
    void once(core &mine);
    template <walk_kind kind> void in_order(core &mine) const;
    void copy_once(core &mine) const;
    void random_once(core &mine);
    [[nodiscard]] phys_addr where(std::uint64_t place, access_kind kind) const;
    [[nodiscard]] std::uint64_t drawn();

    walk_settings settings_;
    random_source chance_; // draws the places of random kinds: each walk draws new ones
    std::vector<std::uint64_t> places_;
    std::optional<address_space> space_; // the space, until it is set up on a core
    std::unique_ptr<translated> translated_;
    std::vector<picoseconds> times_;
};

} // namespace bulkhead::machine
