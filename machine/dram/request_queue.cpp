// SPDX-License-Identifier: Apache-2.0
// Lists of requests by bank; see the header.
#include "machine/dram/request_queue.h"

namespace bulkhead::machine::dram {

request_queue::request_queue(std::uint32_t capacity, std::uint32_t cap) : entries_(capacity), cap_(cap)
{
    for (index i = 0; i < capacity; ++i) {
        entries_[i].next = free_;
        free_ = i;
    }
}

request_queue::index request_queue::find(const place &at) const
{
    for (index i = lines_[at.bank].head; i != none; i = entries_[i].next) {
        if (entries_[i].row == at.row && entries_[i].column == at.column) {
            return i;
        }
    }
    return none;
}

bool request_queue::wants(std::uint32_t bank, std::uint32_t row) const
{
    for (index i = lines_[bank].head; i != none; i = entries_[i].next) {
        if (entries_[i].row == row) {
            return true;
        }
    }
    return false;
}

void request_queue::append(std::uint64_t id, std::uint64_t order, const place &at, std::uint32_t open)
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
           .previous = bank.tail};
    (bank.tail == none ? bank.head : entries_[bank.tail].next) = added;
    bank.tail = added;
    banks_ |= std::uint64_t{1} << at.bank;
    ++size_;
    if (bank.candidate == none) {
        bank.candidate = added;
    } else if (at.row == open && entries_[bank.candidate].row != open) {
        choose(at.bank, open);
    }
}

void request_queue::remove_candidate(std::uint32_t bank, std::uint32_t open)
{
    line &own = lines_[bank];
    const index gone = own.candidate;
    entry &served = entries_[gone];
    own.overtaken = gone == own.head ? 0 : own.overtaken + 1;
    (served.previous == none ? own.head : entries_[served.previous].next) = served.next;
    (served.next == none ? own.tail : entries_[served.next].previous) = served.previous;
    served.next = free_;
    free_ = gone;
    --size_;
    if (own.head == none) {
        own.candidate = none;
        banks_ &= ~(std::uint64_t{1} << bank);
    } else {
        choose(bank, open);
    }
}

// The oldest request for the open row, unless too many have overtaken the oldest of all.
void request_queue::choose(std::uint32_t bank, std::uint32_t open)
{
    line &own = lines_[bank];
    own.candidate = own.head;
    if (own.head == none || entries_[own.head].row == open || own.overtaken >= cap_) {
        return;
    }
    for (index i = entries_[own.head].next; i != none; i = entries_[i].next) {
        if (entries_[i].row == open) {
            own.candidate = i;
            return;
        }
    }
}

} // namespace bulkhead::machine::dram
