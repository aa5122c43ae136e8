// SPDX-License-Identifier: Apache-2.0
// Collects counters; see the header.
#include "machine/python/results.h"

#include <string>

namespace bulkhead::machine {

namespace {

using nlohmann::json;

json of_core(const core &one)
{
    const core_counts counts = one.counts();
    json events = json::object();
    for (std::size_t i = 0; i < core_event_count; ++i) {
        const auto which = static_cast<core_event>(i);
        events[std::string(name_of(which))] = counts.of(which);
    }
    json stalls = json::object();
    for (std::size_t i = 0; i < stall_cause_count; ++i) {
        const auto which = static_cast<stall_cause>(i);
        stalls[std::string(name_of(which))] = counts.of(which);
    }
    return {{"instructions", counts.instructions}, {"cycles", counts.cycles},
            {"idle_ps", counts.idle_ps},           {"clock_ps", one.clock().value},
            {"events", std::move(events)},         {"stall_ps", std::move(stalls)}};
}

// Lines filled: by owner, way and part of the sets.
json places_of(const cache_statistics &statistics)
{
    json owners = json::array();
    for (std::size_t i = 0; i < statistics.owner_count(); ++i) {
        json ways = json::array();
        for (std::size_t way = 0; way < statistics.ways(); ++way) {
            json parts = json::array();
            for (std::size_t part = 0; part < statistics.set_parts(); ++part) {
                parts.push_back(statistics.placed({static_cast<std::uint8_t>(i)}, way, part).get());
            }
            ways.push_back(std::move(parts));
        }
        owners.push_back(std::move(ways));
    }
    return owners;
}

json of_cache(const cache &one)
{
    const cache_statistics &statistics = one.statistics();
    json owners = json::array();
    json evictions = json::array();
    for (std::size_t i = 0; i < statistics.owner_count(); ++i) {
        const owner_id owner{static_cast<std::uint8_t>(i)};
        const owner_statistics &own = statistics.of(owner);
        owners.push_back({{"accesses", own.accesses.get()},
                          {"misses", own.misses.get()},
                          {"write_backs", own.write_backs.get()},
                          {"evicted_by_others", statistics.evicted_by_others(owner)}});
        json row = json::array();
        for (std::size_t k = 0; k < statistics.owner_count(); ++k) {
            row.push_back(statistics.evicted(owner, owner_id{static_cast<std::uint8_t>(k)}).get());
        }
        evictions.push_back(std::move(row));
    }
    json of = {{"owners", std::move(owners)}, {"evictions", std::move(evictions)}};
    if (statistics.set_parts() != 0) {
        of["placed"] = places_of(statistics);
    }
    return of;
}

json of_dram(memory_system &memory, picoseconds at)
{
    const dram::memory_profile profile = memory.profile(at);
    return {{"cycles", profile.cycles},
            {"busy_cycles", profile.busy_cycles},
            {"utilization", profile.utilization()},
            {"read_bytes", profile.read.value},
            {"written_bytes", profile.written.value},
            {"peak_bytes_per_s", memory.memory().peak_bytes_per_s()}};
}

} // namespace

json results_of(simulated_machine &from, picoseconds at)
{
    json cores = json::array();
    for (std::size_t i = 0; i < from.core_count(); ++i) {
        cores.push_back(of_core(from.core_at(core_id{static_cast<std::uint32_t>(i)})));
    }
    json levels = json::object();
    for (std::size_t i = 0; i < from.memory().level_count(); ++i) {
        const shared_level &level = from.memory().level(i);
        levels[level.settings().name] = of_cache(level.storage());
    }
    return {{"digest", from.digest()},
            {"simulated_ps", at.value},
            {"cores", std::move(cores)},
            {"levels", std::move(levels)},
            {"dram", of_dram(from.memory(), at)}};
}

json lines_held(simulated_machine &from)
{
    json levels = json::object();
    for (std::size_t i = 0; i < from.memory().level_count(); ++i) {
        const shared_level &level = from.memory().level(i);
        levels[level.settings().name] = level.storage().lines_of_owners();
    }
    return levels;
}

} // namespace bulkhead::machine
