// SPDX-License-Identifier: Apache-2.0
// The constraint list; see the header. Called once, before a run.
#include "machine/dram/timing.h"

#include <array>

namespace bulkhead::machine::dram {

namespace {

constexpr std::uint32_t most_clocks = 1U << 13U; // command_bus::window is several of them

// Clocks from command to command so that the second's data follows the first's after `gap` idle clocks.
std::uint32_t data_after(std::uint32_t first_latency, std::uint32_t burst, std::uint32_t gap,
                         std::uint32_t second_latency)
{
    const std::uint32_t end = first_latency + burst + gap;
    return end > second_latency ? end - second_latency : 1;
}

} // namespace

const char *name_of(command which)
{
    constexpr std::array<const char *, command_count> names{"ACT", "PRE", "RD", "WR", "REF"};
    return names.at(static_cast<std::size_t>(which));
}

std::string timing::contradiction() const
{
    const auto text = [](std::uint32_t value) { return std::to_string(value); };
    if (period_fs == 0 || period_fs > 1'000'000'000) {
        return "a clock period of " + std::to_string(period_fs) + " fs";
    }
    if (burst == 0 || cl == 0 || rcd == 0 || rp == 0 || ras == 0) {
        return "burst, CL, tRCD, tRP and tRAS must be at least one clock";
    }
    for (const std::uint32_t value :
         {burst, cl, cwl, rcd, rp, ras, ccd_l, rrd_l, faw, wr, wtr_l, rtp, rfc, turnaround, rank_switch}) {
        if (value > most_clocks) {
            return "a timing of " + text(value) + " clocks: at most " + text(most_clocks) + " are possible";
        }
    }
    if (ras < rcd) {
        return "tRAS " + text(ras) + " < tRCD " + text(rcd) + ": a row would close before it can be read";
    }
    if (ccd_s < burst) {
        return "tCCD_S " + text(ccd_s) + " < burst " + text(burst) + ": bursts would overlap on the data bus";
    }
    if (ccd_l < ccd_s || rrd_l < rrd_s || wtr_l < wtr_s) {
        return "tCCD_L, tRRD_L and tWTR_L must not be below tCCD_S, tRRD_S and tWTR_S";
    }
    if (faw != 0 && faw < rrd_s) {
        return "tFAW " + text(faw) + " < tRRD_S " + text(rrd_s);
    }
    if (refi != 0 && refi <= rfc + rc()) {
        return "tREFI " + text(refi) + " <= tRFC + tRC: refreshes would leave no time";
    }
    return {};
}

std::vector<constraint> timing::constraints() const
{
    using enum command;
    const std::uint32_t read_to_write = data_after(cl, burst, turnaround, cwl);
    const std::uint32_t write_end = cwl + burst;
    const std::uint32_t switched = burst + rank_switch;
    return {
        {activate, read, scope::bank, rcd, "tRCD"},
        {activate, write, scope::bank, rcd, "tRCD"},
        {activate, precharge, scope::bank, ras, "tRAS"},
        {activate, activate, scope::bank, rc(), "tRC"},
        {precharge, activate, scope::bank, rp, "tRP"},
        {read, precharge, scope::bank, rtp, "tRTP"},
        {write, precharge, scope::bank, write_end + wr, "CWL + burst + tWR"},

        {activate, activate, scope::group, rrd_l, "tRRD_L"},
        {read, read, scope::group, ccd_l, "tCCD_L"},
        {write, write, scope::group, ccd_l, "tCCD_L"},
        {write, read, scope::group, write_end + wtr_l, "CWL + burst + tWTR_L"},

        {activate, activate, scope::rank, rrd_s, "tRRD_S"},
        {read, read, scope::rank, ccd_s, "tCCD_S"},
        {write, write, scope::rank, ccd_s, "tCCD_S"},
        {read, write, scope::rank, read_to_write, "CL + burst + turnaround - CWL"},
        {write, read, scope::rank, write_end + wtr_s, "CWL + burst + tWTR_S"},
        {activate, refresh, scope::rank, rc(), "tRC"},
        {precharge, refresh, scope::rank, rp, "tRP"},
        {refresh, activate, scope::rank, rfc, "tRFC"},
        {refresh, refresh, scope::rank, rfc, "tRFC"},

        {read, read, scope::other_rank, switched, "burst + tRTRS"},
        {write, write, scope::other_rank, switched, "burst + tRTRS"},
        {read, write, scope::other_rank, data_after(cl, burst, rank_switch, cwl), "CL + burst + tRTRS - CWL"},
        {write, read, scope::other_rank, data_after(cwl, burst, rank_switch, cl), "CWL + burst + tRTRS - CL"},
    };
}

} // namespace bulkhead::machine::dram
