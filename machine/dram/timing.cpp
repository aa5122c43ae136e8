// SPDX-License-Identifier: Apache-2.0
// The constraint list; see the header. Called once, before a run.
#include "machine/dram/timing.h"

namespace bulkhead::machine::dram {

namespace {

constexpr std::uint32_t clock_limit = 1U << 13U;

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
        if (value > clock_limit) {
            return "a timing of " + text(value) + " clocks: at most " + text(clock_limit) + " are possible";
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
    std::vector<constraint> all;
    for (const rule &one : rules) {
        all.push_back({one.first, one.then, one.where, one.distance(*this), one.name});
    }
    return all;
}

} // namespace bulkhead::machine::dram
