// SPDX-License-Identifier: Apache-2.0
// Searches in the requests of one bank; see the header. Bounded by the queue's length.
#include "machine/dram/request_queue.h"

namespace bulkhead::machine::dram {

request_queue::request_queue(std::uint32_t capacity, std::uint32_t cap)
    : entries_(std::make_unique<entry[]>(capacity + 1)),
      lines_(std::make_unique<line[]>(max_banks_per_channel)), cap_(cap)
{
    for (std::uint32_t i = 1; i <= capacity; ++i) {
        entries_[i].next = free_;
        free_ = &entries_[i];
    }
}

bool request_queue::has(const place &at) const
{
    const line &own = lines_[at.bank];
    for (const place_of_bank *i = own.next; i != &own; i = i->next) {
        if (request_at(i).row == at.row && request_at(i).column == at.column) {
            return true;
        }
    }
    return false;
}

bool request_queue::wants(std::uint32_t bank, std::uint32_t row) const
{
    const line &own = lines_[bank];
    for (const place_of_bank *i = own.next; i != &own; i = i->next) {
        if (request_at(i).row == row) {
            return true;
        }
    }
    return false;
}

// The oldest request for the open row, unless too many have overtaken the oldest of all.
void request_queue::choose(std::uint32_t bank, std::uint32_t open)
{
    line &own = lines_[bank];
    place_of_bank *found = own.overtaken < cap_ ? own.next : &own;
    while (found != &own && request_at(found).row != open) {
        found = found->next;
    }
    own.candidate = static_cast<entry *>(found != &own ? found : own.next);
    hits_ = (hits_ & ~bit(bank)) | (own.candidate->row == open ? bit(bank) : 0);
}

} // namespace bulkhead::machine::dram
