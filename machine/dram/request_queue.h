// SPDX-License-Identifier: Apache-2.0
// The queued requests of one direction, reads or writes, by bank and age. It knows which of a bank's requests
// goes next when rows and a cap on overtaking are respected; which bank goes next is the scheduler's choice.
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
        index next;
        index previous;
    };

    // `cap`: row hits of a bank that may overtake an older request of it.
    request_queue(std::uint32_t capacity, std::uint32_t cap);

    [[nodiscard]] std::uint32_t size() const { return size_; }
    [[nodiscard]] bool full() const { return free_ == none; }
    // Bit b: bank b has requests.
    [[nodiscard]] std::uint64_t banks() const { return banks_; }
    [[nodiscard]] const entry &at(index which) const { return entries_[which]; }
    // The bank's request that goes next, or none.
    [[nodiscard]] index candidate(std::uint32_t bank) const { return lines_[bank].candidate; }

    // The queued request for the same row and column, or none.
    [[nodiscard]] index find(const place &at) const;
    // Whether any request of the bank wants the row.
    [[nodiscard]] bool wants(std::uint32_t bank, std::uint32_t row) const;

    // Not when it is full. `open`: the row that is open in the bank.
    void append(std::uint64_t id, std::uint64_t order, const place &at, std::uint32_t open);
    // Takes the bank's candidate out, which was served; `open`: its row.
    void remove_candidate(std::uint32_t bank, std::uint32_t open);
    // The bank's open row changed.
    void choose(std::uint32_t bank, std::uint32_t open);

private:
    struct line {
        index head = none; // the oldest
        index tail = none;
        index candidate = none;
        std::uint32_t overtaken = 0; // hits served since an older request was passed over
    };

    std::vector<entry> entries_;
    index free_ = none;
    std::uint32_t size_ = 0;
    std::uint32_t cap_;
    std::uint64_t banks_ = 0;
    std::array<line, max_banks_per_channel> lines_{};
};

} // namespace bulkhead::machine::dram
