// SPDX-License-Identifier: Apache-2.0
// Detects stores that write whole lines before their fills have arrived, as the read-allocate mode of
// Cortex-A cores does. After enough of these lines in a row, stores that miss no longer fetch; their lines
// are merged from the stores and sent when they are complete. The order of the lines' addresses does not
// matter, so several streams may be interleaved. Only the bookkeeping is here; the load/store unit, which
// owns one, fetches and sends lines.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "machine/mpam/label.h"
#include "machine/settings.h"
#include "machine/types.h"

namespace bulkhead::machine {

class write_stream {
public:
    static constexpr std::uint32_t most = 16; // lines that are tracked at once

    // A line that is being written.
    struct line {
        std::uint64_t number = 0;
        std::uint64_t bytes = 0; // bytes stored so far: one bit for each 64th of the line
        owner_id owner;
        bool fetched = false; // its fill is in flight; otherwise the line is merged
        mpam_label mpam{};    // label of the first store to it

        [[nodiscard]] bool whole() const { return ~bytes == 0; }
    };

    // `merging`: maximum number of lines that are merged at once.
    write_stream(const write_streaming_settings &wanted, std::uint32_t line_bytes, std::uint32_t merging)
        : wanted_(wanted), line_bytes_(line_bytes), merging_allowed_(std::min(merging, most / 2))
    {
    }

    [[nodiscard]] bool enabled() const { return wanted_.lines != 0; }
    // Whether stores that miss no longer fetch.
    [[nodiscard]] bool streaming() const { return enabled() && row_ >= wanted_.lines; }
    // Whether complete lines bypass the shared levels too.
    [[nodiscard]] bool passes_levels() const
    {
        return wanted_.shared_lines != 0 && row_ >= wanted_.shared_lines;
    }
    [[nodiscard]] bool any() const { return count_ != 0; }
    [[nodiscard]] bool merges() const { return merging_ != 0; }
    [[nodiscard]] bool may_merge() const { return merging_ < merging_allowed_; }

    // The line if it is tracked, or null. Valid until the next change.
    [[nodiscard]] line *find(std::uint64_t number)
    {
        for (std::uint32_t i = 0; i < count_; ++i) {
            if (lines_[i].number == number) {
                return &lines_[i];
            }
        }
        return nullptr;
    }
    [[nodiscard]] const line &oldest_merging() const
    {
        return *std::find_if(lines_.begin(), lines_.end(), [](const line &one) { return !one.fetched; });
    }
    // Starts to track a line that is not tracked yet. If it is not fetched, may_merge() must be true. If
    // there is no room, the oldest fetched line is dropped and counts as not completed in time.
    line &begin(std::uint64_t number, owner_id owner, bool fetched, mpam_label label = {})
    {
        if (count_ == most) {
            broken(*std::find_if(lines_.begin(), lines_.end(), [](const line &one) { return one.fetched; }));
        }
        merging_ += fetched ? 0 : 1;
        lines_[count_] = {number, 0, owner, fetched, label};
        return lines_[count_++];
    }
    // Records that `bytes` bytes from `offset` on were stored.
    void store(line &own, std::uint64_t offset, std::uint32_t bytes) const
    {
        own.bytes |= bits_of(offset, bytes);
    }
    // The line was complete before its fill arrived, or is complete without a fill.
    void complete(const line &own)
    {
        ++row_;
        remove(own);
    }
    // The line was not complete when its fill arrived, or was dropped.
    void broken(const line &own)
    {
        row_ = 0;
        remove(own);
    }
    // Drops the lines whose fills have arrived, for which `in_flight(number)` is false: they were not
    // completed in time.
    template <class InFlight> void sweep(InFlight &&in_flight)
    {
        for (std::uint32_t i = 0; i < count_;) {
            if (lines_[i].fetched && !in_flight(lines_[i].number)) {
                broken(lines_[i]);
            } else {
                ++i;
            }
        }
    }

private:
    void remove(const line &own)
    {
        merging_ -= own.fetched ? 0 : 1;
        const auto place = static_cast<std::size_t>(&own - lines_.data());
        std::copy(lines_.begin() + static_cast<std::ptrdiff_t>(place) + 1, lines_.begin() + count_,
                  lines_.begin() + static_cast<std::ptrdiff_t>(place));
        --count_;
    }
    // The bits of the bytes [from, from + count) of a line; each bit is a 64th of it.
    [[nodiscard]] std::uint64_t bits_of(std::uint64_t from, std::uint64_t count) const
    {
        const std::uint64_t first = from * 64 / line_bytes_;
        const std::uint64_t end = (from + count) * 64 / line_bytes_;
        const std::uint64_t below_end = end >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << end) - 1;
        return first >= 64 ? 0 : below_end & ~((std::uint64_t{1} << first) - 1);
    }

    write_streaming_settings wanted_;
    std::uint64_t line_bytes_;
    std::uint32_t merging_allowed_;
    std::array<line, most> lines_{}; // oldest first
    std::uint32_t count_ = 0;
    std::uint32_t merging_ = 0; // number of lines that are merged
    std::uint32_t row_ = 0;     // lines in a row that were completed in time
};

} // namespace bulkhead::machine
