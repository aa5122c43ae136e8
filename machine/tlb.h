// SPDX-License-Identifier: Apache-2.0
// A set-associative cache of translations. Entries have any power-of-two size and are distinguished by
// exception level, virtual machine and address space; in addition there are entries that software locks (as
// those of Cortex-A9, DDI 0388I 6.2). TLBs, the cache of intermediate addresses and the walk cache are
// instances with different contents (machine/mmu.h). It knows neither tables nor time.
#pragma once

#include <algorithm>
#include <bit>
#include <functional>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "machine/settings.h"
#include "machine/translation_filter.h"
#include "machine/types.h"

namespace bulkhead::machine {

// The translation regime of an entry. EL2's own regime has neither virtual machine nor address space.
struct translation_tag {
    bool el2 = false;
    std::uint16_t vmid = 0;
    std::uint16_t asid = 0;
    bool global = false; // valid in every address space of the virtual machine

    // Whether an entry with this tag serves accesses with the other tag. Without branches, because every
    // lookup tests many entries.
    [[nodiscard]] bool serves(const translation_tag &other) const
    {
        const std::uint32_t asids = global ? 0 : static_cast<std::uint32_t>(asid ^ other.asid);
        return (static_cast<std::uint32_t>(el2 != other.el2) | static_cast<std::uint32_t>(vmid ^ other.vmid) |
                asids) == 0;
    }
};

// Whether maintenance also invalidates locked entries.
enum class locked_entries : std::uint8_t { too, stay };

template <class What> class translation_cache {
public:
    struct entry {
        std::uint64_t first = nowhere; // first of the addresses that it translates
        std::uint32_t shift = 0;       // log2 of the number of addresses
        std::uint32_t whole = 0;       // log2 of the size of the mapping that it is a part of
        translation_tag tag;
        What what{};
        std::uint64_t used = 0; // clock at the last use or the insertion; 0: empty

        // `first` of an empty entry, which is very unlikely to match an address
        static constexpr std::uint64_t nowhere = ~std::uint64_t{0};

        [[nodiscard]] bool has(std::uint64_t address) const { return (address ^ first) >> shift == 0; }
        // Whether maintenance of the address concerns this entry: all parts of a mapping are invalidated
        // together.
        [[nodiscard]] bool is_of(std::uint64_t address) const { return (address ^ first) >> whole == 0; }
    };

    // Refuses a number of ways that does not divide the entries, and a number of sets that is not a power of
    // two.
    static result<translation_cache> make(const tlb_settings &wanted)
    {
        const std::uint32_t ways = wanted.ways == 0 ? wanted.entries : wanted.ways;
        if (wanted.entries != 0 && (ways > wanted.entries || wanted.entries % ways != 0 ||
                                    !std::has_single_bit(wanted.entries / ways))) {
            return refusal{std::to_string(wanted.entries) + " entries in " + std::to_string(ways) +
                           " ways: sets must be a power of two"};
        }
        return translation_cache{wanted, ways};
    }

    // Null: a miss. With LRU, a found entry becomes the most recently used of its set.
    entry *find(std::uint64_t address, const translation_tag &who)
    {
        entry *const found = search(address, who);
        if (found != nullptr && policy_ == tlb_policy::lru) {
            found->used = ++clock_;
        }
        return found;
    }

    // Log2 of the part of a mapping, around an address, that one entry can hold: the largest size that an
    // entry can have and that fits. 0: the mapping is smaller than all sizes of entries.
    [[nodiscard]] std::uint32_t kept(std::uint32_t shift) const
    {
        std::uint32_t most = 0;
        for (const std::uint32_t one : page_shifts_) {
            most = one <= shift ? std::max(most, one) : most;
        }
        return page_shifts_.empty() ? shift : most;
    }

    // Allocates an entry for the part of a mapping, replacing the least recently used (or first inserted)
    // entry of its set; the caller fills in `what`. Null if there are no entries. `whole`: log2 of the size
    // of the mapping that it is a part of.
    entry *place(std::uint64_t address, std::uint32_t shift, std::uint32_t whole, const translation_tag &who)
    {
        if (ways_ == 0) {
            return nullptr;
        }
        const std::uint64_t first = address >> shift << shift;
        entry *const into =
            in_turn_ && filter_.none(first, shift) ? next_in_turn() : chosen(first, shift, who);
        if (sets_ == 1) {
            forget(*into);
            filter_.came(first, shift);
        }
        sizes_ |= std::uint64_t{1} << shift;
        into->first = first;
        into->shift = shift;
        into->whole = std::max(shift, whole);
        into->tag = who;
        into->used = ++clock_;
        return into;
    }
    void insert(std::uint64_t address, std::uint32_t shift, std::uint32_t whole, const translation_tag &who,
                const What &what)
    {
        if (entry *const into = place(address, shift, whole, who)) {
            into->what = what;
        }
    }

    // Stores a translation in a lockable entry, replacing its contents; it stays until invalidated. A normal
    // entry for the same addresses is removed.
    void lock(std::uint32_t number, std::uint64_t address, std::uint32_t shift, std::uint32_t whole,
              const translation_tag &who, const What &what)
    {
        while (entry *const known = search(address, who)) {
            if (number_of(*known) != entries_.size()) {
                forget(*known);
                in_turn_ = false;
            }
            *known = {};
        }
        locked_.at(number) = {address >> shift << shift, shift, std::max(shift, whole), who, what, ++clock_};
    }
    // A lockable entry; `used` 0: it is empty.
    [[nodiscard]] const entry &locked(std::uint32_t number) const { return locked_.at(number); }
    void unlock(std::uint32_t number) { locked_.at(number) = {}; }
    [[nodiscard]] std::uint32_t lockable() const { return static_cast<std::uint32_t>(locked_.size()); }

    // Invalidates all entries for which `which(entry)` is true.
    template <class Which> void invalidate(Which &&which, locked_entries locked = locked_entries::too)
    {
        for (entry &one : entries_) {
            if (one.used != 0 && which(one)) {
                forget(one);
                one = {};
                in_turn_ = false;
            }
        }
        if (locked == locked_entries::too) {
            for (entry &one : locked_) {
                one = one.used != 0 && which(one) ? entry{} : one;
            }
        }
    }
    void invalidate_all()
    {
        invalidate([](const entry &) { return true; });
        sizes_ = 0;
        begin_turns();
    }

    // Number of an entry. All locked entries share one number, that after the last normal entry.
    [[nodiscard]] std::uint32_t number_of(const entry &one) const
    {
        const std::less<> before;
        const entry *const begin = entries_.data();
        const bool here = !before(&one, begin) && before(&one, begin + entries_.size());
        return static_cast<std::uint32_t>(here ? &one - begin : std::ssize(entries_));
    }
    [[nodiscard]] std::uint32_t count() const { return static_cast<std::uint32_t>(entries_.size() + 1); }

private:
    translation_cache(const tlb_settings &wanted, std::uint32_t ways)
        : policy_(wanted.policy), page_shifts_(wanted.page_shifts), ways_(ways),
          sets_(ways == 0 ? 1 : wanted.entries / ways), entries_(wanted.entries),
          locked_(wanted.lockable_entries)
    {
        begin_turns();
    }

    // A fully associative cache that replaces its entries in the order of their insertion does so one after
    // the other, from `oldest_` on, as long as none is inserted anew or removed out of turn. It is empty now.
    void begin_turns()
    {
        in_turn_ = sets_ == 1 && policy_ == tlb_policy::fifo && ways_ != 0;
        oldest_ = 0;
    }
    entry *next_in_turn()
    {
        entry *const next = &entries_[oldest_];
        oldest_ = oldest_ + 1 == ways_ ? 0 : oldest_ + 1;
        return next;
    }
    // The entry that a new one replaces: that of the same addresses, or the one used or inserted first.
    entry *chosen(std::uint64_t first, std::uint32_t shift, const translation_tag &who)
    {
        const std::span<entry> set = set_of(first, shift);
        entry *into = set.data();
        for (entry &one : set) {
            if (one.first == first && one.shift == shift && one.tag.serves(who)) {
                into = &one;
                break;
            }
            into = one.used < into->used ? &one : into;
        }
        if (in_turn_) {
            in_turn_ = into == &entries_[oldest_];
            (void)next_in_turn();
        }
        return into;
    }
    // The entry's addresses are no longer translated by it.
    void forget(const entry &one)
    {
        if (sets_ == 1 && one.used != 0) {
            filter_.gone(one.first, one.shift);
        }
    }

    std::span<entry> set_of(std::uint64_t address, std::uint32_t shift)
    {
        return std::span{entries_}.subspan((address >> shift & (sets_ - 1)) * ways_, ways_);
    }

    // False: no entry of a fully associative cache has the address.
    [[nodiscard]] bool may_have(std::uint64_t address) const
    {
        for (std::uint64_t left = sizes_; left != 0; left &= left - 1) {
            if (!filter_.none(address, static_cast<std::uint32_t>(std::countr_zero(left)))) {
                return true;
            }
        }
        return false;
    }

    entry *search(std::uint64_t address, const translation_tag &who)
    {
        const auto in = [&](std::span<entry> some, auto &&fits) -> entry * {
            for (entry &one : some) {
                if (one.has(address) && one.used != 0 && fits(one) && one.tag.serves(who)) {
                    return &one;
                }
            }
            return nullptr;
        };
        if (entry *const found = in(locked_, [](const entry &) { return true; })) {
            return found;
        }
        if (sets_ == 1) {
            return may_have(address) ? in(entries_, [](const entry &) { return true; }) : nullptr;
        }
        for (std::uint64_t left = sizes_; left != 0; left &= left - 1) {
            const auto shift = static_cast<std::uint32_t>(std::countr_zero(left));
            const auto fits = [=](const entry &one) { return one.shift == shift; };
            if (entry *const found = in(set_of(address, shift), fits)) {
                return found;
            }
        }
        return nullptr;
    }

    tlb_policy policy_;
    std::vector<std::uint32_t> page_shifts_;
    std::uint32_t ways_;
    std::uint32_t sets_;
    std::uint64_t sizes_ = 0; // one bit for each entry size that was inserted
    std::uint64_t clock_ = 0;
    translation_filter filter_; // of the entries, without the locked ones; used with one set only
    bool in_turn_ = false;      // the entry that is replaced next is `oldest_`, and then the one behind it
    std::uint32_t oldest_ = 0;
    std::vector<entry> entries_; // grouped by set
    std::vector<entry> locked_;  // including empty ones
};

} // namespace bulkhead::machine
