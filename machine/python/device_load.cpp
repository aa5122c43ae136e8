// SPDX-License-Identifier: Apache-2.0
// Makes the traffic, the SMMU with its tables, and the device from a JSON object; see the header.
#include "machine/python/device_load.h"

#include <algorithm>
#include <stdexcept>

#include "machine/python/space_json.h"

namespace bulkhead::machine {

namespace {

using nlohmann::json;

void demand(bool holds, const char *why)
{
    if (!holds) {
        throw std::runtime_error(why);
    }
}

template <class T> T taken_or_thrown(result<T> made)
{
    if (const auto *refused = std::get_if<refusal>(&made)) {
        throw std::runtime_error(refused->reason);
    }
    return std::get<T>(std::move(made));
}

// A device has its own port of the interconnect.
route route_to_memory(const settings &made_from, const std::string &master)
{
    const auto port = std::ranges::find(made_from.masters, master, &master_settings::name);
    demand(port != made_from.masters.end(), "there is no such master");
    return {{}, static_cast<std::size_t>(port - made_from.masters.begin())};
}

std::unique_ptr<devices::bus_traffic> disk_of(const json &from)
{
    const devices::disk_traffic::settings wanted{
        .base = from.at("base"),
        .memory_bytes = from.at("memory_bytes"),
        .command_bytes = from.at("command_bytes"),
        .queue_depth = from.at("queue_depth"),
        .kind = from.at("reads_memory").get<bool>() ? access_kind::read : access_kind::write,
        .seed = from.at("seed")};
    demand(wanted.queue_depth > 0, "a queue has one command at least");
    demand(wanted.command_bytes > 0 && wanted.command_bytes % devices::bus_traffic::page_bytes == 0 &&
               wanted.base % devices::bus_traffic::page_bytes == 0,
           "commands are of whole pages");
    demand(wanted.memory_bytes >= wanted.command_bytes, "the memory has no room for a command");
    return std::make_unique<devices::disk_traffic>(wanted);
}

std::unique_ptr<devices::bus_traffic> network_of(const json &from)
{
    const devices::network_traffic::settings wanted{.ring = from.at("ring"),
                                                    .buffers = from.at("buffers"),
                                                    .buffer_count = from.at("buffer_count"),
                                                    .packet_bytes = from.at("packet_bytes"),
                                                    .line_rate_bytes_per_s = from.at("line_rate_bytes_per_s"),
                                                    .seed = from.at("seed")};
    demand(wanted.buffer_count > 0, "a ring has one buffer at least");
    demand(wanted.packet_bytes > 0 && wanted.packet_bytes <= devices::bus_traffic::page_bytes,
           "packets are of 1 to 4096 bytes");
    demand(wanted.line_rate_bytes_per_s > 0, "the line rate is 0");
    return std::make_unique<devices::network_traffic>(wanted);
}

tlb_settings tlb_of(const json &from)
{
    tlb_settings wanted;
    wanted.entries = from.at("entries");
    wanted.ways = from.at("ways");
    return wanted;
}

} // namespace

result<std::unique_ptr<device_load>> device_load::make(simulated_machine &machine, const std::string &text)
{
    try {
        const json from = json::parse(text);
        std::unique_ptr<device_load> made(new device_load);
        made->master_ = from.at("master");
        const route way = route_to_memory(machine.made_from(), made->master_);
        const owner_id owner{from.at("owner").get<std::uint8_t>()};
        demand(owner.value < machine.made_from().owners, "there is no such owner");
        made->traffic_ = from.contains("disk") ? disk_of(from.at("disk")) : network_of(from.at("network"));
        if (const json &unit = from.at("smmu"); !unit.is_null()) {
            made->space_ = std::make_unique<address_space>(
                taken_or_thrown(address_space::make(space_from(unit.at("space")))));
            const address_space *tables = made->space_.get();
            demand(tables->regime().stage2.on, "an SMMU translates by stage 2");
            made->smmu_ = taken_or_thrown(
                smmu::make({.tlb = tlb_of(unit.at("tlb")),
                            .main = tlb_of(unit.at("main")),
                            .walk_cache = tlb_of(unit.at("walk_cache")),
                            .hit = picoseconds{unit.at("hit_ps")},
                            .request = picoseconds{unit.at("request_ps")}},
                           tables->regime().stage2,
                           {.timeline = machine.timeline(),
                            .memory = machine.memory(),
                            .way = way,
                            .owner = owner,
                            .descriptor = [tables](phys_addr at) { return tables->read(at); }}));
        }
        const devices::bus_master::settings wanted{.line = picoseconds{from.at("line_ps")},
                                                   .outstanding_lines = from.at("outstanding_lines"),
                                                   .rate_bytes_per_s = from.at("rate_bytes_per_s"),
                                                   .coherent = from.at("coherent")};
        demand(wanted.outstanding_lines > 0, "a device has one line in flight at least");
        demand(wanted.line.value > 0, "a line takes time on the device's bus");
        made->master_device_ = std::make_unique<devices::bus_master>(
            wanted, devices::bus_master::surroundings{.timeline = machine.timeline(),
                                                      .memory = machine.memory(),
                                                      .way = way,
                                                      .owner = owner,
                                                      .traffic = *made->traffic_,
                                                      .translation = made->smmu_.get()});
        made->master_device_->start(picoseconds{from.at("start_at_ps")});
        return made;
    } catch (const std::exception &error) {
        return refusal{std::string("device: ") + error.what()};
    }
}

json device_load::report() const
{
    const devices::bus_master_counts &moved = master_device_->counts();
    const smmu_counts translated = smmu_ == nullptr ? smmu_counts{} : smmu_->counts();
    return {{"master", master_},
            {"bytes", moved.bytes_read + moved.bytes_written},
            {"bytes_read", moved.bytes_read},
            {"bytes_written", moved.bytes_written},
            {"dropped", traffic_->dropped()},
            {"faults", moved.faults},
            {"lookups", translated.lookups},
            {"misses", translated.misses},
            {"walks", translated.walks},
            {"walk_reads", translated.reads},
            {"walk_ps", translated.walk_time.value}};
}

} // namespace bulkhead::machine
