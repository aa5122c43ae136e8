// SPDX-License-Identifier: Apache-2.0
// One set-associative cache: write-back, write-allocate, indexed by physical address, with an owner per line
// and counts of which owner evicted which. Hierarchies are built from it. It does not know time, other caches
// or locks. The path of a hit is in this header because every access of a run takes it.
#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "machine/cache_geometry.h"
#include "machine/cache_statistics.h"
#include "machine/mpam/allocation.h"
#include "machine/replacement.h"
#include "machine/tag_bytes.h"
#include "machine/types.h"

namespace bulkhead::machine {

// A dirty line that was evicted from a cache and that the level below must take.
struct written_back {
    phys_addr line;
    owner_id owner;
    mpam_label mpam{}; // label of the request that brought the line in, if the cache keeps labels
                       // (gone_label())
};

// A line that was evicted to make room for another one, dirty or clean.
struct displaced {
    owner_id owner;
    bool dirty;
    phys_addr line;
};

// State of a line that was requested without waiting for it. A line has at most one of the two marks: a
// prefetched line is `ahead` until its first demand access, whether its data have arrived or not.
enum class line_mark : std::uint8_t {
    none = 0,
    coming = 2, // its data may not have arrived yet
    ahead = 4,  // prefetched, without a demand access so far
};

// Result of a lookup.
enum class presence : std::uint8_t { absent, here, coming, ahead };

class cache {
public:
    // The most recently used line of a set: a read of it changes nothing in the cache. `dirty_line` is the
    // same line if it is dirty; a write to it changes nothing either. Marked lines are in neither field.
    struct recent {
        std::uint64_t line = no_line;
        std::uint64_t dirty_line = no_line;
        std::uint32_t slot = 0;
        std::uint32_t empty = 0; // ways of the set that hold no line
    };

    // Contents of a slot in one word: line number, owner, dirty flag, mark.
    using contents = std::uint64_t;

    // `owners`: owner ids are below this number, 1 to 256. `seed` is used by random replacement only.
    // Addresses must be below 2^53.
    static result<cache> make(const cache_geometry &geometry, replacement policy, std::size_t owners,
                              std::uint64_t seed);

    [[nodiscard]] const cache_geometry &geometry() const { return geometry_; }
    [[nodiscard]] const cache_statistics &statistics() const { return statistics_; }
    [[nodiscard]] cache_statistics &statistics() { return statistics_; }

    // A demand access that hits or does nothing. If the line is present, the hit is counted and the line
    // becomes the most recently used one. Answer `absent`: nothing has changed or been counted; call fill().
    presence demand(phys_addr address, access_kind kind)
    {
        const std::size_t slot = use_if_here(address, kind);
        if (slot == absent) {
            return presence::absent;
        }
        statistics_.of(owner_of(slots_[slot])).accesses.add();
        return presence_of(slots_[slot]);
    }
    bool hit(phys_addr address, access_kind kind) { return demand(address, kind) != presence::absent; }

    // For a caller that handles and counts hits in the most recently used line itself, as nearly all accesses
    // are such hits. One element per set. The pointer stays valid as long as the cache's storage.
    [[nodiscard]] const recent *used_last() const { return recent_.data(); }
    // demand() for a cache that many cores use, where the next access rarely is to the most recently used
    // line: does not check that line first.
    presence shared_demand(phys_addr address)
    {
        const place where = place_of(address);
        const std::size_t slot = find(where);
        return slot == absent ? presence::absent : shared_use(where, slot);
    }

    // demand() without counting, in two steps: find() changes nothing, use() updates the line. A slot is
    // valid until the next change; `absent`: the line is not in the cache.
    static constexpr std::size_t absent = ~std::size_t{0};
    [[nodiscard]] std::size_t find(phys_addr address) const { return find(place_of(address)); }
    presence use(phys_addr address, std::size_t slot, access_kind kind)
    {
        const place where = place_of(address);
        slots_[slot] |= static_cast<std::uint64_t>(kind); // write: dirty
        use(where.set, slot);
        return presence_of(slots_[slot]);
    }
    presence demand_uncounted(phys_addr address, access_kind kind)
    {
        const std::size_t slot = find(address);
        return slot == absent ? presence::absent : use(address, slot, kind);
    }

