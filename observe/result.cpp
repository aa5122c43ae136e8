// SPDX-License-Identifier: Apache-2.0
// Converts a snapshot of the counts to JSON; see the header.
#include "observe/result.h"

#include <nlohmann/json.hpp>

namespace bulkhead::observe {

namespace {

using json = nlohmann::ordered_json;
using namespace machine;
using names = std::vector<std::string>;

owner_id owner(std::size_t index)
{
    return owner_id{static_cast<std::uint8_t>(index)};
}

json describe_cache(const cache_shape &shape)
{
    return {{"size", shape.geometry.size().value},
            {"ways", shape.geometry.ways()},
            {"line", shape.geometry.line().value},
            {"sets", shape.geometry.sets()},
            {"replacement", replacement_name(shape.policy)}};
}

// Accesses and misses of one owner, or of all owners (nothing given), on the same side of these cores.
json l1_sums(const std::vector<const cache_statistics *> &sides, std::optional<owner_id> only)
{
    std::uint64_t accesses = 0;
    std::uint64_t misses = 0;
    for (const cache_statistics *side : sides) {
        for (std::size_t index = 0; index < side->owner_count(); ++index) {
            if (!only || *only == owner(index)) {
                accesses += side->of(owner(index)).accesses.get();
                misses += side->of(owner(index)).misses.get();
            }
        }
    }
    return {{"accesses", accesses}, {"misses", misses}};
}

json l1_of_all_cores(const snapshot &counts, std::optional<owner_id> only)
{
    std::vector<const cache_statistics *> data;
    std::vector<const cache_statistics *> instruction;
    for (const snapshot::core &core : counts.cores) {
        data.push_back(&core.l1d);
        instruction.push_back(&core.l1i);
    }
    return {{"l1d", l1_sums(data, only)}, {"l1i", l1_sums(instruction, only)}};
}

json describe_owner(const snapshot &counts, std::size_t index, const names &known)
{
    const owner_statistics &llc = counts.llc.of(owner(index));
    json evicted_by = json::object();
    for (std::size_t evictor = 0; evictor < known.size(); ++evictor) {
        evicted_by[known[evictor]] = counts.llc.evicted(owner(index), owner(evictor)).get();
    }
    const bool itself = owner(index) == hypervisor_owner;
    json described{
        {"accesses", llc.accesses.get()},
        {"misses", llc.misses.get()},
        {"received", llc.received.get()},
        {"received_misses", llc.received_misses.get()},
        {"write_backs", llc.write_backs.get()},
        {"evicted_by_others", counts.llc.evicted_by_others(owner(index))},
        {"evicted_by_hypervisor", itself ? 0 : counts.llc.evicted(owner(index), hypervisor_owner).get()},
        {"evicted_by", std::move(evicted_by)},
    };
    described.update(l1_of_all_cores(counts, owner(index)));
    return described;
}

json describe_owners(const snapshot &counts, const names &known)
{
    json described = json::object();
    for (std::size_t index = 0; index < known.size(); ++index) {
        described[known[index]] = describe_owner(counts, index, known);
    }
    return described;
}

json describe_cores(const snapshot &counts)
{
    json described = json::array();
    for (const snapshot::core &core : counts.cores) {
        described.push_back(
            {{"l1d", l1_sums({&core.l1d}, std::nullopt)}, {"l1i", l1_sums({&core.l1i}, std::nullopt)}});
    }
    return described;
}

json describe_unattributed(const snapshot &counts)
{
    unattributed_counts sum;
    for (const snapshot::core &core : counts.cores) {
        sum.device_accesses.add(core.unattributed.device_accesses.get());
        sum.uncached.add(core.unattributed.uncached.get());
        sum.outside_ram.add(core.unattributed.outside_ram.get());
        sum.data_unknown.add(core.unattributed.data_unknown.get());
        sum.fetches_unknown.add(core.unattributed.fetches_unknown.get());
        sum.zeroed_blocks.add(core.unattributed.zeroed_blocks.get());
        sum.zeroed_unknown.add(core.unattributed.zeroed_unknown.get());
    }
    return {{"device_accesses", sum.device_accesses.get()}, {"uncached", sum.uncached.get()},
            {"outside_ram", sum.outside_ram.get()},         {"data_unknown", sum.data_unknown.get()},
            {"fetches_unknown", sum.fetches_unknown.get()}, {"zeroed_blocks", sum.zeroed_blocks.get()},
            {"zeroed_unknown", sum.zeroed_unknown.get()}};
}

json describe_windows(const snapshot &counts, const names &known)
{
    json described = json::array();
    for (const window &one : counts.windows) {
        json owners = json::object();
        for (std::size_t index = 0; index < known.size(); ++index) {
            owners[known[index]] = {{"misses", one.misses[index]},
                                    {"evicted_by_others", one.evicted_by_others[index]}};
        }
        described.push_back(
            {{"end_ms", one.end_ms}, {"accesses", one.accesses}, {"owners", std::move(owners)}});
    }
    return described;
}

} // namespace

std::string result_json(observer &from)
{
    const snapshot counts = from.take();
    const config &known = from.configuration();
    const host_memory &memory = from.memory();
    const json caches{{"l1d", describe_cache(known.l1d)},
                      {"l1i", describe_cache(known.l1i)},
                      {"llc", describe_cache(known.llc)}};
    const json addresses{{"verified", memory.verified()},
                         {"stores_checked", memory.stores_checked()},
                         {"stores_agreed", memory.stores_agreed()}};
    const json result{
        {"format", 1},
        {"started", counts.started},
        {"caches", caches},
        {"owners", describe_owners(counts, known.names)},
        {"l1", l1_of_all_cores(counts, std::nullopt)},
        {"cores", describe_cores(counts)},
        {"unattributed", describe_unattributed(counts)},
        {"fetch_addresses", addresses},
        {"windows", describe_windows(counts, known.names)},
    };
    return result.dump(1) + "\n";
}

} // namespace bulkhead::observe
