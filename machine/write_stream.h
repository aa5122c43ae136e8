// SPDX-License-Identifier: Apache-2.0
// Follows stores that miss: after enough consecutive lines they are a stream, whose lines are put together
// from their stores and are not fetched. Only the bookkeeping is here; the load/store unit (which owns one)
// sends a line when it is whole, and fetches one that stays incomplete.
#pragma once

#include <cstdint>

#include "machine/settings.h"
#include "machine/types.h"

namespace bulkhead::machine {

class write_stream {
public:
    write_stream(const write_streaming_settings &wanted, std::uint32_t line_bytes)
        : wanted_(wanted), line_bytes_(line_bytes)
    {
    }

    [[nodiscard]] bool enabled() const { return wanted_.lines != 0; }
    // A line is being put together: its number, and whose memory it is.
    [[nodiscard]] bool merges() const { return merges_; }
    [[nodiscard]] std::uint64_t line() const { return last_; }
    [[nodiscard]] owner_id owner() const { return owner_; }
    // Whether it goes past the shared levels too.
    [[nodiscard]] bool passes_levels() const
    {
        return wanted_.shared_lines != 0 && run_ >= wanted_.shared_lines;
    }

    // A store to a line that L1 did not have. True: enough lines before it were stored to in order.
    bool follow(std::uint64_t line)
    {
        if (line != last_) {
            run_ = line == last_ + 1 ? run_ + 1 : 0;
            last_ = line;
        }
        return run_ >= wanted_.lines;
    }
    // The line that was followed last is put together from now on.
    void begin(owner_id owner)
    {
        merges_ = true;
        bytes_ = 0;
        owner_ = owner;
    }
    // Bytes of that line, from `offset` on, are stored. True: it is whole, and merges no more.
    bool merge(std::uint64_t offset, std::uint32_t bytes)
    {
        bytes_ |= bits_of(offset, bytes);
        merges_ = ~bytes_ != 0;
        return !merges_;
    }
    // Something else was stored or read before it was whole.
    void break_off()
    {
        merges_ = false;
        run_ = 0;
    }

private:
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
    std::uint64_t last_ = ~std::uint64_t{0}; // number of the line that was stored to last
    std::uint32_t run_ = 0;                  // lines that followed each other
    bool merges_ = false;
    std::uint64_t bytes_ = 0; // that were stored
    owner_id owner_;
};

} // namespace bulkhead::machine