    // Completes a demand access that hit() did not find: counts the miss, allocates the line, and returns the
    // evicted line.
    std::optional<displaced> fill(phys_addr address, owner_id owner, access_kind kind,
                                  line_mark mark = line_mark::none, mpam_label label = {})
    {
        return displaced_from(fill_over_slowly(
            address, owner, static_cast<std::uint64_t>(kind) | static_cast<std::uint64_t>(mark), label));
    }
    // fill() for a caller that needs to know of dirty evicted lines only, such as a miss of a private cache.
    // Returns the evicted slot as the cache held it: test it with is_dirty() and, before the next change,
    // call given_up() for the line.
    [[gnu::noinline]] contents fill_over(phys_addr address, owner_id owner, access_kind kind, line_mark mark,
                                         mpam_label label)
    {
        const auto flags = static_cast<std::uint64_t>(kind) | static_cast<std::uint64_t>(mark);
        const place where = place_of(address);
        if (recent_[where.set].empty != 0 || !replacement_.quick(slow_ways_)) [[unlikely]] {
            return fill_over_slowly(address, owner, flags, label);
        }
        const contents gone = hold(where, replacement_.draw(), owner, flags);
        count_miss(owner);
        count_eviction(gone, owner);
        return gone;
    }
    // Counts a demand miss that hit() did not find and that allocates nothing: this cache is filled when the
    // level above evicts lines.
    void miss_without_fill(owner_id owner) { count_miss(owner); }
    static bool is_line(contents slot) { return slot < nothing; }
    static bool is_dirty(contents slot) { return (slot & dirty_flag) != 0; }
    static bool is_marked(contents slot) { return (slot & mark_flags) != 0; }
    [[nodiscard]] written_back given_up(contents slot) const { return {address_of(slot), owner_of(slot)}; }
    [[nodiscard]] std::optional<displaced> displaced_from(contents slot) const
    {
        return is_line(slot)
                   ? std::optional(displaced{owner_of(slot), (slot & dirty_flag) != 0, address_of(slot)})
                   : std::nullopt;
    }
    // Changes the mark of a line, if it is in the cache.
    void remark(phys_addr address, line_mark mark);

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

    // Takes a line that the level above gave up, dirty or clean. This is not a demand access; a line that is
    // not present is allocated without a fetch, with its owner as evictor. If its partition may not allocate
    // it, the line itself is returned as the evicted one.
    std::optional<displaced> receive(written_back line, bool dirty = true, line_mark mark = line_mark::none);

    // Takes a line out, for coherence or inclusion; counts nothing. Returns the line, if it was present.
    std::optional<displaced> invalidate(phys_addr address);
    // Clears the dirty flag after the line's newest contents were written to the level below; the line stays.
    // False: it was not dirty, or not present.
    bool clean(phys_addr address);
    // Ways that allocate no new lines from now on (bit w: way w). Lines in them stay and can be hit. At least
    // one way must stay unlocked.
    void lock_ways(std::uint64_t ways)
    {
        locked_ways_ = ways;
        slow_ways_ = keeps_labels_ ? ~std::uint64_t{0} : ways;
    }
    // From now on each line keeps the MPAM label of the request that brought it in. `allocation` says which
    // ways a partition may allocate in and must outlive the cache; null: any way. Call it while the cache is
    // empty.
    void keep_labels(partitioned_allocation *allocation);
    [[nodiscard]] bool is_partitioned() const { return allocation_ != nullptr; }
    // Label of the line that was evicted or taken out last.
    [[nodiscard]] mpam_label gone_label() const { return gone_label_; }
    // Label of a line that is present.
    [[nodiscard]] mpam_label label_of(phys_addr address) const
    {
        const std::size_t slot = keeps_labels_ ? find(address) : absent;
        return slot == absent ? mpam_label{} : labels_[slot];
    }

