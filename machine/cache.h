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
#include "machine/tag_bytes.h"
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

// What a line that came without being waited for still has before it. At most one of the two at a time: a
// prefetched line is `ahead` until somebody wants it, whether its data are here or not.
enum class line_mark : std::uint8_t {
    none = 0,
    coming = 2, // its data may not be here yet
    ahead = 4,  // nobody has wanted it yet
};

// What a lookup found.
enum class presence : std::uint8_t { absent, here, coming, ahead };

class cache {
public:
    // The line of a set that was used last, of which a read changes nothing, and the same if it is dirty, of
    // which a write changes nothing either. A marked line is neither.
    struct recent {
        std::uint64_t line = no_line;
        std::uint64_t dirty_line = no_line;
        std::uint32_t slot = 0;
        std::uint32_t empty = 0; // ways of the set that hold no line
    };

    // `owners`: owner ids are below it, 1 to 256. `seed` matters for random replacement only. Addresses are
    // below 2^53.
    static result<cache> make(const cache_geometry &geometry, replacement policy, std::size_t owners,
                              std::uint64_t seed);

    [[nodiscard]] const cache_geometry &geometry() const { return geometry_; }
    [[nodiscard]] replacement policy() const { return replacement_.policy(); }
    [[nodiscard]] const cache_statistics &statistics() const { return statistics_; }
    [[nodiscard]] cache_statistics &statistics() { return statistics_; }

    // A demand access that may only hit. Unless the line is absent it was a hit, counted, and the line is now
    // the most recently used one. Absent: nothing has changed or been counted; call fill().
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

    // For a caller that counts its accesses itself, because nearly all of them end here: by set. They stay
    // where they are as long as the cache's storage does.
    [[nodiscard]] const recent *used_last() const { return recent_.data(); }
    // demand() of a cache that many use, whose last line is rarely the next one: without a look there.
    presence shared_demand(phys_addr address)
    {
        const std::uint32_t set = geometry_.set_of(address);
        const std::size_t slot = find(set, line_of(address));
        if (slot == absent) {
            return presence::absent;
        }
        replacement_.touch(set, static_cast<std::uint32_t>(slot - first_slot(set)));
        recent_[set].line = no_line;
        recent_[set].dirty_line = no_line;
        statistics_.of(owner_of(slots_[slot])).accesses.add();
        return presence_of(slots_[slot]);
    }

    // demand() without counting.
    presence demand_uncounted(phys_addr address, access_kind kind)
    {
        const std::size_t slot = use_if_here(address, kind);
        return slot == absent ? presence::absent : presence_of(slots_[slot]);
    }

    // A demand access to a line that hit() did not find: counts the miss, brings the line in, and says what
    // had to go.
    std::optional<displaced> fill(phys_addr address, owner_id owner, access_kind kind,
                                  line_mark mark = line_mark::none)
    {
        owner_statistics &counts = statistics_.of(owner);
        counts.accesses.add();
        counts.misses.add();
        return place(address, owner, static_cast<std::uint64_t>(kind) | static_cast<std::uint64_t>(mark));
    }
    // Marks a line differently, if it is here.
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
        return find(geometry_.set_of(address), line_of(address)) != absent;
    }

