// SPDX-License-Identifier: Apache-2.0
// Checks settings and builds the machine; see the header.
#include "machine/machine.h"

#include <algorithm>

#include "machine/mmu.h"
#include "machine/mpam/check.h"
#include "machine/qos.h"

namespace bulkhead::machine {

namespace {

// Collects the first reason why settings are impossible; a part that was refused has no value.
class builder {
public:
    [[nodiscard]] const std::string &reason() const { return reason_; }
    void refuse(const std::string &where, const std::string &why)
    {
        reason_ = reason_.empty() ? where + ": " + why : reason_;
    }
    void demand(bool holds, const std::string &where, const std::string &why)
    {
        if (!holds) {
            refuse(where, why);
        }
    }
    template <class T> std::optional<T> take(result<T> made, const std::string &where)
    {
        if (const auto *refused = std::get_if<refusal>(&made)) {
            refuse(where, refused->reason);
            return std::nullopt;
        }
        return std::get<T>(std::move(made));
    }
    std::optional<cache> build_cache(const cache_settings &wanted, std::uint32_t owners, std::uint64_t seed,
                                     const std::string &where)
    {
        const auto geometry = take(
            cache_geometry::make(byte_count{wanted.size_bytes}, wanted.ways, byte_count{wanted.line_bytes}),
            where);
        if (!geometry) {
            return std::nullopt;
        }
        const std::uint64_t all =
            wanted.ways == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << wanted.ways) - 1;
        demand((wanted.locked_ways & all) != all && (wanted.locked_ways & ~all) == 0, where + ".locked_ways",
               "names a way that is not there, or leaves none");
        return take(cache::make(*geometry, wanted.policy, owners, seed), where);
    }

private:
    std::string reason_;
};

std::string at(const std::string &list, std::size_t index)
{
    return list + "[" + std::to_string(index) + "]";
}

void check_core(builder &check, const settings &wanted, const core_settings &one, const std::string &where)
{
    check.demand(one.frequency_hz >= 1'000'000 && one.frequency_hz <= 10'000'000'000, where + ".frequency_hz",
                 "must be from 1 MHz to 10 GHz");
    check.demand(one.width >= 1 && one.width <= 16, where + ".width", "must be from 1 to 16");
    check.demand(one.instruction_millicycles * one.width >= 1000 && one.instruction_millicycles <= 100'000,
                 where + ".instruction_millicycles", "must be from 1000 / width to 100000");
    check.demand(one.loads >= 1 && one.stores >= 1 && one.loads + one.stores <= core::max_misses - 4,
                 where + ".loads",
                 "loads and stores must be 1 at least and " + std::to_string(core::max_misses - 4) +
                     " together at most");
    check.demand(!one.l1d.on_eviction, where + ".l1d.on_eviction", "nothing is above an L1");
    check.demand(one.l1d.line_bytes == wanted.cores.at(0).l1d.line_bytes, where + ".l1d.line_bytes",
                 "all caches must have lines of one size");
    check.demand(!one.l1i || !one.l1i->on_eviction, where + ".l1i.on_eviction", "nothing is above an L1");
    check.demand(!one.l1i || one.l1i->line_bytes <= one.l1d.line_bytes, where + ".l1i.line_bytes",
                 "must not be longer than the other caches' lines");
    check.demand(!one.l2 || one.l2->line_bytes == one.l1d.line_bytes, where + ".l2.line_bytes",
                 "all caches must have lines of one size");
    check.demand(one.prefetcher.depth_lines == 0 ||
                     (one.prefetcher.streams >= 1 && one.prefetcher.max_stride_lines >= 1 &&
                      one.prefetcher.page_bytes >= one.l1d.line_bytes),
                 where + ".prefetcher", "needs a stream, a stride of 1 and a page of a line at least");
    if (const auto refused = mmu::refused(one.mmu)) {
        check.refuse(where + ".mmu", refused->reason);
    }
    for (const std::string &name : one.path) {
        check.demand(std::any_of(wanted.levels.begin(), wanted.levels.end(),
                                 [&](const level_settings &level) { return level.name == name; }),
                     where + ".path", "there is no level '" + name + "'");
    }
    check.demand(std::any_of(wanted.masters.begin(), wanted.masters.end(),
                             [&](const master_settings &master) { return master.name == one.master; }),
                 where + ".master", "there is no master '" + one.master + "'");
}

template <class Named>
void check_names(builder &check, const std::vector<Named> &all, const std::string &list)
{
    for (std::size_t i = 0; i < all.size(); ++i) {
        check.demand(!all[i].name.empty(), at(list, i) + ".name", "must not be empty");
        for (std::size_t before = 0; before < i; ++before) {
            check.demand(all[before].name != all[i].name, at(list, i) + ".name",
                         "'" + all[i].name + "' is there twice");
        }
    }
}

void check_regulator(builder &check, const regulator_settings &one, const std::string &where)
{
    constexpr std::uint64_t most = std::uint64_t{16} << 20U;
    check.demand(one.burst_bytes <= most, where + ".burst_bytes", "must be 16 MiB at most");
    check.demand(one.peak_bytes_per_s == 0 || one.peak_bytes_per_s >= one.rate_bytes_per_s,
                 where + ".peak_bytes_per_s", "must not be below the rate");
}

void check_qos(builder &check, const master_settings &master, const std::string &where)
{
    const qos_settings &one = master.qos;
    if (one.clock_ps == 0) {
        check.demand(one.rate == 0 && one.peak == 0, where + ".rate", "needs a clock");
        return;
    }
    check.demand(one.clock_ps <= 1'000'000, where + ".clock_ps", "must be 1 us at most");
    check.demand(one.transaction_bytes >= 1 && one.transaction_bytes <= 4096, where + ".transaction_bytes",
                 "must be from 1 to 4096");
    check.demand(one.rate < qos_rate_one, where + ".rate", "must be below 4096");
    check.demand(one.burst >= 1 && one.burst < 1U << 16U, where + ".burst", "must be from 1 to 65535");
    check.demand(one.peak < qos_peak_one, where + ".peak", "must be below 256");
    check.demand(master.reads.rate_bytes_per_s == 0 && master.writes.rate_bytes_per_s == 0, where,
                 "cannot be beside `reads` and `writes`");
}

void check(builder &check, const settings &wanted)
{
    check.demand(!wanted.cores.empty() && wanted.cores.size() <= 64, "cores", "there must be 1 to 64");
    check.demand(wanted.levels.size() <= 64, "levels", "there must be 64 at most");
    check.demand(wanted.owners >= 1 && wanted.owners <= 256, "owners", "must be from 1 to 256");
    check.demand(wanted.writes_in_flight >= 1, "writes_in_flight", "must be 1 at least");
    for (std::size_t i = 0; i < wanted.cores.size(); ++i) {
        check_core(check, wanted, wanted.cores[i], at("cores", i));
    }
    check_names(check, wanted.levels, "levels");
    check_names(check, wanted.masters, "masters");
    check_names(check, wanted.regions, "regions");
    for (std::size_t i = 0; i < wanted.regions.size(); ++i) {
        const region_settings &one = wanted.regions[i];
        check.demand(!one.cached || ((one.base | one.size_bytes) & ((1U << frames::bits) - 1)) == 0,
                     at("regions", i), "must be whole pages to be cached");
        check.demand(one.cached || !one.beside_levels, at("regions", i) + ".beside_levels",
                     "must be cached: private caches have what no shared one has");
    }
    for (std::size_t i = 0; i < wanted.levels.size(); ++i) {
        check.demand(!wanted.levels[i].inclusive || !wanted.levels[i].cache.on_eviction,
                     at("levels", i) + ".inclusive",
                     "lines enter it on eviction from above: they are not in both");
        check.demand(wanted.cores.empty() ||
                         wanted.levels[i].cache.line_bytes == wanted.cores[0].l1d.line_bytes,
                     at("levels", i) + ".cache.line_bytes", "all caches must have lines of one size");
    }
    if (const auto refused = mpam::refused(wanted)) {
        check.refuse("settings", refused->reason);
    }
    for (std::size_t i = 0; i < wanted.masters.size(); ++i) {
        check_regulator(check, wanted.masters[i].reads, at("masters", i) + ".reads");
        check_regulator(check, wanted.masters[i].writes, at("masters", i) + ".writes");
        check_qos(check, wanted.masters[i], at("masters", i) + ".qos");
    }
}

// The shortest time in which one core can affect another, except through memory, whose accesses are ordered
// anyway.
picoseconds lookahead_of(const signal_settings &signals)
{
    return picoseconds{std::min({signals.interrupt_ps, signals.event_ps, signals.maintenance_ps})};
}

route route_of(const settings &wanted, const core_settings &one)
{
    route way;
    for (const std::string &name : one.path) {
        const auto found = std::find_if(wanted.levels.begin(), wanted.levels.end(),
                                        [&](const level_settings &level) { return level.name == name; });
        way.levels.push_back(static_cast<std::size_t>(found - wanted.levels.begin()));
    }
    const auto master = std::find_if(wanted.masters.begin(), wanted.masters.end(),
                                     [&](const master_settings &two) { return two.name == one.master; });
    way.master = static_cast<std::size_t>(master - wanted.masters.begin());
    return way;
}

} // namespace

