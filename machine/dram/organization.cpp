// SPDX-License-Identifier: Apache-2.0
// The check of a DRAM's shape; see the header. Called once, before a run.
#include "machine/dram/organization.h"

#include <array>
#include <bit>

namespace bulkhead::machine::dram {

result<organization> organization::make(const counts &wanted)
{
    struct named {
        const char *name;
        std::uint64_t value;
        std::uint64_t most;
    };
    const std::array<named, 7> all{{{"channels", wanted.channels, 16},
                                    {"ranks", wanted.ranks, max_ranks},
                                    {"bank groups", wanted.groups, 16},
                                    {"banks", wanted.banks, 64},
                                    {"rows", wanted.rows, std::uint64_t{1} << 24U},
                                    {"bursts in a row", wanted.columns, std::uint64_t{1} << 16U},
                                    {"bytes in a burst", wanted.burst.value, 256}}};
    for (const named &one : all) {
        if (!std::has_single_bit(one.value) || one.value > one.most) {
            return refusal{std::to_string(one.value) + " " + one.name + ": a power of two up to " +
                           std::to_string(one.most) + " is needed"};
        }
    }
    if (wanted.burst.value < 8) {
        return refusal{"bursts of " + std::to_string(wanted.burst.value) + " B: at least 8 are needed"};
    }
    const organization shape{wanted};
    if (shape.banks_per_channel() > max_banks_per_channel) {
        return refusal{std::to_string(shape.banks_per_channel()) + " banks in a channel: at most " +
                       std::to_string(max_banks_per_channel) + " are possible"};
    }
    return shape;
}

} // namespace bulkhead::machine::dram
