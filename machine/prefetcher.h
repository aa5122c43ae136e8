// SPDX-License-Identifier: Apache-2.0
// Finds accesses that follow each other at a fixed distance of lines, and says which lines to fetch ahead. It
// sees what L1 missed (and what it would have missed but for earlier prefetches), knows physical lines only,
// and so never leaves a page. A core owns one and does the fetching.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "machine/settings.h"

namespace bulkhead::machine {

class prefetcher {
public:
    prefetcher(const prefetcher_settings &wanted, std::uint32_t line_bytes)
        : wanted_(wanted), page_lines_(std::max(1U, wanted.page_bytes / line_bytes)),
          streams_(wanted.depth_lines == 0 ? 0 : wanted.streams)
    {
    }

    [[nodiscard]] bool enabled() const { return !streams_.empty(); }

    // Line number `line` was wanted. `fetch(number)` is called for each line to be fetched ahead, nearest
    // first, until it returns false.
    template <class Fetch> void wanted(std::int64_t line, Fetch &&fetch)
    {
        const auto reach = static_cast<std::int64_t>(wanted_.max_stride_lines);
        for (stream &one : streams_) {
            const std::int64_t distance = line - one.last;
            // No stride is longer: from -reach to reach, in one comparison.
            if (static_cast<std::uint64_t>(distance + reach) > static_cast<std::uint64_t>(2 * reach))
                [[likely]] {
                continue;
            }
            if (continues(one, distance)) {
                go_on(one, line, fetch);
                return;
            }
        }
        if (!streams_.empty()) {
            streams_[next_].last = line;
            streams_[next_].stride = 0;
            next_ = next_ + 1 == wanted_.streams ? 0 : next_ + 1;
        }
    }

private:
    static constexpr std::int64_t nowhere = -1;
    struct stream {
        std::int64_t last = nowhere;
        std::int64_t stride = 0;     // 0: only one line is known
        std::int64_t ahead = 0;      // strides beyond `last` that were fetched
        std::uint32_t confirmed = 0; // how often the stride was seen
    };

    // Whether a line so far from the last one follows it; the second line of a stream gives the stride.
    static bool continues(stream &one, std::int64_t distance)
    {
        if (one.stride != 0) {
            return distance == one.stride;
        }
        if (distance == 0 || one.last == nowhere) {
            return false;
        }
        one.stride = distance;
        one.ahead = 0;
        one.confirmed = 0;
        return true;
    }

    template <class Fetch> void go_on(stream &one, std::int64_t line, Fetch &fetch)
    {
        one.confirmed += one.confirmed < wanted_.confirmations ? 1 : 0;
        one.ahead -= one.ahead > 0 ? 1 : 0;
        one.last = line;
        if (one.confirmed >= wanted_.confirmations) {
            fetch_ahead(one, fetch);
        }
    }

    template <class Fetch> void fetch_ahead(stream &one, Fetch &fetch)
    {
        while (one.ahead < static_cast<std::int64_t>(wanted_.depth_lines)) {
            const std::int64_t next = one.last + (one.ahead + 1) * one.stride;
            if (next < 0 || next / page_lines_ != one.last / page_lines_ || !fetch(next)) {
                return;
            }
            ++one.ahead;
        }
    }

    prefetcher_settings wanted_;
    std::int64_t page_lines_;
    std::vector<stream> streams_;
    std::uint32_t next_ = 0;
};

} // namespace bulkhead::machine
