// SPDX-License-Identifier: Apache-2.0
// A front end that needs no program: walks over memory in a given order, as often as wanted, and notes how
// long each walk took. Experiments, calibration and validation put it on cores (machine/python); it must know
// nothing of the platform: whoever asks gives physical pages or addresses, and frames for translation tables
// if the core's MMU shall be on.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "machine/core.h"
#include "machine/identity_tables.h"
#include "machine/random.h"
#include "machine/types.h"

namespace bulkhead::machine {

enum class walk_kind : std::uint8_t {
    read,       // loads that do not depend on each other
    write,      // stores
    update,     // a load and a store of each place
    chase,      // each load gives the address of the next
    copy,       // loads of the first half of the places, each stored to the same place of the second half
    random,     // loads of places drawn at random, each of which gives the address of the next
    random_pair // two such loads at a time; the addresses of the next two need both
};

struct walk_settings {
    walk_kind kind = walk_kind::read;
    std::vector<std::uint64_t> addresses; // of pages if page_bytes is not 0, else of the places themselves
    std::uint64_t page_bytes = 0;
    std::uint64_t bytes = 0;         // of the pages that are walked; 0: all
    std::uint32_t stride_bytes = 64; // from place to place within pages
    std::uint32_t access_bytes = 8;
    bool shuffled = false;                     // places in random order, the same in each walk
    std::uint64_t seed = 1;                    // of that order
    std::uint32_t instructions = 2;            // for each place, its loads and stores among them
    std::uint64_t draws = 0;                   // random kinds: of a walk; 0: as many as there are places
    std::uint64_t walks = 1;                   // 0: without end
    std::uint64_t start_ps = 0;                // not before
    std::uint32_t table_levels = 0;            // reads of a table walk; 0: no translation
    std::vector<std::uint64_t> table_frames{}; // of the tables, and one more of the instructions
    bool flush_tlb = false;                    // before each access, which then walks for its instruction too
};

class walk {
public:
    // Refuses one without places, strides of 0, accesses that cross a page, no instruction for an access, and
    // what identity_tables::make() refuses.
    static result<walk> make(const walk_settings &wanted);

    // Runs it on the core, from its fiber. Returns when all walks are done.
    void run_on(core &mine);

    // How long each walk took that is done.
    [[nodiscard]] const std::vector<picoseconds> &times() const { return times_; }
    [[nodiscard]] std::uint64_t places() const { return places_.size(); }

private:
    explicit walk(const walk_settings &wanted) : settings_(wanted), chance_(wanted.seed) {}
    void once(core &mine, mmu *translation);
    template <walk_kind kind> void in_order(core &mine, mmu *translation) const;
    void copy_once(core &mine, mmu *translation) const;
    void random_once(core &mine, mmu *translation);
    void translate(mmu *translation, std::uint64_t place, access_kind kind) const;
    [[nodiscard]] std::uint64_t drawn();

    walk_settings settings_;
    random_source chance_; // of the places of random kinds: each walk draws others
    std::vector<std::uint64_t> places_;
    std::optional<identity_tables> tables_;
    std::uint64_t instructions_page_ = 0;
    std::vector<picoseconds> times_;
};

} // namespace bulkhead::machine