simulated_machine::simulated_machine(const settings &wanted, std::vector<cache> levels, dram::memory memory)
    : settings_(wanted),
      ram_(phys_addr{wanted.dram.base},
           wanted.dram.bytes != 0
               ? byte_count{wanted.dram.bytes}
               : std::get<dram::organization>(dram::organization::make(wanted.dram.shape)).size()),
      memory_(wanted, std::move(levels), std::move(memory)),
      mpam_(wanted.mpam ? std::make_unique<mpam::components>(wanted, memory_) : nullptr),
      timeline_(memory_, lookahead_of(wanted.signals))
{
    for (const region_settings &one : wanted.regions) {
        if (one.cached) {
            ram_.add(phys_addr{one.base}, byte_count{one.size_bytes});
        }
    }
}

result<std::unique_ptr<simulated_machine>> simulated_machine::make(const settings &wanted,
                                                                   std::vector<dram::issued> *log)
{
    builder make;
    check(make, wanted);
    const auto shape = make.take(dram::organization::make(wanted.dram.shape), "dram.shape");
    if (!make.reason().empty() || !shape) {
        return refusal{make.reason()};
    }
    make.demand(wanted.dram.bytes <= shape->size().value && wanted.dram.bytes % (1U << frames::bits) == 0,
                "dram.bytes", "must be whole pages that the DRAM has");
    auto memory = make.take(
        dram::memory::make({*shape, wanted.dram.map, phys_addr{wanted.dram.base}, wanted.dram.timings,
                            wanted.dram.how, picoseconds{wanted.dram.request_latency_ps},
                            picoseconds{wanted.dram.answer_latency_ps}},
                           log),
        "dram");
    std::vector<cache> levels;
    for (std::size_t i = 0; i < wanted.levels.size(); ++i) {
        auto made = make.build_cache(wanted.levels[i].cache, wanted.owners, wanted.seed + i,
                                     at("levels", i) + ".cache");
        if (made) {
            levels.push_back(std::move(*made));
        }
    }
    if (!make.reason().empty()) {
        return refusal{make.reason()};
    }
    std::unique_ptr<simulated_machine> built(
        new simulated_machine(wanted, std::move(levels), std::move(*memory)));
    const std::uint64_t core_seed = wanted.seed + 1000;
    const std::uint64_t fetch_seed = wanted.seed + 2000;
    built->cores_.reserve(wanted.cores.size());
    for (std::size_t i = 0; i < wanted.cores.size(); ++i) {
        const core_settings &one = wanted.cores[i];
        auto l1d = make.build_cache(one.l1d, wanted.owners, core_seed + 2 * i, at("cores", i) + ".l1d");
        std::optional<cache> l1i;
        if (one.l1i) {
            l1i = make.build_cache(*one.l1i, wanted.owners, fetch_seed + i, at("cores", i) + ".l1i");
        }
        std::optional<cache> l2;
        if (one.l2) {
            l2 = make.build_cache(*one.l2, wanted.owners, core_seed + 2 * i + 1, at("cores", i) + ".l2");
        }
        if (!make.reason().empty()) {
            return refusal{make.reason()};
        }
        if (wanted.mpam) {
            l1d->keep_labels(nullptr);
            if (l2) {
                l2->keep_labels(nullptr);
            }
        }
        built->cores_.push_back(std::make_unique<core>(
            core_id{static_cast<std::uint32_t>(i)}, one, std::move(*l1d), std::move(l1i), std::move(l2),
            route_of(wanted, one), built->timeline_,
            load_store_unit::surroundings{built->memory_, built->ram_, built->settings_.regions,
                                          picoseconds{wanted.device_ps}, built->snooped_}));
    }
    return built;
}

void simulated_machine::share(phys_addr start, byte_count size, bool shared)
{
    for (const std::unique_ptr<core> &one : cores_) {
        one->flush(start, size);
    }
    ram_.set_shared(start, size, shared);
}

} // namespace bulkhead::machine
