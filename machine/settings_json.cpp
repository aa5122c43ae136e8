// SPDX-License-Identifier: Apache-2.0
// Reads settings; see the header. Inside of this file refusals are exceptions, as the JSON library throws
// them; callers get them as values.
#include "machine/settings_json.h"

#include <limits>
#include <set>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include <nlohmann/json.hpp>

namespace bulkhead::machine {

namespace {

using nlohmann::json;

[[noreturn]] void refuse(const std::string &where, const std::string &why)
{
    throw std::runtime_error(where + ": " + why);
}

// A JSON object whose keys are read one by one; done() refuses keys that were not read.
class object {
public:
    object(const json &value, std::string where) : value_(value), where_(std::move(where))
    {
        if (!value.is_object()) {
            refuse(where_.empty() ? "settings" : where_, "is no object");
        }
    }

    // Reads the key into `field` if it is present.
    template <class T> object &read(const char *key, T &field)
    {
        if (const json *found = take(key)) {
            into(*found, path(key), field);
        }
        return *this;
    }
    // Reads the object at the key with a function.
    template <class T> object &read(const char *key, T &field, void (*how)(object &, T &))
    {
        if (const json *found = take(key)) {
            object below(*found, path(key));
            how(below, field);
            below.done();
        }
        return *this;
    }
    template <class T> object &read(const char *key, std::optional<T> &field, void (*how)(object &, T &))
    {
        return value_.contains(key) ? read(key, field.emplace(), how) : *this;
    }
    template <class T> object &read(const char *key, std::vector<T> &field, void (*how)(object &, T &))
    {
        if (const json *found = take(key)) {
            if (!found->is_array()) {
                refuse(path(key), "is no list");
            }
            for (const json &item : *found) {
                object below(item, path(key) + "[" + std::to_string(field.size()) + "]");
                how(below, field.emplace_back());
                below.done();
            }
        }
        return *this;
    }
    void done() const
    {
        for (const auto &[key, value] : value_.items()) {
            if (!known_.contains(key)) {
                refuse(path(key), "there is no such setting");
            }
        }
    }

private:
    [[nodiscard]] std::string path(const std::string &key) const
    {
        return where_.empty() ? key : where_ + "." + key;
    }
    const json *take(const char *key)
    {
        known_.insert(key);
        const auto found = value_.find(key);
        return found == value_.end() ? nullptr : &*found;
    }

    template <class T>
    requires std::is_unsigned_v<T>
    static void into(const json &value, const std::string &where, T &field)
    {
        if (!value.is_number_unsigned() || value.get<std::uint64_t>() > std::numeric_limits<T>::max()) {
            refuse(where, "is no whole number from 0 to " + std::to_string(std::numeric_limits<T>::max()));
        }
        field = static_cast<T>(value.get<std::uint64_t>());
    }
    static void into(const json &value, const std::string &where, bool &field)
    {
        if (!value.is_boolean()) {
            refuse(where, "is neither true nor false");
        }
        field = value.get<bool>();
    }
    static void into(const json &value, const std::string &where, std::string &field)
    {
        if (!value.is_string()) {
            refuse(where, "is no text");
        }
        field = value.get<std::string>();
    }
    static void into(const json &value, const std::string &where, replacement &field)
    {
        std::string name;
        into(value, where, name);
        const auto found = replacement_from_name(name);
        if (!found) {
            refuse(where, "'" + name + "' is none of lru, plru, random");
        }
        field = *found;
    }
    static void into(const json &value, const std::string &where, dram::page_policy &field)
    {
        std::string name;
        into(value, where, name);
        if (name != "open" && name != "closed") {
            refuse(where, "'" + name + "' is neither open nor closed");
        }
        field = name == "open" ? dram::page_policy::open : dram::page_policy::closed;
    }
    static void into(const json &value, const std::string &where, walk_path &field)
    {
        std::string name;
        into(value, where, name);
        if (name != "l1" && name != "l2" && name != "memory") {
            refuse(where, "'" + name + "' is none of l1, l2, memory");
        }
        field = name == "l1" ? walk_path::l1 : name == "l2" ? walk_path::l2 : walk_path::memory;
    }
    static void into(const json &value, const std::string &where, mpam::portion_kind &field)
    {
        std::string name;
        into(value, where, name);
        if (name != "ways" && name != "sets") {
            refuse(where, "'" + name + "' is neither ways nor sets");
        }
        field = name == "ways" ? mpam::portion_kind::ways : mpam::portion_kind::sets;
    }
    static void into(const json &value, const std::string &where, byte_count &field)
    {
        into(value, where, field.value);
    }
    template <class T> static void into(const json &value, const std::string &where, std::vector<T> &field)
    {
        if (!value.is_array()) {
            refuse(where, "is no list");
        }
        for (const json &item : value) {
            into(item, where, field.emplace_back());
        }
    }

