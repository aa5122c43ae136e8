// SPDX-License-Identifier: Apache-2.0
// The timing parameters of a DRAM by their data sheet names, in clocks, and the list of constraints between
// commands that they make. The list is data: the channel applies it, and people can read it. The rules are
// those of JESD79-3F (DDR3), JESD79-4B (DDR4), JESD209-2F (LPDDR2) and JESD21-C 3.11.5 (SDR SDRAM), which
// differ in the values (DDR3: no bank groups, so the short and the long forms are equal) and not in the form.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "machine/types.h"

namespace bulkhead::machine::dram {

// A point in time or a distance, in clocks of the DRAM's command bus.
using clocks = std::uint64_t;

enum class command : std::uint8_t { activate, precharge, read, write, refresh };
inline constexpr std::size_t command_count = 5;
const char *name_of(command which);

// Where the second command of a constraint must go for the constraint to hold. `other_rank`: on every rank
// of the channel but that of the first command.
enum class scope : std::uint8_t { bank, group, rank, other_rank };

struct constraint {
    command first;
    command then;
    scope where;
    std::uint32_t distance; // clocks, at least
    std::string rule;       // as in the data sheet: "tRCD"
};

struct timing {
    std::uint64_t period_fs = 0; // of the command clock
    // In clocks:
    std::uint32_t burst = 0; // data bus: burst length / 2, SDR: burst length
    std::uint32_t cl = 0;    // read command to first data
    std::uint32_t cwl = 0;   // write command to first data; SDR: 0
    std::uint32_t rcd = 0;
    std::uint32_t rp = 0;
    std::uint32_t ras = 0;
    std::uint32_t ccd_s = 0, ccd_l = 0;
    std::uint32_t rrd_s = 0, rrd_l = 0;
    std::uint32_t faw = 0; // four activates; 0: no limit
    std::uint32_t wr = 0;
    std::uint32_t wtr_s = 0, wtr_l = 0;
    std::uint32_t rtp = 0;
    std::uint32_t refi = 0; // 0: no refresh
    std::uint32_t rfc = 0;
    std::uint32_t turnaround = 0;  // idle data bus between a read's and a write's data
    std::uint32_t rank_switch = 0; // idle data bus between two ranks' data (tRTRS)

    [[nodiscard]] std::uint32_t rc() const { return ras + rp; }

    // Why no such DRAM can be, or nothing: values that contradict each other (a row that closes before it can
    // be read, a burst that overlaps the next, refreshes that leave no time, a long form below the short).
    [[nodiscard]] std::string contradiction() const;

    // All constraints between two commands. tFAW, between four, and tREFI, a duty, are not among them.
    [[nodiscard]] std::vector<constraint> constraints() const;
};

} // namespace bulkhead::machine::dram
