// SPDX-License-Identifier: Apache-2.0
// Target `mxu_trie`: operations on a trie of ranges, with few or enough nodes in two kinds of memory,
// compared with a sorted map. After each step the trie has the map's ranges, in the shape that they
// determine, and a refused operation has changed nothing.
#include "input.h"
#include "require.h"

#include "core/mxu_trie.h"
#include "mxu_world.h"

#include <iterator>

namespace {

using bulkhead_fuzz::Input;
using bulkhead_fuzz::require;
using bulkhead_test::Ranges;
using bulkhead_test::Trie;

constexpr std::uint16_t most_ranges = 12;
constexpr std::uint32_t bases[] = {0,          0x08000000, 0x1FFFFF00, 0x20000000,
                                   0x21FFFF80, 0x60000000, 0xFFFFF000, 0xFFFFFF80};

std::uint32_t address(Input &input)
{
    const std::uint32_t base = input.pick(bases);
    const std::uint32_t granules = input.u8();
    return base + (granules << (input.u8() % 24));
}

std::uint32_t granule(Input &input)
{
    return address(input) / MXU_GRANULE * MXU_GRANULE;
}

bool overlaps(const Ranges &ranges, std::uint32_t first, std::uint32_t last)
{
    const auto after = ranges.upper_bound(last);
    return after != ranges.begin() && std::prev(after)->second >= first;
}

void look_up(Trie &trie, const Ranges &ranges, std::uint32_t at)
{
    const mxu_range *found = mxu_trie_find(trie.get(), at);
    const auto after = ranges.upper_bound(at);
    const bool before = after != ranges.begin();
    const bool held = before && std::prev(after)->second >= at;

    require((found != nullptr) == held, "a look-up finds what is not there, or not what is");
    require(found == nullptr || found->first == std::prev(after)->first, "a look-up finds another range");
    const std::int16_t nearest = mxu_trie_at_or_before(trie.get(), at);
    require((nearest != MXU_NONE) == before, "a range at or before is not found, or there is none");
    require(!before || trie.range(nearest).first == std::prev(after)->first, "another range at or before");
}

// A range of the map, selected by the next byte, or MXU_NONE.
std::int16_t any(Input &input, Trie &trie, const Ranges &ranges)
{
    const std::uint8_t which = input.u8();
    return ranges.empty()
               ? std::int16_t{MXU_NONE}
               : mxu_trie_lookup(
                     trie.get(),
                     std::next(ranges.begin(), which % static_cast<std::ptrdiff_t>(ranges.size()))->first);
}

void insert(Input &input, Trie &trie, Ranges &ranges)
{
    const std::uint32_t first = granule(input);
    const std::uint32_t last =
        input.u8() % 2 == 0 ? first + (input.u8() + 1u) * MXU_GRANULE - 1 : granule(input) - 1;
    std::int16_t number = MXU_NONE;
    const mxu_status status = mxu_trie_insert(trie.get(), first, last, &number);

    if (last < first) {
        require(status == MXU_EINVAL, "a range that ends before it begins");
    } else if (overlaps(ranges, first, last)) {
        require(status == MXU_EEXIST, "two ranges with one address");
    } else if (status == MXU_OK) {
        ranges[first] = last;
    } else {
        require(status == MXU_ENOMEM, "an insertion that nothing forbids");
        require(ranges.size() == most_ranges ||
                    trie->node_count - trie->used_nodes < static_cast<int>(MXU_TRIE_NEW_NODES),
                "no memory, although there is some");
    }
}

void split(Input &input, Trie &trie, Ranges &ranges)
{
    const std::int16_t number = any(input, trie, ranges);
    const std::uint32_t at = granule(input);
    std::int16_t upper = MXU_NONE;

    if (number != MXU_NONE) {
        const mxu_range old = trie.range(number);
        if (mxu_trie_split(trie.get(), number, at, &upper) == MXU_OK) {
            require(old.first < at && at <= old.last, "a split outside of its range");
            ranges[old.first] = at - 1;
            ranges[at] = old.last;
        }
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    Input input(data, bytes);
    const auto nodes = static_cast<std::uint16_t>(1 + input.u8() % MXU_TRIE_NODES(most_ranges));
    Trie trie(most_ranges, nodes);
    Ranges ranges;

    mxu_trie_give(trie.get(), 0, nodes / 3, MXU_PLACE_OCM);
    while (!input.empty()) {
        const std::uint8_t what = input.u8() % 8;
        std::int16_t number = MXU_NONE;

        if (what < 3) {
            insert(input, trie, ranges);
        } else if (what == 3) {
            split(input, trie, ranges);
        } else if (what == 4) {
            look_up(trie, ranges, address(input) - input.u8());
        } else if ((number = any(input, trie, ranges)) != MXU_NONE) {
            if (what == 5) {
                if (mxu_trie_place(trie.get(), number, MXU_PLACE_OCM) == MXU_OK) {
                    require(mxu_trie_placement(trie.get(), number) >= MXU_PLACE_OCM,
                            "a node that was not moved");
                }
            } else {
                ranges.erase(trie.range(number).first);
                mxu_trie_remove(trie.get(), number);
            }
        }
        const std::string wrong = bulkhead_test::wrong_with(*trie.get(), ranges);
        require(wrong.empty(), wrong.c_str());
        for (const auto &[first, last] : ranges) {
            look_up(trie, ranges, first - 1);
            look_up(trie, ranges, first);
            look_up(trie, ranges, last);
            look_up(trie, ranges, last + 1);
        }
    }
    return 0;
}
