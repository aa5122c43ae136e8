// SPDX-License-Identifier: Apache-2.0
// Recognizes stores that write whole lines before their fills have arrived, as the read-allocate mode of
// Cortex-A cores does: after enough such lines in a row, stores that miss fetch nothing any more; their lines
// are merged from the stores and sent when they are whole. Which addresses follow each other does not matter,
// so several streams may be interleaved. Only the bookkeeping is here; the load/store unit, which owns one,
// fetches and sends.
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
    static constexpr std::uint32_t most = 16; // lines at a time

    // A line that is being written.
    struct line {
        std::uint64_t number = 0;
        std::uint64_t bytes = 0; // that were stored: a bit for each 64th of the line
        owner_id owner;
        bool fetched = false; // its fill is in flight; else it is merged
        mpam_label mpam{};    // of what began to write it

        [[nodiscard]] bool whole() const { return ~bytes == 0; }
    };

    // `merging`: lines that may be merged at a time.
    write_stream(const write_streaming_settings &wanted, std::uint32_t line_bytes, std::uint32_t merging)
        : wanted_(wanted), line_bytes_(line_bytes), merging_allowed_(std::min(merging, most / 2))
    {
    }

    [[nodiscard]] bool enabled() const { return wanted_.lines != 0; }
    // Whether stores that miss fetch nothing.
    [[nodiscard]] bool streaming() const { return enabled() && row_ >= wanted_.lines; }
    // Whether whole lines go past the shared levels too.
    [[nodiscard]] bool passes_levels() const
    {
        return wanted_.shared_lines != 0 && row_ >= wanted_.shared_lines;
    }
    [[nodiscard]] bool any() const { return count_ != 0; }
    [[nodiscard]] bool merges() const { return merging_ != 0; }
    [[nodiscard]] bool may_merge() const { return merging_ < merging_allowed_; }

    // The line if it is being written, or null. Valid until the next change.
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
    // A line that was not being written is from now on. Not more than may_merge() says if it is not fetched.
    // The oldest that was fetched gives way if need be: nobody will know any more whether it became whole.
    line &begin(std::uint64_t number, owner_id owner, bool fetched, mpam_label label = {})
    {
        if (count_ == most) {
            broken(*std::find_if(lines_.begin(), lines_.end(), [](const line &one) { return one.fetched; }));
        }
        merging_ += fetched ? 0 : 1;
        lines_[count_] = {number, 0, owner, fetched, label};
        return lines_[count_++];
    }
    // Bytes of it, from `offset` on, are stored.
    void store(line &own, std::uint64_t offset, std::uint32_t bytes) const
    {
        own.bytes |= bits_of(offset, bytes);
    }
    // It was whole before its fill arrived, or without one.
    void complete(const line &own)
    {
        ++row_;
        remove(own);
    }
    // It was not.
    void broken(const line &own)
    {
        row_ = 0;
        remove(own);
    }
    // Lines whose fills have come, as `in_flight(number)` says, are whole no more.
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
    // The bytes [from, from + count) of a line, each bit a 64th of it.
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
    std::uint32_t merging_ = 0; // of them
    std::uint32_t row_ = 0;     // lines in a row that were whole in time
};

} // namespace bulkhead::machine
