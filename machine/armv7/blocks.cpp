// SPDX-License-Identifier: Apache-2.0
// Decodes, finds and ends blocks; see the header.
#include "machine/armv7/blocks.h"

#include <algorithm>
#include <cstring>

#include "machine/armv7/dependence.h"

namespace bulkhead::machine::armv7 {

namespace {

std::uint32_t halfword_at(const std::uint8_t *content)
{
    std::uint16_t value = 0;
    std::memcpy(&value, content, sizeof value);
    return value;
}

bool overlap(phys_addr a, std::uint32_t a_bytes, phys_addr b, std::uint32_t b_bytes)
{
    return a.value < b.value + b_bytes && b.value < a.value + a_bytes;
}

} // namespace

bool blocks::goes_beyond(const code_span &span)
{
    return span.bytes < 4 && is_first_of_two(halfword_at(span.content));
}

block *blocks::find(const block_place &place, const code &of)
{
    const auto found = by_place_.find(key_of(place));
    if (found == by_place_.end()) {
        return nullptr;
    }
    for (const std::unique_ptr<block> &each : found->second) {
        const bool same_rest =
            each->rest.has_value() == of.rest.has_value() && (!each->rest || *each->rest == of.rest->where);
        if (each->where == of.span.where && each->cached == of.span.cached && same_rest &&
            each->bytes <= of.span.bytes) {
            return each.get();
        }
    }
    return nullptr;
}

block &blocks::decode(const block_place &place, const code &of)
{
    ++decoded_;
    auto made = std::make_unique<block>();
    block &one = *made;
    one.place = place;
    one.where = of.span.where;
    one.cached = of.span.cached;
    const bool asks = !one.cached || lines_->asks();
    if (of.rest) {
        one.rest = of.rest->where;
        one.bytes = of.span.bytes;
        const std::uint32_t word = halfword_at(of.span.content) << 16U | halfword_at(of.rest->content);
        one.operations.push_back(armv7::decode(word, 4, {place.address, place.it, true}, has_));
        const std::uint32_t behind = place.address + of.span.bytes;
        if (!of.rest->cached || lines_->asks()) {
            one.operations[0].line = &lines_->at(behind, of.rest->where, of.rest->cached);
        }
    } else {
        const code_reader reader(place.address, of.span.bytes, of.span.content, has_);
        const auto line_of = [this](std::uint32_t address) { return address / lines_->line_bytes(); };
        std::uint32_t line = line_of(place.address);
        instruction_place at{place.address, place.it, place.thumb};
        while (one.operations.size() < most_operations) {
            std::optional<operation> next = reader.at(at);
            if (!next) {
                break;
            }
            const std::uint32_t last_byte = at.address + next->bytes - 1;
            if (asks && line_of(last_byte) != line) {
                line = line_of(last_byte);
                next->line = &lines_->at(last_byte, phys_addr{one.where.value + (last_byte - place.address)},
                                         one.cached);
            }
            next->dependent = is_waited_for(*next, place.thumb, reader);
            one.operations.push_back(*next);
            at = {at.address + next->bytes, next->next_it, at.thumb};
            if (next->ends_block) {
                break;
            }
        }
        if (one.operations.empty()) { // less than an instruction: nothing to execute
            at.address += of.span.bytes;
            one.operations.push_back(armv7::decode(0, 4, {place.address, place.it, place.thumb}, has_));
        }
        one.bytes = at.address - place.address;
    }
    if (asks) {
        one.line = &lines_->at(place.address, one.where, one.cached);
    }
    note_pages(one, true);
    by_place_[key_of(place)].push_back(std::move(made));
    return one;
}

// A block is shorter than a page, so it lies in the pages of its two ends.
void blocks::note_pages(block &one, bool added)
{
    std::vector<std::uint64_t> pages{one.where.value >> page_bits,
                                     (one.where.value + one.bytes - 1) >> page_bits};
    if (one.rest) {
        pages.push_back(one.rest->value >> page_bits);
    }
    std::ranges::sort(pages);
    pages.erase(std::unique(pages.begin(), pages.end()), pages.end());
    for (const std::uint64_t page : pages) {
        std::uint32_t &count = filter_[page & (filter_size - 1)];
        if (added) {
            ++count;
            by_page_[page].push_back(&one);
        } else {
            --count;
            std::erase(by_page_[page], &one);
        }
    }
}

void blocks::end(block &one)
{
    one.ended = true;
    one.allowed_in = {};
    note_pages(one, false);
    auto &same = by_place_[key_of(one.place)];
    const auto own = std::ranges::find_if(same, [&one](const auto &each) { return each.get() == &one; });
    ended_.push_back(std::move(*own));
    same.erase(own);
}

bool blocks::end(phys_addr where, std::uint32_t bytes)
{
    std::vector<block *> hit;
    for (std::uint64_t page = where.value >> page_bits; page <= (where.value + bytes - 1) >> page_bits;
         ++page) {
        const auto found = by_page_.find(page);
        if (found == by_page_.end()) {
            continue;
        }
        for (block *each : found->second) {
            const bool in_rest = each->rest && overlap(*each->rest, 2, where, bytes);
            if (!each->ended && (in_rest || overlap(each->where, each->bytes, where, bytes))) {
                hit.push_back(each);
            }
        }
    }
    for (block *each : hit) {
        if (!each->ended) {
            end(*each);
        }
    }
    return !hit.empty();
}

void blocks::end_all()
{
    for (auto &[place, same] : by_place_) {
        for (std::unique_ptr<block> &each : same) {
            each->ended = true;
            each->allowed_in = {};
            ended_.push_back(std::move(each));
        }
    }
    by_place_.clear();
    by_page_.clear();
    filter_.fill(0);
}

void blocks::collect()
{
    for (auto &[place, same] : by_place_) {
        for (const std::unique_ptr<block> &each : same) {
            for (block *&follower : each->followers) {
                if (follower != nullptr && follower->ended) {
                    follower = nullptr;
                }
            }
        }
    }
    ended_.clear();
}

} // namespace bulkhead::machine::armv7
