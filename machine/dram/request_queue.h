// SPDX-License-Identifier: Apache-2.0
// The queued requests of one direction, reads or writes, by bank and by age. It knows which of a bank's
// requests goes next when rows and a cap on overtaking are respected; which bank goes next is the scheduler's
// choice.
#pragma once

#include <array>
#include <vector>

#include "machine/dram/organization.h"

namespace bulkhead::machine::dram {

class request_queue {
public:
    static constexpr std::uint32_t none = ~std::uint32_t{0};
    using index = std::uint32_t;

    struct entry {
        std::uint64_t id;
        std::uint64_t order; // of arrival
        std::uint32_t row;
        std::uint32_t column;
        std::uint32_t bank;
        index next; // of its bank
        index previous;
        index younger; // of all
        index older;
    };

    // `cap`: row hits of a bank that may overtake an older request of it.
    request_queue(std::uint32_t capacity, std::uint32_t cap);

    [[nodiscard]] std::uint32_t size() const { return size_; }
    [[nodiscard]] bool full() const { return free_ == none; }
    // Bit b: bank b has requests; its candidate wants the open row.
    [[nodiscard]] std::uint64_t banks() const { return banks_; }
    [[nodiscard]] std::uint64_t hits() const { return hits_; }
    [[nodiscard]] const entry &at(index which) const { return entries_[which]; }
    // The bank's request that goes next, or none.
    [[nodiscard]] index candidate(std::uint32_t bank) const { return lines_[bank].candidate; }
    [[nodiscard]] index oldest() const { return oldest_; }

    // The queued request for the same row and column, or none.
    [[nodiscard]] index find(const place &at) const;
    // Whether any request of the bank wants the row.
    [[nodiscard]] bool wants(std::uint32_t bank, std::uint32_t row) const;

    // Not when it is full. `open`: the row that is open in the bank.
    void append(std::uint64_t id, std::uint64_t order, const place &at, std::uint32_t open)
    {
        const index added = free_;
        entry &own = entries_[added];
        line &bank = lines_[at.bank];
        free_ = own.next;
        own = {.id = id,
               .order = order,
               .row = at.row,
               .column = at.column,
               .bank = at.bank,
               .next = none,
               .previous = bank.tail,
               .younger = none,
               .older = youngest_};
        (bank.tail == none ? bank.head : entries_[bank.tail].next) = added;
        (youngest_ == none ? oldest_ : entries_[youngest_].younger) = added;
        bank.tail = added;
        youngest_ = added;
        ++size_;
        if (bank.candidate == none) {
            banks_ |= bit(at.bank);
            elect(bank, at.bank, added, open);
        } else if (at.row == open && (hits_ & bit(at.bank)) == 0) {
            choose(at.bank, open);
        }
    }

    // Takes the bank's candidate out, which was served; `open`: its row.
    void remove_candidate(std::uint32_t bank, std::uint32_t open)
    {
        line &own = lines_[bank];
        const index gone = own.candidate;
        entry &served = entries_[gone];
        own.overtaken = gone == own.head ? 0 : own.overtaken + 1;
        (served.previous == none ? own.head : entries_[served.previous].next) = served.next;
        (served.next == none ? own.tail : entries_[served.next].previous) = served.previous;
        (served.older == none ? oldest_ : entries_[served.older].younger) = served.younger;
        (served.younger == none ? youngest_ : entries_[served.younger].older) = served.older;
        served.next = free_;
        free_ = gone;
        --size_;
        if (own.head == none) {
            own.candidate = none;
            banks_ &= ~bit(bank);
            hits_ &= ~bit(bank);
        } else {
            choose(bank, open);
        }
    }

    // The bank's open row changed.
    void row_changed(std::uint32_t bank, std::uint32_t open)
    {
        if ((banks_ & bit(bank)) != 0) {
            choose(bank, open);
        }
    }

private:
    struct line {
        index head = none; // the oldest
        index tail = none;
        index candidate = none;
        std::uint32_t overtaken = 0; // hits served since an older request was passed over
    };

    static constexpr std::uint64_t bit(std::uint32_t bank) { return std::uint64_t{1} << bank; }
    void elect(line &own, std::uint32_t bank, index which, std::uint32_t open)
    {
        own.candidate = which;
        hits_ = (hits_ & ~bit(bank)) | static_cast<std::uint64_t>(entries_[which].row == open) << bank;
    }
    void choose(std::uint32_t bank, std::uint32_t open);

    std::vector<entry> entries_;
    index free_ = none;
    index oldest_ = none;
    index youngest_ = none;
    std::uint32_t size_ = 0;
    std::uint32_t cap_;
    std::uint64_t banks_ = 0;
    std::uint64_t hits_ = 0;
    std::array<line, max_banks_per_channel> lines_{};
};

} // namespace bulkhead::machine::dram