    const json &value_;
    std::string where_;
    std::set<std::string> known_;
};

void read_cache(object &from, cache_settings &to)
{
    from.read("size_bytes", to.size_bytes)
        .read("ways", to.ways)
        .read("line_bytes", to.line_bytes)
        .read("policy", to.policy)
        .read("locked_ways", to.locked_ways)
        .read("on_eviction", to.on_eviction);
}

void read_prefetcher(object &from, prefetcher_settings &to)
{
    from.read("streams", to.streams)
        .read("depth_lines", to.depth_lines)
        .read("outstanding", to.outstanding)
        .read("confirmations", to.confirmations)
        .read("max_stride_lines", to.max_stride_lines)
        .read("page_bytes", to.page_bytes);
}

void read_write_streaming(object &from, write_streaming_settings &to)
{
    from.read("lines", to.lines).read("shared_lines", to.shared_lines);
}

void read_tlb(object &from, tlb_settings &to)
{
    from.read("entries", to.entries)
        .read("ways", to.ways)
        .read("lockable_entries", to.lockable_entries)
        .read("hit_cycles", to.hit_cycles)
        .read("page_shifts", to.page_shifts);
}

void read_mmu(object &from, mmu_settings &to)
{
    from.read("l1", to.l1, read_tlb)
        .read("l2", to.l2, read_tlb)
        .read("intermediate", to.intermediate, read_tlb)
        .read("walk_cache", to.walk_cache, read_tlb)
        .read("walk_cycles", to.walk_cycles)
        .read("walks", to.walks);
}

void read_core(object &from, core_settings &to)
{
    from.read("frequency_hz", to.frequency_hz)
        .read("width", to.width)
        .read("instruction_millicycles", to.instruction_millicycles)
        .read("load_use_cycles", to.load_use_cycles)
        .read("loads", to.loads)
        .read("window_instructions", to.window_instructions)
        .read("stores", to.stores)
        .read("reads", to.reads)
        .read("transfer_ps", to.transfer_ps)
        .read("l1d", to.l1d, read_cache)
        .read("l1i", to.l1i, read_cache)
        .read("l2", to.l2, read_cache)
        .read("l2_latency_ps", to.l2_latency_ps)
        .read("prefetcher", to.prefetcher, read_prefetcher)
        .read("write_streaming", to.write_streaming, read_write_streaming)
        .read("mmu", to.mmu, read_mmu)
        .read("path", to.path)
        .read("master", to.master);
}

void read_level(object &from, level_settings &to)
{
    from.read("name", to.name)
        .read("cache", to.cache, read_cache)
        .read("latency_ps", to.latency_ps)
        .read("occupancy_ps", to.occupancy_ps)
        .read("snoop_ps", to.snoop_ps)
        .read("snooped_hit_ps", to.snooped_hit_ps)
        .read("snooped_above_ps", to.snooped_above_ps)
        .read("snooped_miss_ps", to.snooped_miss_ps)
        .read("misses", to.misses)
        .read("inclusive", to.inclusive);
}

void read_regulator(object &from, regulator_settings &to)
{
    from.read("rate_bytes_per_s", to.rate_bytes_per_s)
        .read("burst_bytes", to.burst_bytes)
        .read("peak_bytes_per_s", to.peak_bytes_per_s);
}

void read_qos(object &from, qos_settings &to)
{
    from.read("clock_ps", to.clock_ps)
        .read("transaction_bytes", to.transaction_bytes)
        .read("rate", to.rate)
        .read("burst", to.burst)
        .read("peak", to.peak);
}

void read_master(object &from, master_settings &to)
{
    from.read("name", to.name)
        .read("request_ps", to.request_ps)
        .read("answer_ps", to.answer_ps)
        .read("reads", to.reads, read_regulator)
        .read("writes", to.writes, read_regulator)
        .read("qos", to.qos, read_qos);
}

void read_coherence(object &from, coherence_settings &to)
{
    from.read("snoop_ps", to.snoop_ps).read("speculative", to.speculative);
}

void read_region(object &from, region_settings &to)
{
    from.read("name", to.name)
        .read("base", to.base)
        .read("size_bytes", to.size_bytes)
        .read("latency_ps", to.latency_ps)
        .read("cached", to.cached)
        .read("beside_levels", to.beside_levels);
}

void read_shape(object &from, dram::organization::counts &to)
{
    from.read("channels", to.channels)
        .read("ranks", to.ranks)
        .read("groups", to.groups)
        .read("banks", to.banks)
        .read("rows", to.rows)
        .read("columns", to.columns)
        .read("burst_bytes", to.burst);
}

void read_map(object &from, dram::mapping_bits &to)
{
    from.read("channel", to.channel)
        .read("rank", to.rank)
        .read("group", to.group)
        .read("bank", to.bank)
        .read("row", to.row)
        .read("column", to.column);
}

void read_timings(object &from, dram::timing &to)
{
    from.read("period_fs", to.period_fs)
        .read("burst", to.burst)
        .read("cl", to.cl)
        .read("cwl", to.cwl)
        .read("rcd", to.rcd)
        .read("rp", to.rp)
        .read("ras", to.ras)
        .read("ccd_s", to.ccd_s)
        .read("ccd_l", to.ccd_l)
        .read("rrd_s", to.rrd_s)
        .read("rrd_l", to.rrd_l)
        .read("faw", to.faw)
        .read("wr", to.wr)
        .read("wtr_s", to.wtr_s)
        .read("wtr_l", to.wtr_l)
        .read("rtp", to.rtp)
        .read("refi", to.refi)
        .read("rfc", to.rfc)
        .read("turnaround", to.turnaround)
        .read("rank_switch", to.rank_switch);
}

void read_arbitration(object &from, dram::arbitration &to)
{
    from.read("row_hit", to.row_hit)
        .read("direction", to.direction)
        .read("age", to.age)
        .read("most", to.most)
        .read("guard", to.guard);
}

void read_stores(object &from, dram::store_settings &to)
{
    from.read("starve", to.starve).read("run", to.run).read("rest", to.rest).read("idle", to.idle);
}

void read_policy(object &from, dram::policy &to)
{
    from.read("read_queue", to.read_queue)
        .read("write_queue", to.write_queue)
        .read("write_high", to.write_high)
        .read("write_low", to.write_low)
        .read("cap", to.cap)
        .read("age_limit", to.age_limit)
        .read("page", to.page)
        .read("stores", to.stores, read_stores)
        .read("arbitration", to.arbitration, read_arbitration);
}

void read_dram(object &from, dram_settings &to)
{
    from.read("shape", to.shape, read_shape)
        .read("map", to.map, read_map)
        .read("base", to.base)
        .read("bytes", to.bytes)
        .read("timings", to.timings, read_timings)
        .read("how", to.how, read_policy)
        .read("request_latency_ps", to.request_latency_ps)
        .read("answer_latency_ps", to.answer_latency_ps);
}

void read_signals(object &from, signal_settings &to)
{
    from.read("interrupt_ps", to.interrupt_ps)
        .read("event_ps", to.event_ps)
        .read("maintenance_ps", to.maintenance_ps);
}

void read_capacity(object &from, mpam::capacity_settings &to)
{
    from.read("bits", to.bits).read("maximum", to.maximum).read("minimum", to.minimum).read("soft", to.soft);
}

void read_associativity(object &from, mpam::associativity_settings &to)
{
    from.read("bits", to.bits);
}

void read_bandwidth(object &from, mpam::bandwidth_settings &to)
{
    from.read("bits", to.bits)
        .read("min", to.min)
        .read("max", to.max)
        .read("portions", to.portions)
        .read("proportional", to.proportional)
        .read("window_ps", to.window_ps)
        .read("window_writable", to.window_writable);
}

void read_priority(object &from, mpam::priority_settings &to)
{
    from.read("internal", to.internal).read("downstream", to.downstream).read("zero_is_low", to.zero_is_low);
}

void read_storage_monitors(object &from, mpam::storage_monitor_settings &to)
{
    from.read("count", to.count).read("capture", to.capture);
}

void read_bandwidth_monitors(object &from, mpam::bandwidth_monitor_settings &to)
{
    from.read("count", to.count)
        .read("capture", to.capture)
        .read("bits", to.bits)
        .read("by_direction", to.by_direction)
        .read("scale", to.scale);
}

void read_mpam_resource(object &from, mpam::resource_settings &to)
{
    from.read("level", to.level)
        .read("portions", to.portions)
        .read("portions_are", to.portions_are)
        .read("capacity", to.capacity, read_capacity)
        .read("associativity", to.associativity, read_associativity)
        .read("bandwidth", to.bandwidth, read_bandwidth)
        .read("priority", to.priority, read_priority)
        .read("storage_monitors", to.storage_monitors, read_storage_monitors)
        .read("bandwidth_monitors", to.bandwidth_monitors, read_bandwidth_monitors);
}

void read_mpam_component(object &from, mpam::component_settings &to)
{
    from.read("name", to.name)
        .read("at", to.at)
        .read("version", to.version)
        .read("error_interrupt", to.error_interrupt)
        .read("overflow_interrupt", to.overflow_interrupt)
        .read("not_ready_ps", to.not_ready_ps)
        .read("internal_partids", to.internal_partids)
        .read("resources", to.resources, read_mpam_resource);
}

void read_mpam(object &from, mpam::system_settings &to)
{
    from.read("partids", to.partids)
        .read("monitor_groups", to.monitor_groups)
        .read("virtual_partids", to.virtual_partids)
        .read("components", to.components, read_mpam_component);
}

void read_settings(object &from, settings &to)
{
    from.read("seed", to.seed)
        .read("signals", to.signals, read_signals)
        .read("device_ps", to.device_ps)
        .read("owners", to.owners)
        .read("cores", to.cores, read_core)
        .read("levels", to.levels, read_level)
        .read("masters", to.masters, read_master)
        .read("coherence", to.coherence, read_coherence)
        .read("regions", to.regions, read_region)
        .read("writes_in_flight", to.writes_in_flight)
        .read("dram", to.dram, read_dram)
        .read("mpam", to.mpam, read_mpam);
}

} // namespace

result<settings> settings_from_json(const std::string &text)
{
    settings made;
    try {
        const json value = json::parse(text);
        object whole(value, "");
        read_settings(whole, made);
        whole.done();
    } catch (const std::exception &error) {
        return refusal{error.what()};
    }
    return made;
}

} // namespace bulkhead::machine
