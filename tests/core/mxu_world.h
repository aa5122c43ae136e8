// SPDX-License-Identifier: Apache-2.0
// Shared by the tests and the fuzz target of MxU: a trie with its memory, and a check of its shape, which
// keeps the ranges as a sorted map and derives each entry from it.
#pragma once

#include "core/mxu_trie.h"

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace bulkhead_test {

// last address by first address.
using Ranges = std::map<std::uint32_t, std::uint32_t>;

// Random 32-bit numbers, the same each time.
class Random {
public:
    explicit Random(unsigned seed) : engine_(seed) {}
    std::uint32_t operator()() { return static_cast<std::uint32_t>(engine_()); }

private:
    std::mt19937 engine_;
};

class Trie {
public:
    explicit Trie(std::uint16_t ranges, std::uint16_t nodes, mxu_placement placement = MXU_PLACE_PLAIN);
    explicit Trie(std::uint16_t ranges) : Trie(ranges, static_cast<std::uint16_t>(MXU_TRIE_NODES(ranges))) {}
    Trie(const Trie &) = delete;
    Trie &operator=(const Trie &) = delete;

    mxu_trie *operator->() { return &trie_; }
    mxu_trie *get() { return &trie_; }
    const mxu_range &range(std::int16_t number) const { return ranges_[static_cast<std::size_t>(number)]; }

    // Returns the number of the new range; there must be room for it.
    std::int16_t insert(std::uint32_t first, std::uint32_t last);
    // The list, in its order.
    std::vector<std::int16_t> listed() const;

private:
    std::vector<mxu_node> nodes_;
    std::vector<mxu_range> ranges_;
    mxu_trie trie_{};
};

// Empty if the trie has exactly these ranges, in the list and in the nodes, in the shape that they determine,
// and all other nodes and ranges are free. Otherwise the first error.
std::string wrong_with(const mxu_trie &trie, const Ranges &expected);

} // namespace bulkhead_test
