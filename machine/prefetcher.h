// SPDX-License-Identifier: Apache-2.0
// Detects accesses that follow each other at a fixed distance of lines, and says which lines to prefetch. It
// sees the misses of L1 (and accesses that would have missed without earlier prefetches) and only physical
// lines, so it never crosses a page: a stream ends with its page, and the next page begins a new one. A core
// owns one and does the fetching.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "machine/settings.h"

namespace bulkhead::machine {

class prefetcher {
public:
    struct stream {
        std::uint64_t last = 0;      // last line of the stream
        std::int64_t stride = 0;     // in lines; 0: only one line is known
        std::int64_t ahead = 0;      // strides beyond `last` that were prefetched; counted by the caller
        std::uint32_t confirmed = 0; // how often the stride was seen
    };

    prefetcher(const prefetcher_settings &wanted, std::uint32_t line_bytes)
        : wanted_(wanted), page_lines_(std::max(1U, wanted.page_bytes / line_bytes)),
          lasts_(wanted.depth_lines == 0 ? 0 : wanted.streams, nowhere), streams_(lasts_.size())
    {
    }

    [[nodiscard]] bool enabled() const { return !lasts_.empty(); }

    // A demand for line number `line`. Returns the stream that it continues, if lines are to be prefetched
    // for it, or null. Call only if enabled(). Valid until the next call.
    [[gnu::noinline]] stream *wanted(std::uint64_t line)
    {
        // Tests in one comparison whether the stride is within -reach to reach, the longest strides.
        const std::uint64_t reach = wanted_.max_stride_lines;
        for (const std::uint64_t last : lasts_) {
            if (line + reach - last <= 2 * reach) [[unlikely]] {
                return near(line);
            }
        }
        replace(line);
        return nullptr;
    }
    // The line to prefetch next for a stream; nothing if it is beyond the stream's page or depth.
    [[nodiscard]] std::optional<std::uint64_t> next_of(const stream &one) const
    {
        if (one.ahead >= static_cast<std::int64_t>(wanted_.depth_lines)) {
            return std::nullopt;
        }
        const auto next = one.last + static_cast<std::uint64_t>((one.ahead + 1) * one.stride);
        return page_of(next) != page_of(one.last) ? std::nullopt : std::optional(next);
    }

private:
    static constexpr std::uint64_t nowhere = ~std::uint64_t{0} >> 1U; // far from any line

    [[nodiscard]] std::uint64_t page_of(std::uint64_t line) const { return line / page_lines_; }

    void replace(std::uint64_t line)
    {
        lasts_[next_] = line;
        streams_[next_].stride = 0;
        next_ = next_ + 1 == lasts_.size() ? 0 : next_ + 1;
    }

    // wanted() for a line that may belong to a stream.
    [[gnu::noinline]] stream *near(std::uint64_t line)
    {
        const std::uint64_t reach = wanted_.max_stride_lines;
        for (std::size_t i = 0; i < lasts_.size(); ++i) {
            if (line + reach - lasts_[i] <= 2 * reach && continues(i, line)) {
                return go_on(i, line);
            }
        }
        replace(line);
        return nullptr;
    }

    // Whether the line continues the stream; the second line of a stream sets the stride.
    bool continues(std::size_t which, std::uint64_t line)
    {
        if (page_of(line) != page_of(lasts_[which])) {
            return false;
        }
        stream &one = streams_[which];
        const auto distance = static_cast<std::int64_t>(line - lasts_[which]);
        if (one.stride != 0) {
            return distance == one.stride;
        }
        if (distance == 0) {
            return false;
        }
        one = {0, distance, 0, 0};
        return true;
    }

    stream *go_on(std::size_t which, std::uint64_t line)
    {
        stream &one = streams_[which];
        one.confirmed += one.confirmed < wanted_.confirmations ? 1 : 0;
        one.ahead -= one.ahead > 0 ? 1 : 0;
        one.last = line;
        lasts_[which] = line;
        return one.confirmed >= wanted_.confirmations ? &one : nullptr;
    }

    prefetcher_settings wanted_;
    std::uint64_t page_lines_;
    std::vector<std::uint64_t> lasts_; // by stream: its last line
    std::vector<stream> streams_;
    std::size_t next_ = 0; // stream to be replaced next
};

} // namespace bulkhead::machine
