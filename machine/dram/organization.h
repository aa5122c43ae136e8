// SPDX-License-Identifier: Apache-2.0
// The organization of a DRAM: channels, ranks, bank groups, banks, rows, columns, and the bytes of one burst.
// Made once from a platform's description; all of machine/dram takes only checked organizations.
#pragma once

#include "machine/types.h"

namespace bulkhead::machine::dram {

inline constexpr std::uint32_t max_banks_per_channel = 64; // sets of banks fit in one machine word
inline constexpr std::uint32_t max_ranks = 16;

class organization {
public:
    struct counts {
        std::uint32_t channels = 1;
        std::uint32_t ranks = 1;
        std::uint32_t groups = 1;  // per rank
        std::uint32_t banks = 8;   // per group
        std::uint32_t rows = 0;    // per bank
        std::uint32_t columns = 0; // bursts per row: the page in bytes / burst_bytes
        byte_count burst{64};
    };

    // Refuses counts that are not powers of two, more than 64 banks in a channel, and bursts that are not a
    // power of two from 8 B to 256 B.
    static result<organization> make(const counts &wanted);

    [[nodiscard]] const counts &of() const { return counts_; }
    [[nodiscard]] std::uint32_t groups_per_channel() const { return counts_.ranks * counts_.groups; }
    [[nodiscard]] std::uint32_t banks_per_channel() const { return groups_per_channel() * counts_.banks; }
    [[nodiscard]] byte_count size() const
    {
        return byte_count{counts_.burst.value * counts_.columns * counts_.rows * banks_per_channel() *
                          counts_.channels};
    }

private:
    explicit organization(const counts &checked) : counts_(checked) {}
    counts counts_;
};

// The place of a burst. `bank` counts within the channel: (rank * groups + group) * banks + bank of the
// group.
struct place {
    std::uint32_t channel;
    std::uint32_t bank;
    std::uint32_t row;
    std::uint32_t column;
    auto operator<=>(const place &) const = default;
};

} // namespace bulkhead::machine::dram
