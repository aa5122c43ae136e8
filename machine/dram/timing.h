// SPDX-License-Identifier: Apache-2.0
// The timing parameters of a DRAM under their data sheet names, in clocks, and the constraints between
// commands that follow from them. The constraints are a list that the channel applies and people can read.
// The rules are those of JESD79-3F (DDR3), JESD79-4B (DDR4), JESD209-2F (LPDDR2) and JESD21-C 3.11.5 (SDR
// SDRAM), which differ in the values (DDR3 has no bank groups, so the short and the long values are equal)
// and not in the form.
#pragma once

#include <algorithm>
#include <array>
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

// Where the second command must go for a constraint to apply. `other_rank`: on every rank of the channel
// except that of the first command.
enum class scope : std::uint8_t { bank, group, rank, other_rank };

// A constraint between two commands with its distance.
struct constraint {
    command first;
    command then;
    scope where;
    std::uint32_t distance; // minimum, in clocks
    std::string rule;       // as in the data sheet: "tRCD"
};

struct timing {
    std::uint64_t period_fs = 0; // of the command clock
    // All in clocks:
    std::uint32_t burst = 0; // data bus: burst length / 2, SDR: burst length
    std::uint32_t cl = 0;    // read command to first data
    std::uint32_t cwl = 0;   // write command to first data; SDR: 0
    std::uint32_t rcd = 0;
    std::uint32_t rp = 0;
    std::uint32_t ras = 0;
    std::uint32_t ccd_s = 0, ccd_l = 0;
    std::uint32_t rrd_s = 0, rrd_l = 0;
    std::uint32_t faw = 0; // window for four activates; 0: no limit
    std::uint32_t wr = 0;
    std::uint32_t wtr_s = 0, wtr_l = 0;
    std::uint32_t rtp = 0;
    std::uint32_t refi = 0; // 0: no refresh
    std::uint32_t rfc = 0;
    std::uint32_t turnaround = 0;  // idle clocks of the data bus between the data of a read and of a write
    std::uint32_t rank_switch = 0; // idle clocks of the data bus between data of two ranks (tRTRS)

    [[nodiscard]] std::uint32_t rc() const { return ras + rp; }

    // Why no DRAM can have these values, or an empty string: values that contradict each other (a row that
    // closes before it can be read, a burst that overlaps the next, refreshes that leave no time, a long
    // value below the short one).
    [[nodiscard]] std::string contradiction() const;

    // Clocks between two commands so that the data of the second follow the data of the first after `gap`
    // idle clocks.
    [[nodiscard]] constexpr std::uint32_t data_after(std::uint32_t first_latency, std::uint32_t gap,
                                                     std::uint32_t second_latency) const
    {
        const std::uint32_t end = first_latency + burst + gap;
        return end > second_latency ? end - second_latency : 1;
    }

    // All `rules` with the distances of this DRAM.
    [[nodiscard]] std::vector<constraint> constraints() const;
};

// One rule of the list: the two commands, the scope, and the distance.
struct rule {
    command first;
    command then;
    scope where;
    const char *name;
    std::uint32_t (*distance)(const timing &);
};

// All constraints between two commands. tFAW, which is between four, and tREFI, which is a period, are not
// among them. They are known at compile time, so that `banks` has straight-line code for each command; the
// distances come from the platform.
inline constexpr std::array rules{
    rule{command::activate, command::read, scope::bank, "tRCD", [](const timing &t) { return t.rcd; }},
    rule{command::activate, command::write, scope::bank, "tRCD", [](const timing &t) { return t.rcd; }},
    rule{command::activate, command::precharge, scope::bank, "tRAS", [](const timing &t) { return t.ras; }},
    rule{command::activate, command::activate, scope::bank, "tRC", [](const timing &t) { return t.rc(); }},
    rule{command::precharge, command::activate, scope::bank, "tRP", [](const timing &t) { return t.rp; }},
    rule{command::read, command::precharge, scope::bank, "tRTP", [](const timing &t) { return t.rtp; }},
    rule{command::write, command::precharge, scope::bank, "CWL + burst + tWR",
         [](const timing &t) { return t.cwl + t.burst + t.wr; }},

    rule{command::activate, command::activate, scope::group, "tRRD_L",
         [](const timing &t) { return t.rrd_l; }},
    rule{command::read, command::read, scope::group, "tCCD_L", [](const timing &t) { return t.ccd_l; }},
    rule{command::write, command::write, scope::group, "tCCD_L", [](const timing &t) { return t.ccd_l; }},
    rule{command::write, command::read, scope::group, "CWL + burst + tWTR_L",
         [](const timing &t) { return t.cwl + t.burst + t.wtr_l; }},

    rule{command::activate, command::activate, scope::rank, "tRRD_S",
         [](const timing &t) { return t.rrd_s; }},
    rule{command::read, command::read, scope::rank, "tCCD_S", [](const timing &t) { return t.ccd_s; }},
    rule{command::write, command::write, scope::rank, "tCCD_S", [](const timing &t) { return t.ccd_s; }},
    rule{command::read, command::write, scope::rank, "CL + burst + turnaround - CWL",
         [](const timing &t) { return t.data_after(t.cl, t.turnaround, t.cwl); }},
    rule{command::write, command::read, scope::rank, "CWL + burst + tWTR_S",
         [](const timing &t) { return t.cwl + t.burst + t.wtr_s; }},
    rule{command::activate, command::refresh, scope::rank, "tRC", [](const timing &t) { return t.rc(); }},
    rule{command::precharge, command::refresh, scope::rank, "tRP", [](const timing &t) { return t.rp; }},
    rule{command::refresh, command::activate, scope::rank, "tRFC", [](const timing &t) { return t.rfc; }},
    rule{command::refresh, command::refresh, scope::rank, "tRFC", [](const timing &t) { return t.rfc; }},

    rule{command::read, command::read, scope::other_rank, "burst + tRTRS",
         [](const timing &t) { return t.burst + t.rank_switch; }},
    rule{command::write, command::write, scope::other_rank, "burst + tRTRS",
         [](const timing &t) { return t.burst + t.rank_switch; }},
    rule{command::read, command::write, scope::other_rank, "CL + burst + tRTRS - CWL",
         [](const timing &t) { return t.data_after(t.cl, t.rank_switch, t.cwl); }},
    rule{command::write, command::read, scope::other_rank, "CWL + burst + tRTRS - CL",
         [](const timing &t) { return t.data_after(t.cwl, t.rank_switch, t.cl); }},
};

// Whether any rule can delay `then` in a scope.
constexpr bool any_rule(command then, scope where)
{
    return std::any_of(rules.begin(), rules.end(),
                       [=](const rule &one) { return one.then == then && one.where == where; });
}

// Whether `first` causes a delay by any rule of a scope.
constexpr bool any_rule_after(command first, scope where)
{
    return std::any_of(rules.begin(), rules.end(),
                       [=](const rule &one) { return one.first == first && one.where == where; });
}

} // namespace bulkhead::machine::dram
