// SPDX-License-Identifier: Apache-2.0
// Maps events of the architecture to the core's counts.
#include "machine/hosted/monitors.h"

#include <algorithm>
#include <numeric>

namespace bulkhead::machine::hosted {
namespace {

namespace number = devices::pmu_event;

struct watchable {
    std::uint16_t event;
    core_event counted;
};

constexpr std::array<watchable, 13> watched = {{
    {number::l1i_cache_refill, core_event::l1i_refill},
    {number::l1i_tlb_refill, core_event::l1i_tlb_refill},
    {number::l1d_cache_refill, core_event::l1d_refill},
    {number::l1d_tlb_refill, core_event::l1_tlb_refill},
    {number::l1d_cache_wb, core_event::l1d_write_back},
    {number::l2d_cache, core_event::l2d_access},
    {number::l2d_cache_refill, core_event::l2d_refill},
    {number::l2d_cache_wb, core_event::l2d_write_back},
    {number::bus_access, core_event::beats},
    {number::l3d_cache_refill, core_event::l3d_refill},
    {number::dtlb_walk, core_event::l2_tlb_refill},
    {number::mem_access, core_event::memory_access},
    {number::ext_mem_req_nc, core_event::uncached},
}};
// Counted continuously: none of them occurs more often than once for each cycle and issue slot.
constexpr std::array timed = {number::inst_retired, number::cpu_cycles, number::stall_backend};

const watchable *watchable_of(std::uint16_t event)
{
    const auto *const found = std::ranges::find(watched, event, &watchable::event);
    return found != watched.end() ? found : nullptr;
}

bool is_timed(std::uint16_t event)
{
    return std::ranges::find(timed, event) != timed.end();
}

// A core without a third level has none of its events: Cortex-A53 and A72, for example.
bool is_implemented(std::uint16_t event, bool has_l3)
{
    if (event == number::l3d_cache_refill && !has_l3) {
        return false;
    }
    return watchable_of(event) != nullptr || is_timed(event);
}

// Bits of PMCEID0 (`first` 0) or PMCEID1 (32).
std::uint64_t implemented(std::uint16_t first, bool has_l3)
{
    std::uint64_t bits = 0;
    for (std::uint16_t event = first; event < first + 32; ++event) {
        bits |= is_implemented(event, has_l3) ? std::uint64_t{1} << (event - first) : 0;
    }
    return bits;
}

} // namespace

monitors::monitors(engine &timeline, core &counted, std::uint32_t counters, std::function<void(bool)> line)
    : timeline_(timeline), counted_(counted),
      registers_(counters,
                 {.implemented0 = implemented(0, counted.has_l3()),
                  .implemented1 = implemented(32, counted.has_l3()),
                  .own_event = number::ext_mem_req_nc,
                  .total = [this](std::uint16_t event) { return total(event); },
                  .watch = [this](std::uint16_t event, std::uint64_t target) { watch(event, target); },
                  .line = std::move(line)})
{
}

std::uint64_t monitors::total(std::uint16_t event) const
{
    const core_counts now = counted_.counts();
    if (const watchable *one = watchable_of(event)) {
        return now.of(one->counted);
    }
    switch (event) {
    case number::inst_retired:
        return now.instructions;
    case number::cpu_cycles:
        return now.cycles;
    case number::stall_backend:
        return static_cast<std::uint64_t>(std::reduce(now.stall_ps.begin(), now.stall_ps.end()) *
                                          static_cast<unsigned __int128>(counted_.settings().frequency_hz) /
                                          1'000'000'000'000);
    default:
        return 0;
    }
}

void monitors::watch(std::uint16_t event, std::uint64_t target)
{
    const bool off = target == devices::pmu::never;
    if (const watchable *one = watchable_of(event)) {
        // The callback does nothing after reached(), which may set a new watch and so replace the callback.
        counted_.watch(one->counted, off ? 0 : target, [this] { registers_.reached(); });
        return;
    }
    if (!is_timed(event)) {
        return;
    }
    asked &own = asked_[event];
    own.target = target;
    if (own.again) {
        timeline_.cancel(*own.again);
        own.again.reset();
    }
    if (!off && !asleep_) {
        ask_again(event);
    }
}

// Looks again when the target can be reached at the earliest, at intervals of at least `patience`.
void monitors::ask_again(std::uint16_t event)
{
    asked &own = asked_[event];
    const std::uint64_t now = total(event);
    const std::uint64_t left = own.target > now ? own.target - now : 0;
    const std::uint64_t a_second =
        counted_.settings().frequency_hz * (event == number::inst_retired ? counted_.settings().width : 1);
    const unsigned __int128 least = left * static_cast<unsigned __int128>(1'000'000'000'000) / a_second;
    const auto wait = static_cast<std::uint64_t>(
        std::clamp<unsigned __int128>(least, left == 0 ? 0 : patience.value, engine::never.value / 2));
    own.again = timeline_.at(counted_.clock() + picoseconds{wait}, [this, event] { look(event); });
}

void monitors::look(std::uint16_t event)
{
    asked &own = asked_[event];
    own.again.reset();
    if (total(event) >= own.target) {
        registers_.reached();
    } else if (!asleep_) {
        ask_again(event);
    }
}

void monitors::set_asleep(bool asleep)
{
    asleep_ = asleep;
    for (std::uint16_t event = 0; event < asked_.size(); ++event) {
        asked &own = asked_[event];
        if (asleep && own.again) {
            timeline_.cancel(*own.again);
            own.again.reset();
        } else if (!asleep && !own.again && own.target != devices::pmu::never) {
            ask_again(event);
        }
    }
}

} // namespace bulkhead::machine::hosted
