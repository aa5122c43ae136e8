// SPDX-License-Identifier: Apache-2.0
// One set-associative cache: write-back, write-allocate, indexed by physical address, with an owner per line
// and counts of who evicted whom. Hierarchies build on it; it knows no time, no other cache and no lock.
// The path of a hit is here, in the header, because every access of a run takes it.
#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <vector>

#include "machine/cache_geometry.h"
#include "machine/cache_statistics.h"
#include "machine/replacement.h"
#include "machine/types.h"

namespace bulkhead::machine {

// A dirty line that left a cache and that the level below must take.
struct written_back {
    phys_addr line;
    owner_id owner;
};

// What bringing in a line pushed out, whether dirty or not.
struct displaced {
    owner_id owner;
    bool dirty;
    phys_addr line;
};

class cache {
public:
    // `owners`: owner ids are below it, 1 to 256. `seed` matters for random replacement only.
    static result<cache> make(const cache_geometry &geometry, replacement policy, std::size_t owners,
                              std::uint64_t seed);

    [[nodiscard]] const cache_geometry &geometry() const { return geometry_; }
    [[nodiscard]] replacement policy() const { return replacement_.policy(); }
    [[nodiscard]] const cache_statistics &statistics() const { return statistics_; }
    [[nodiscard]] cache_statistics &statistics() { return statistics_; }

    // A demand access that may only hit. True: it was a hit, counted, and the line is now the most recently
    // used one. False: nothing has changed or been counted; call fill().
    bool hit(phys_addr address, access_kind kind)
    {
        const std::size_t slot = use_if_here(address, kind);
        if (slot == absent) {
            return false;
        }
        statistics_.of(owners_[slot]).accesses.add();
        return true;
    }

    // For a caller that counts its accesses itself, because nearly all of them end here: by set, the number
    // of the line that was used last, of which a read changes nothing, and the same if it is dirty, of which
    // a write changes nothing either. They stay where they are as long as the cache's storage does.
    [[nodiscard]] const std::uint64_t *unchanged_by(access_kind kind) const
    {
        return kind == access_kind::write ? latest_dirty_.data() : latest_.data();
    }

    // hit() without counting.
    bool hit_uncounted(phys_addr address, access_kind kind) { return use_if_here(address, kind) != absent; }

    // A demand access to a line that hit() did not find: counts the miss, brings the line in, and says what
    // had to go.
    std::optional<displaced> fill(phys_addr address, owner_id owner, access_kind kind);

    // A demand access, hit or miss.
    struct outcome {
        bool hit;
        std::optional<displaced> victim;
    };
    outcome access(phys_addr address, owner_id owner, access_kind kind)
    {
        if (hit(address, kind)) {
            return {true, std::nullopt};
        }
        return {false, fill(address, owner, kind)};
    }

    // A dirty line that comes from the level above. It is no demand; if it is not here it is allocated
    // without a fetch, with its owner as evictor.
    std::optional<displaced> receive(written_back line);

    // Takes a line out, for coherence or inclusion; nothing is counted. What it was, if it was here.
    std::optional<displaced> invalidate(phys_addr address);
    // The line's newest contents have gone to the level below: it stays, but is not dirty any more. False: it
    // was not dirty, or not here.
    bool clean(phys_addr address);
    // Ways that take no new lines from now on (bit w: way w); what they hold stays and is hit. Not all ways.
    void lock_ways(std::uint64_t ways) { locked_ways_ = ways; }

    [[nodiscard]] bool contains(phys_addr address) const
    {
        return find(geometry_.set_of(address), address.value >> geometry_.line_bits()) != absent;
    }

private:
    static constexpr std::uint64_t no_line = ~std::uint64_t{0};
    static constexpr std::size_t absent = ~std::size_t{0};

    cache(const cache_geometry &geometry, replacement_state state, std::size_t owners);

    // The lowest slot of a set that holds the line. A byte of each way's tag is compared first, eight ways at
    // a time (a zero byte of the exclusive or; a borrow can find others above it, so each is looked at).
    [[nodiscard]] std::size_t find(std::uint32_t set, std::uint64_t line) const
    {
        constexpr std::uint64_t ones = 0x0101010101010101;
        const std::size_t first = std::size_t{set} * geometry_.ways();
        const std::uint64_t *const marks = marks_.data() + std::size_t{set} * mark_words_;
        const std::uint64_t wanted = ones * mark_of(line);
        for (std::size_t word = 0; word < mark_words_; ++word) {
            const std::uint64_t differs = marks[word] ^ wanted;
            std::uint64_t equal = (differs - ones) & ~differs & (ones << 7U);
            equal &= word + 1 == mark_words_ ? last_marks_ : ~std::uint64_t{0};
            for (; equal != 0; equal &= equal - 1) {
                const std::size_t slot =
                    first + word * 8 + static_cast<std::size_t>(std::countr_zero(equal)) / 8;
                if (lines_[slot] == line) {
                    return slot;
                }
            }
        }
        return absent;
    }
    [[nodiscard]] std::uint64_t mark_of(std::uint64_t line) const { return line >> set_bits_ & 0xff; }
    void hold(std::uint32_t set, std::size_t slot, std::uint64_t line)
    {
        const std::size_t way = slot - std::size_t{set} * geometry_.ways();
        std::uint64_t &marks = marks_[std::size_t{set} * mark_words_ + way / 8];
        marks = (marks & ~(std::uint64_t{0xff} << way % 8 * 8)) | mark_of(line) << way % 8 * 8;
        lines_[slot] = line;
    }

    std::size_t use_if_here(phys_addr address, access_kind kind)
    {
        const std::uint64_t line = address.value >> geometry_.line_bits();
        const std::uint32_t set = geometry_.set_of(address);
        std::size_t slot = latest_slot_[set];
        if (latest_[set] != line) {
            slot = find(set, line);
            if (slot == absent) {
                return absent;
            }
            use(set, slot);
        } // else: used last in its set, so no policy would change anything
        if (kind == access_kind::write) {
            dirty_[slot] = 1;
            latest_dirty_[set] = line;
        }
        return slot;
    }

    void use(std::uint32_t set, std::size_t slot)
    {
        replacement_.touch(set, static_cast<std::uint32_t>(slot - std::size_t{set} * geometry_.ways()));
        latest_[set] = lines_[slot];
        latest_dirty_[set] = dirty_[slot] != 0 ? lines_[slot] : no_line;
        latest_slot_[set] = static_cast<std::uint32_t>(slot);
    }

    std::optional<displaced> place(phys_addr address, owner_id owner, bool dirty);
    [[nodiscard]] std::size_t free_slot(std::uint32_t set) const;

    cache_geometry geometry_;
    replacement_state replacement_;
    cache_statistics statistics_;
    std::uint32_t set_bits_;
    std::size_t mark_words_;   // of a set
    std::uint64_t last_marks_; // the highest bit of each byte of its last word that stands for a way
    // What was used last in a set, where most hits are: its line, the same if it is dirty, its slot.
    std::vector<std::uint64_t> latest_;
    std::vector<std::uint64_t> latest_dirty_;
    std::vector<std::uint32_t> latest_slot_;
    std::vector<std::uint64_t> marks_; // per set: a byte of each way's tag, of no_line where it is empty
    std::vector<std::uint8_t> empty_;  // per set: ways that hold no line
    std::vector<std::uint64_t> lines_; // per slot (set * ways + way): line number, or no_line
    std::vector<owner_id> owners_;
    std::vector<std::uint8_t> dirty_;
    std::uint64_t locked_ways_ = 0;
};

} // namespace bulkhead::machine
