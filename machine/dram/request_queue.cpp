// SPDX-License-Identifier: Apache-2.0
// Searches in the lists of one bank; see the header. Bounded by the queue's length.
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

// The oldest request for the open row, unless too many have overtaken the oldest of all.
void request_queue::choose(std::uint32_t bank, std::uint32_t open)
{
    line &own = lines_[bank];
    index found = own.overtaken < cap_ ? own.head : none;
    while (found != none && entries_[found].row != open) {
        found = entries_[found].next;
    }
    elect(own, bank, found != none ? found : own.head, open);
}

} // namespace bulkhead::machine::dram