    // The line at a set and way, for maintenance by set and way.
    [[nodiscard]] std::optional<phys_addr> line_at(std::uint64_t set, std::uint32_t way) const
    {
        if (set > set_mask_ || way >= ways_) {
            return std::nullopt;
        }
        const contents found = slots_[first_slot(set) + way];
        return is_line(found) ? std::optional(address_of(found)) : std::nullopt;
    }
    [[nodiscard]] bool contains(phys_addr address) const { return find(place_of(address)) != absent; }
    // The number of lines of each owner that are in the cache now.
    [[nodiscard]] std::vector<std::uint64_t> lines_of_owners() const;

private:
    static constexpr std::uint32_t line_shift = 16;
    static constexpr std::uint32_t owner_shift = 8;
    static constexpr std::uint64_t dirty_flag = 1;
    static constexpr std::uint64_t mark_flags = 6;
    static constexpr std::uint64_t no_line = ~std::uint64_t{0} >> line_shift;
    static constexpr contents nothing = no_line << line_shift;
    static constexpr contents not_allocated = nothing | 8; // the line's partition may not allocate in any way
    static constexpr std::uint32_t no_way = ~std::uint32_t{0};

    cache(const cache_geometry &geometry, replacement_state state, std::size_t owners);

    // A line's number and the set that it falls in.
    struct place {
        std::uint64_t line;
        std::size_t set;
    };
    [[nodiscard]] place place_of(phys_addr address) const
    {
        const std::uint64_t line = address.value >> line_bits_;
        return {line, line & set_mask_};
    }
    static owner_id owner_of(contents slot) { return {static_cast<std::uint8_t>(slot >> owner_shift)}; }
    static presence presence_of(contents slot)
    {
        static_assert(static_cast<int>(presence::here) == 1 + static_cast<int>(line_mark::none) / 2 &&
                      static_cast<int>(presence::coming) == 1 + static_cast<int>(line_mark::coming) / 2 &&
                      static_cast<int>(presence::ahead) == 1 + static_cast<int>(line_mark::ahead) / 2);
        return static_cast<presence>(1 + (slot & mark_flags) / 2);
    }
    [[nodiscard]] phys_addr address_of(contents slot) const
    {
        return phys_addr{slot >> line_shift << line_bits_};
    }
    // The distance between sets is a power of two in all tables, so that a lookup needs no multiplication.
    [[nodiscard]] std::size_t first_slot(std::size_t set) const { return set << slots_shift_; }
    [[nodiscard]] std::size_t first_tag(std::size_t set) const { return set << tags_shift_; }
    [[nodiscard]] std::uint32_t way_of(std::size_t set, std::size_t slot) const
    {
        return static_cast<std::uint32_t>(slot - first_slot(set));
    }
    // One byte of a hash of the line's number, because the memories of domains often lie powers of two apart.
    static std::uint8_t tag_of(std::uint64_t line)
    {
        return static_cast<std::uint8_t>(line * 0x9E3779B97F4A7C15U >> 56U);
    }

    // The lowest slot of the set that holds the line. The one-byte tags of the ways are compared first; tag
    // bytes after the last way never lead to a line of this set.
    [[nodiscard]] std::size_t find(const place &where) const
    {
        const std::size_t first = first_slot(where.set);
        std::uint32_t equal = tag_bytes::equal_to(tags_.data() + first_tag(where.set), tag_of(where.line));
        for (; equal != 0; equal &= equal - 1) {
            const std::size_t slot = first + static_cast<std::uint32_t>(std::countr_zero(equal));
            if (slots_[slot] >> line_shift == where.line) {
                return slot;
            }
        }
        for (std::size_t way = tag_bytes::count; way < ways_; ++way) {
            if (slots_[first + way] >> line_shift == where.line) {
                return first + way;
            }
        }
        return absent;
    }

