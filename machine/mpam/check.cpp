// SPDX-License-Identifier: Apache-2.0
// Limits are those of IHI 0099; a message says so where the model is the limit.
#include "machine/mpam/check.h"

#include <algorithm>

namespace bulkhead::machine::mpam {

namespace {

class checker {
public:
    explicit checker(const settings &whole) : whole_(whole) {}

    std::optional<refusal> run()
    {
        const system_settings &all = *whole_.mpam;
        demand(all.partids >= 1 && all.partids <= 1U << 16U, "mpam.partids", "must be from 1 to 65536");
        demand(all.monitor_groups >= 1 && all.monitor_groups <= 256, "mpam.monitor_groups",
               "must be from 1 to 256");
        demand(all.virtual_partids % 4 == 0 && all.virtual_partids <= 32, "mpam.virtual_partids",
               "must be a multiple of 4, 32 at most");
        for (std::size_t i = 0; i < all.components.size(); ++i) {
            check(all.components[i], "mpam.components[" + std::to_string(i) + "]");
        }
        return reason_.empty() ? std::nullopt : std::optional(refusal{reason_});
    }

private:
    void demand(bool holds, const std::string &where, const std::string &why)
    {
        if (!holds && reason_.empty()) {
            reason_ = where + ": " + why;
        }
    }
    static bool is_width(std::uint32_t bits) { return bits >= 1 && bits <= 16; }

    void check(const component_settings &one, const std::string &where)
    {
        demand(!one.name.empty(), where + ".name", "must not be empty");
        demand(one.version == "1.0" || one.version == "1.1", where + ".version", "must be 1.0 or 1.1");
        demand(one.internal_partids <= whole_.mpam->partids, where + ".internal_partids",
               "must not be more than the PARTIDs");
        demand(!one.resources.empty() && one.resources.size() <= 16, where + ".resources",
               "there must be 1 to 16");
        demand(one.has_ris() || one.resources.size() == 1, where + ".resources",
               "version 1.0 has no resource instances: one only");
        for (std::size_t i = 0; i < one.resources.size(); ++i) {
            const std::string path = where + ".resources[" + std::to_string(i) + "]";
            check(one.resources[i], one.has_ris(), path);
        }
    }

    void check(const resource_settings &one, bool newer, const std::string &where)
    {
        demand(std::ranges::find(taken_, one.level) == taken_.end(), where,
               one.level.empty() ? "another instance is for memory" : "another instance is for that level");
        taken_.push_back(one.level);
        if (one.level.empty()) {
            check_memory(one, newer, where);
        } else {
            check_cache(one, newer, where);
        }
    }

    void check_cache(const resource_settings &one, bool newer, const std::string &where)
    {
        const auto level = std::ranges::find(whole_.levels, one.level, &level_settings::name);
        if (level == whole_.levels.end()) {
            demand(false, where + ".level", "there is no level '" + one.level + "'");
            return;
        }
        demand(!level->inclusive, where + ".level",
               "is inclusive: a line that is not allocated could not be in the caches above");
        demand(!one.bandwidth && !one.priority && !one.bandwidth_monitors, where,
               "bandwidth, priority and their monitors are modelled of memory only");
        const std::uint64_t ways = level->cache.ways;
        const std::uint64_t sets =
            level->cache.size_bytes / std::max<std::uint64_t>(1, ways * level->cache.line_bytes);
        const bool parts_ways =
            one.portions == 0 || one.portions_are == portion_kind::sets ||
            (one.portions <= ways ? ways % one.portions == 0
                                  : one.portions % ways == 0 && sets % (one.portions / ways) == 0);
        const bool parts_sets =
            one.portions == 0 || one.portions_are == portion_kind::ways || sets % one.portions == 0;
        demand(parts_ways && parts_sets, where + ".portions", "do not divide the cache into equal parts");
        if (one.capacity) {
            demand(is_width(one.capacity->bits), where + ".capacity.bits", "must be from 1 to 16");
            demand(one.capacity->maximum || one.capacity->minimum, where + ".capacity",
                   "is neither a maximum nor a minimum");
            demand(newer || (one.capacity->maximum && !one.capacity->minimum && !one.capacity->soft),
                   where + ".capacity", "version 1.0 has a hard maximum only");
        }
        if (one.associativity) {
            demand(is_width(one.associativity->bits), where + ".associativity.bits", "must be from 1 to 16");
            demand(newer, where + ".associativity", "is not in version 1.0");
        }
    }

    void check_memory(const resource_settings &one, bool newer, const std::string &where)
    {
        demand(one.portions == 0 && !one.capacity && !one.associativity && !one.storage_monitors, where,
               "memory has no portions, capacity, associativity or storage of a cache");
        if (one.bandwidth) {
            const bandwidth_settings &has = *one.bandwidth;
            const bool fractions = has.min || has.max || has.proportional;
            demand(!fractions || is_width(has.bits), where + ".bandwidth.bits", "must be from 1 to 16");
            demand(has.portions <= 4096, where + ".bandwidth.portions", "must be 4096 at most");
            demand(has.window_ps >= 1'000'000 && has.window_ps <= 65'535'000'000,
                   where + ".bandwidth.window_ps", "must be from 1 us to 65535 us");
        }
        if (one.priority) {
            demand(one.priority->internal <= 16 && one.priority->downstream <= 16, where + ".priority",
                   "has 16 bits at most");
        }
        if (one.bandwidth_monitors) {
            const std::uint32_t bits = one.bandwidth_monitors->bits;
            demand(bits == 31 || bits == 44 || bits == 63, where + ".bandwidth_monitors.bits",
                   "must be 31, 44 or 63");
            demand(newer || (bits == 31 && !one.bandwidth_monitors->by_direction),
                   where + ".bandwidth_monitors", "version 1.0 has 31 bits and no direction");
            demand(one.bandwidth_monitors->scale < 32, where + ".bandwidth_monitors.scale",
                   "must be below 32");
        }
    }

    const settings &whole_;
    std::vector<std::string> taken_;
    std::string reason_;
};

} // namespace

std::optional<refusal> refused(const settings &wanted)
{
    return wanted.mpam ? checker(wanted).run() : std::nullopt;
}

} // namespace bulkhead::machine::mpam
