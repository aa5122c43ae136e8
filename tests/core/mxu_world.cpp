// SPDX-License-Identifier: Apache-2.0
// The check of a trie: the entries that the list of ranges alone requires.
#include "mxu_world.h"

#include <algorithm>
#include <cstdlib>
#include <set>

namespace bulkhead_test {

namespace {

struct Extent {
    std::uint64_t first, last;
};

// The parts of a span that are in ranges, with the entry's value for each.
std::vector<std::pair<Extent, std::int16_t>> parts(const mxu_trie &trie,
                                                   const std::vector<std::int16_t> &listed, Extent span)
{
    std::vector<std::pair<Extent, std::int16_t>> found;
    for (const std::int16_t number : listed) {
        const mxu_range &range = trie.ranges[number];
        if (range.last >= span.first && range.first <= span.last) {
            found.push_back({{std::max<std::uint64_t>(range.first, span.first),
                              std::min<std::uint64_t>(range.last, span.last)},
                             static_cast<std::int16_t>(~number)});
        }
    }
    return found;
}

struct Judge {
    const mxu_trie &trie;
    const std::vector<std::int16_t> &listed;
    std::set<std::int16_t> nodes{};

    std::string entry(std::int16_t value, Extent span, std::uint32_t depth)
    {
        const auto has = parts(trie, listed, span);

        if (has.size() < 2) {
            const std::int16_t due = has.empty() ? std::int16_t{MXU_NONE} : has.front().second;
            return value == due ? "" : "an entry without a branch has something else";
        }
        if (value < 0 || value >= trie.node_count) {
            return "an entry that branches has no node";
        }
        return node(value, {has.front().first.first, has.back().first.last}, depth);
    }

    std::string node(std::int16_t number, Extent content, std::uint32_t depth)
    {
        const mxu_node &node = trie.nodes[number];
        std::uint32_t shift = MXU_GRANULE_BITS;

        if (depth >= MXU_TRIE_LEVELS) {
            return "more levels than there are";
        }
        if (!nodes.insert(number).second) {
            return "a node has two parents";
        }
        while (content.first >> (shift + MXU_TRIE_STRIDE) != content.last >> (shift + MXU_TRIE_STRIDE)) {
            shift += MXU_TRIE_STRIDE;
        }
        const std::uint64_t base = content.first >> (shift + MXU_TRIE_STRIDE) << (shift + MXU_TRIE_STRIDE);
        if (node.shift != shift || node.base != base) {
            return "a node is not that of the smallest span";
        }
        for (std::uint64_t i = 0; i < MXU_TRIE_ENTRIES; ++i) {
            const std::uint64_t first = base + (i << shift);
            const std::string wrong =
                entry(node.entry[i], {first, first + (std::uint64_t{1} << shift) - 1}, depth + 1);
            if (!wrong.empty()) {
                return wrong;
            }
        }
        return "";
    }
};

bool is_empty(const mxu_node &node)
{
    return std::ranges::all_of(node.entry, [](std::int16_t entry) { return entry == MXU_NONE; });
}

// Numbers of a free list, or one number too many if it does not end.
std::size_t free_nodes(const mxu_trie &trie, std::set<std::int16_t> &seen)
{
    std::size_t count = 0;
    for (std::uint8_t placement = 0; placement < MXU_PLACEMENTS; ++placement) {
        for (std::int16_t number = trie.free_nodes[placement]; number != MXU_NONE;
             number = trie.nodes[number].next_free) {
            const mxu_node &node = trie.nodes[number];
            if (node.placement != placement || !is_empty(node) || !seen.insert(number).second) {
                return trie.node_count + 1u;
            }
            ++count;
        }
    }
    return count;
}

} // namespace

Trie::Trie(std::uint16_t ranges, std::uint16_t nodes, mxu_placement placement)
    : nodes_(nodes), ranges_(ranges)
{
    mxu_trie_init(&trie_, nodes_.data(), nodes, ranges_.data(), ranges, placement);
}

std::int16_t Trie::insert(std::uint32_t first, std::uint32_t last)
{
    std::int16_t number = MXU_NONE;

    if (mxu_trie_insert(&trie_, first, last, &number) != MXU_OK) {
        std::abort();
    }
    return number;
}

std::vector<std::int16_t> Trie::listed() const
{
    std::vector<std::int16_t> found;
    for (std::int16_t number = trie_.first; number != MXU_NONE; number = trie_.ranges[number].next) {
        found.push_back(number);
    }
    return found;
}

std::string wrong_with(const mxu_trie &trie, const Ranges &expected)
{
    std::vector<std::int16_t> listed;
    std::int16_t previous = MXU_NONE;

    for (std::int16_t number = trie.first; number != MXU_NONE; number = trie.ranges[number].next) {
        if (number < 0 || number >= trie.range_count || listed.size() > expected.size()) {
            return "the list leads astray";
        }
        if (trie.ranges[number].previous != previous) {
            return "the list is not the same backwards";
        }
        listed.push_back(number);
        previous = number;
    }
    if (listed.size() != expected.size() || trie.used_ranges != expected.size()) {
        return "the list has more or fewer ranges";
    }
    auto at = listed.begin();
    for (const auto &[first, last] : expected) {
        const mxu_range &range = trie.ranges[*at++];
        if (range.first != first || range.last != last) {
            return "the list has another range";
        }
    }
    Judge judge{trie, listed};
    for (std::uint64_t i = 0; i < MXU_ROOT_ENTRIES; ++i) {
        const Extent span{i << MXU_ROOT_SHIFT, ((i + 1) << MXU_ROOT_SHIFT) - 1};
        const std::string wrong = judge.entry(trie.root[i], span, 0);
        if (!wrong.empty()) {
            return wrong;
        }
    }
    std::set<std::int16_t> all = judge.nodes;
    if (trie.used_nodes != all.size() || free_nodes(trie, all) + trie.used_nodes != trie.node_count) {
        return "a node is neither free nor used, or both";
    }
    std::size_t free = 0;
    for (std::int16_t number = trie.free_ranges; number != MXU_NONE && free <= trie.range_count;
         number = trie.ranges[number].next) {
        ++free;
    }
    return free + listed.size() == trie.range_count ? "" : "a range is neither free nor used, or both";
}

} // namespace bulkhead_test