    std::size_t use_if_here(phys_addr address, access_kind kind)
    {
        const place where = place_of(address);
        recent &own = recent_[where.set];
        if (own.line == where.line) {
            if (kind == access_kind::write) { // most recently used in its set: no replacement policy would
                                              // change anything
                slots_[own.slot] |= dirty_flag;
                own.dirty_line = where.line;
            }
            return own.slot;
        }
        const std::size_t slot = find(where);
        if (slot != absent) {
            slots_[slot] |= static_cast<std::uint64_t>(kind); // write: dirty
            use(where.set, slot);
        }
        return slot;
    }

    presence shared_use(const place &where, std::size_t slot)
    {
        const contents what = slots_[slot];
        if (replacement_.keeps_order()) [[unlikely]] {
            replacement_.touch(where.set, way_of(where.set, slot));
            recent_[where.set].line = no_line; // it is no longer the most recently used line
            recent_[where.set].dirty_line = no_line;
        }
        statistics_.of(owner_of(what)).accesses.add();
        return presence_of(what);
    }
    void use(std::size_t set, std::size_t slot)
    {
        replacement_.touch(set, way_of(set, slot));
        recent_[set].slot = static_cast<std::uint32_t>(slot);
        remember(recent_[set]);
    }
    // Updates the record of the most recently used slot after any change of that slot.
    void remember(recent &own)
    {
        const contents what = slots_[own.slot];
        const std::uint64_t line = what >> line_shift;
        own.line = (what & mark_flags) == 0 ? line : no_line;
        own.dirty_line = (what & (mark_flags | dirty_flag)) == dirty_flag ? line : no_line;
    }

    void count_miss(owner_id owner)
    {
        owner_statistics &counts = statistics_.of(owner);
        counts.accesses.add();
        counts.misses.add();
    }
    // Returns the evicted contents, or `nothing`, or `not_allocated`.
    contents fill_over_slowly(phys_addr address, owner_id owner, std::uint64_t flags, mpam_label label);
    contents put(const place &where, owner_id owner, std::uint64_t flags, mpam_label label);
    [[gnu::noinline]] contents put_labelled(const place &where, owner_id owner, std::uint64_t flags,
                                            mpam_label label);
    [[nodiscard]] std::uint64_t empty_ways(std::size_t set) const;
    contents hold(const place &where, std::uint32_t way, owner_id owner, std::uint64_t flags)
    {
        recent &own = recent_[where.set];
        const std::size_t slot = first_slot(where.set) + way;
        std::uint8_t &tag = tags_[first_tag(where.set) + way];
        const contents gone = std::exchange(
            slots_[slot], where.line << line_shift | std::uint64_t{owner.value} << owner_shift | flags);
        own.slot = static_cast<std::uint32_t>(slot);
        own.line = (flags & mark_flags) == 0 ? where.line : no_line;
        own.dirty_line = flags == dirty_flag ? where.line : no_line;
        tag = tag_of(where.line);
        return gone;
    }
    void count_eviction(contents gone, owner_id evictor)
    {
        statistics_.evicted(owner_of(gone), evictor).add();
        if ((gone & dirty_flag) != 0) {
            statistics_.of(owner_of(gone)).write_backs.add();
        }
    }
    [[nodiscard]] std::uint32_t free_way(std::size_t set) const;

    cache_geometry geometry_;
    replacement_state replacement_;
    cache_statistics statistics_;
    std::uint32_t line_bits_;
    std::uint64_t set_mask_;
    std::size_t ways_;
    std::uint32_t slots_shift_; // shift that makes a set's number the index of its first slot
    std::uint32_t tags_shift_;
    std::vector<recent> recent_;     // by set
    std::vector<std::uint8_t> tags_; // by set: the tag of each way; the tag of no_line if the way is empty
    std::vector<contents> slots_;    // by set; as many extra slots after the last set as a lookup may read
    std::uint64_t locked_ways_ = 0;
    std::uint64_t slow_ways_ = 0; // the locked ways; all ways if lines have labels
    bool keeps_labels_ = false;
    partitioned_allocation *allocation_ = nullptr;
    std::vector<mpam_label> labels_; // by slot, as slots_; empty: lines have no labels
    mpam_label gone_label_{};        // of the line that was evicted last
};

} // namespace bulkhead::machine