private:
    // What a slot holds, in one word: the line's number, its owner, whether it is dirty, its mark.
    using contents = std::uint64_t;
    static constexpr std::uint32_t line_shift = 16;
    static constexpr std::uint32_t owner_shift = 8;
    static constexpr std::uint64_t dirty_flag = 1;
    static constexpr std::uint64_t mark_flags = 6;
    static constexpr std::uint64_t no_line = ~std::uint64_t{0} >> line_shift;
    static constexpr contents nothing = no_line << line_shift;
    static constexpr std::size_t absent = ~std::size_t{0};
    static constexpr std::uint32_t no_way = ~std::uint32_t{0};

    cache(const cache_geometry &geometry, replacement_state state, std::size_t owners);

    [[nodiscard]] std::uint64_t line_of(phys_addr address) const
    {
        return address.value >> geometry_.line_bits();
    }
    static owner_id owner_of(contents slot) { return {static_cast<std::uint8_t>(slot >> owner_shift)}; }
    static presence presence_of(contents slot)
    {
        static_assert(static_cast<int>(presence::here) == 1 + static_cast<int>(line_mark::none) / 2 &&
                      static_cast<int>(presence::coming) == 1 + static_cast<int>(line_mark::coming) / 2 &&
                      static_cast<int>(presence::ahead) == 1 + static_cast<int>(line_mark::ahead) / 2);
        return static_cast<presence>(1 + (slot & mark_flags) / 2);
    }
    [[nodiscard]] displaced displaced_from(contents slot) const
    {
        return {owner_of(slot), (slot & dirty_flag) != 0,
                phys_addr{slot >> line_shift << geometry_.line_bits()}};
    }

    [[nodiscard]] std::size_t first_slot(std::uint32_t set) const { return std::size_t{set} << way_bits_; }
    // A byte of a hash of the tag: the memories of domains often lie powers of two apart.
    [[nodiscard]] std::uint8_t tag_of(std::uint64_t line) const
    {
        return static_cast<std::uint8_t>((line >> set_bits_) * 0x9E3779B97F4A7C15U >> 56U);
    }

    // The lowest slot of a set that holds the line. A byte of each way's tag is compared first.
    [[nodiscard]] std::size_t find(std::uint32_t set, std::uint64_t line) const
    {
        const tag_bytes *tags = tags_.data() + std::size_t{set} * tag_blocks_;
        const std::uint8_t tag = tag_of(line);
        std::size_t first = first_slot(set);
        for (std::uint32_t left = tag_blocks_;; ++tags, first += tag_bytes::count) {
            for (std::uint32_t equal = tags->equal_to(tag) & ways_of_block_; equal != 0; equal &= equal - 1) {
                const std::size_t slot = first + static_cast<std::uint32_t>(std::countr_zero(equal));
                if (slots_[slot] >> line_shift == line) {
                    return slot;
                }
            }
            if (--left == 0) {
                return absent;
            }
        }
    }
    void hold(std::uint32_t set, std::uint32_t way, contents what)
    {
        tags_[std::size_t{set} * tag_blocks_ + way / tag_bytes::count].bytes[way % tag_bytes::count] =
            tag_of(what >> line_shift);
        slots_[first_slot(set) + way] = what;
    }

    std::size_t use_if_here(phys_addr address, access_kind kind)
    {
        const std::uint64_t line = line_of(address);
        const std::uint32_t set = geometry_.set_of(address);
        std::size_t slot = recent_[set].slot;
        if (recent_[set].line != line) {
            slot = find(set, line);
            if (slot == absent) {
                return absent;
            }
            slots_[slot] |= static_cast<std::uint64_t>(kind); // write: dirty
            use(set, slot);
        } else if (kind == access_kind::write) { // used last in its set, so no policy would change anything
            slots_[slot] |= dirty_flag;
            recent_[set].dirty_line = line;
        }
        return slot;
    }

    void use(std::uint32_t set, std::size_t slot)
    {
        replacement_.touch(set, static_cast<std::uint32_t>(slot - first_slot(set)));
        recent_[set].slot = static_cast<std::uint32_t>(slot);
        remember(set);
    }
    // After any change of the slot that was used last.
    void remember(std::uint32_t set)
    {
        recent &own = recent_[set];
        const contents what = slots_[own.slot];
        const std::uint64_t line = what >> line_shift;
        own.line = (what & mark_flags) == 0 ? line : no_line;
        own.dirty_line = (what & (mark_flags | dirty_flag)) == dirty_flag ? line : no_line;
    }

    // Invalid slots go first, the lowest one before the others, whatever the policy.
    std::optional<displaced> place(phys_addr address, owner_id owner, std::uint64_t flags)
    {
        const std::uint32_t set = geometry_.set_of(address);
        recent &own = recent_[set];
        std::uint32_t way = own.empty == 0 ? no_way : free_way(set);
        contents gone = nothing;
        if (way == no_way) [[likely]] {
            way = replacement_.victim(set, locked_ways_);
            gone = slots_[first_slot(set) + way];
            count_eviction(gone, owner);
        } else {
            --own.empty;
        }
        const std::uint64_t line = line_of(address);
        hold(set, way, line << line_shift | std::uint64_t{owner.value} << owner_shift | flags);
        replacement_.touch(set, way);
        own.slot = static_cast<std::uint32_t>(first_slot(set) + way);
        own.line = (flags & mark_flags) == 0 ? line : no_line;
        own.dirty_line = flags == dirty_flag ? line : no_line;
        return gone == nothing ? std::nullopt : std::optional(displaced_from(gone));
    }
    void count_eviction(contents gone, owner_id evictor)
    {
        statistics_.evicted(owner_of(gone), evictor).add();
        if ((gone & dirty_flag) != 0) {
            statistics_.of(owner_of(gone)).write_backs.add();
        }
    }
    [[gnu::noinline]] [[nodiscard]] std::uint32_t free_way(std::uint32_t set) const;

    cache_geometry geometry_;
    replacement_state replacement_;
    cache_statistics statistics_;
    std::uint32_t set_bits_;
    std::uint32_t way_bits_;      // of a slot's number, below those of the set
    std::uint32_t tag_blocks_;    // of a set
    std::uint32_t ways_of_block_; // the bytes of a block that stand for slots, a bit each
    std::vector<recent> recent_;  // by set
    std::vector<tag_bytes> tags_; // per set: a byte of each way's tag, of no_line where it is empty
    std::vector<contents> slots_; // per set, as many as the next power of two
    std::uint64_t locked_ways_ = 0;
};

} // namespace bulkhead::machine
