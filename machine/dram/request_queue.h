// SPDX-License-Identifier: Apache-2.0
// The queued requests of one direction, reads or writes, by bank and by age. It selects the next request of
// each bank, respecting row hits and a cap on overtaking; the scheduler chooses the bank.
#pragma once

#include <memory>

#include "machine/dram/organization.h"

namespace bulkhead::machine::dram {

class request_queue {
    // An element in the ring of a bank's requests, in order of arrival. One element of the ring is not a
    // request, so that requests are inserted and removed without a special case at the ends.
    struct place_of_bank {
        place_of_bank *next = this;
        place_of_bank *previous = this;
    };

public:
    struct entry : private place_of_bank {
        std::uint64_t id = 0;
        std::uint64_t order = 0;   // number in the order of arrival
        std::uint64_t arrived = 0; // clock in which it entered the queue
        std::uint32_t row = 0;
        std::uint32_t column = 0;
        std::uint16_t bank = 0;
        std::uint16_t partition = 0; // MPAM partition
        std::uint32_t stamp = 0;     // column commands of the channel when it arrived, modulo 2^32
        entry *younger = this; // ring of all requests by age; entry 0, which is not a request, closes the
                               // ring
        entry *older = this;

    private:
        friend class request_queue;
    };

    // `cap`: row hits of a bank that may overtake an older request of that bank.
    request_queue(std::uint32_t capacity, std::uint32_t cap);

    [[nodiscard]] std::uint32_t size() const { return size_; }
    [[nodiscard]] bool full() const { return free_ == nullptr; }
    // banks(): bit b: bank b has requests. hits(): bit b: the candidate of bank b needs the open row.
    [[nodiscard]] std::uint64_t banks() const { return banks_; }
    [[nodiscard]] std::uint64_t hits() const { return hits_; }
    // The next request of a bank, which must have requests.
    [[nodiscard]] const entry &candidate(std::uint32_t bank) const { return *lines_[bank].candidate; }
    // The oldest of all requests; the queue must not be empty.
    [[nodiscard]] const entry *oldest() const { return ages().younger; }

    // Whether a request for the same burst is queued.
    [[nodiscard]] bool has(const place &at) const;
    // Whether any request of the bank needs the row.
    [[nodiscard]] bool wants(std::uint32_t bank, std::uint32_t row) const;

    // Properties of an arriving request; see entry.
    struct arrival {
        std::uint64_t id;
        std::uint64_t order;
        std::uint64_t when;
        std::uint32_t stamp = 0;
        std::uint16_t partition = 0;
    };

    // Adds a request; the queue must not be full. `open`: the row that is open in the bank.
    void append(const arrival &one, const place &at, std::uint32_t open)
    {
        entry &added = *free_;
        line &bank = lines_[at.bank];
        free_ = static_cast<entry *>(added.next);
        added.id = one.id;
        added.order = one.order;
        added.arrived = one.when;
        added.stamp = one.stamp;
        added.partition = one.partition;
        added.row = at.row;
        added.column = at.column;
        added.bank = static_cast<std::uint16_t>(at.bank);
        added.next = &bank;
        added.previous = bank.previous;
        bank.previous->next = &added;
        bank.previous = &added;
        entry &all = ages();
        added.younger = &all;
        added.older = all.older;
        all.older->younger = &added;
        all.older = &added;
        ++size_;
        const std::uint64_t own = bit(at.bank);
        if ((banks_ & own) == 0) {
            banks_ |= own;
            hits_ |= at.row == open ? own : 0;
            bank.candidate = &added;
        } else if (at.row == open && (hits_ & own) == 0) {
            choose(at.bank, open);
        }
    }

    // Makes a queued request its bank's candidate, until the next change of the bank. `open`: the bank's open
    // row.
    void prefer(const entry &which, std::uint32_t open)
    {
        lines_[which.bank].candidate = which.younger->older; // the same entry, as a pointer to non-const
        hits_ = (hits_ & ~bit(which.bank)) | (which.row == open ? bit(which.bank) : 0);
    }

    // Removes the bank's candidate, which was served; `open`: the bank's open row.
    void remove_candidate(std::uint32_t bank, std::uint32_t open)
    {
        line &own = lines_[bank];
        entry &gone = *own.candidate;
        own.overtaken = &gone == own.next ? 0 : own.overtaken + 1;
        gone.previous->next = gone.next;
        gone.next->previous = gone.previous;
        gone.older->younger = gone.younger;
        gone.younger->older = gone.older;
        gone.next = free_;
        free_ = &gone;
        --size_;
        if (own.next == &own) {
            banks_ &= ~bit(bank);
            hits_ &= ~bit(bank);
        } else {
            choose(bank, open);
        }
    }

    // Another row was opened in the bank.
    void row_opened(std::uint32_t bank, std::uint32_t open)
    {
        if ((banks_ & bit(bank)) != 0) {
            choose(bank, open);
        }
    }
    // The bank's row was closed.
    void row_closed(std::uint32_t bank)
    {
        line &own = lines_[bank];
        hits_ &= ~bit(bank);
        own.candidate = static_cast<entry *>(own.next); // not used if the bank has no requests
    }

private:
    struct line : place_of_bank {
        entry *candidate = nullptr;  // valid if the bank has requests
        std::uint32_t overtaken = 0; // row hits served since an older request was overtaken
    };

    static constexpr std::uint64_t bit(std::uint32_t bank) { return std::uint64_t{1} << bank; }
    static const entry &request_at(const place_of_bank *at) { return static_cast<const entry &>(*at); }
    // The element in the ring of all requests that is not a request.
    [[nodiscard]] entry &ages() const { return entries_[0]; }
    void choose(std::uint32_t bank, std::uint32_t open);

    // On the heap and never moved, since they point at each other.
    std::unique_ptr<entry[]> entries_;
    std::unique_ptr<line[]> lines_;
    entry *free_ = nullptr;
    std::uint32_t size_ = 0;
    std::uint32_t cap_;
    std::uint64_t banks_ = 0;
    std::uint64_t hits_ = 0;
};

} // namespace bulkhead::machine::dram
