// SPDX-License-Identifier: Apache-2.0
// Snoops of a coherent interconnect, as Arm's CCI sends them to clusters: to all clusters except that of the
// requester. A part of machine/memory_system.h.
#include <algorithm>

#include "machine/memory_system.h"

namespace bulkhead::machine {

// Clients behind the same last shared level are one cluster; a client without shared levels is a cluster of
// its own.
void memory_system::attach(memory_client &client, const route &way)
{
    for (std::size_t number = 0; number < clusters_.size(); ++number) {
        cluster &one = clusters_[number];
        if (!way.levels.empty() && !one.levels.empty() && one.levels.back() == way.levels.back()) {
            one.clients.push_back(&client);
            for (const std::size_t level : way.levels) {
                if (std::find(one.levels.begin(), one.levels.end(), level) == one.levels.end()) {
                    one.levels.insert(one.levels.begin(), level);
                }
            }
            above_.push_back({&client, &way, number});
            return;
        }
    }
    above_.push_back({&client, &way, clusters_.size()});
    clusters_.push_back({way.levels, {&client}, static_cast<std::uint32_t>(way.master)});
}

// The cluster of the client with this route; none if the route is no client's.
std::size_t memory_system::cluster_of(const route *way) const
{
    const auto found =
        std::find_if(above_.begin(), above_.end(), [way](const above &one) { return one.way == way; });
    return found != above_.end() ? found->cluster : clusters_.size();
}

// A cluster's answer: whether it has the line, and when the answer, with the data, is known.
memory_system::snooped memory_system::ask_cluster(const cluster &one, phys_addr line, picoseconds when)
{
    const bool in_levels = std::any_of(one.levels.begin(), one.levels.end(), [&](std::size_t index) {
        return levels_[index].cache.storage().contains(line);
    });
    const bool in_private =
        !in_levels && std::any_of(one.clients.begin(), one.clients.end(),
                                  [&](memory_client *client) { return client->holds(line); });
    if (one.levels.empty()) {
        return {in_private, when};
    }
    shared_level &last = levels_[one.levels.back()].cache;
    const level_settings &took = last.settings();
    const std::uint64_t own = in_levels    ? took.snooped_hit_ps
                              : in_private ? took.snooped_above_ps
                                           : took.snooped_miss_ps;
    return {in_levels || in_private, last.take_port(when) + picoseconds{own}};
}

// Removes all copies from a cluster. Returns the newest contents if they were not in memory.
std::optional<written_back> memory_system::take_out(const cluster &one, phys_addr line)
{
    std::optional<written_back> newest;
    for (memory_client *client : one.clients) {
        if (const std::optional<written_back> had = client->drop(line)) {
            newest = had;
        }
    }
    for (const std::size_t index : one.levels) {
        cache &storage = levels_[index].cache.storage();
        const std::optional<displaced> was = storage.invalidate(line);
        if (was && was->dirty && !newest) {
            newest = written_back{line, was->owner, storage.gone_label()};
        }
    }
    return newest;
}

// Snoops all clusters except that of route `from`; null: the requester has no cache.
memory_system::snooped memory_system::snoop(const route *from, phys_addr line, snoop_kind kind,
                                            picoseconds when)
{
    snooped all{false, when};
    const std::size_t own = cluster_of(from);
    for (std::size_t number = 0; number < clusters_.size(); ++number) {
        if (number == own) {
            continue;
        }
        const cluster &one = clusters_[number];
        const snooped answer = ask_cluster(one, line, when);
        all = {all.found || answer.found, std::max(all.answered, answer.answered)};
        if (!answer.found || kind == snoop_kind::keep) {
            continue;
        }
        const std::optional<written_back> newest = take_out(one, line);
        if (newest && kind == snoop_kind::clean_out) {
            send_write({line, access_kind::write, {}, one.master, newest->mpam}, answer.answered, false);
        }
    }
    if (all.found) {
        ++counts_.snoop_hits;
        digest_.add(when, snoop_code << 32U | static_cast<std::uint64_t>(kind), line.value);
    }
    return {all.found, all.answered + picoseconds{coherence_.snoop_ps}};
}

bool memory_system::has_on_way(const route &way, phys_addr line, picoseconds now)
{
    return std::any_of(way.levels.begin(), way.levels.end(), [&](std::size_t index) {
        if (levels_[index].cache.storage().contains(line)) {
            return true;
        }
        const flight *const coming = in_flight_near(line) != 0 ? find_flight(line, index) : nullptr;
        return coming != nullptr && coming->when > now;
    });
}

std::optional<picoseconds> memory_system::snoop_others(const route &way, const line_request &wanted,
                                                       bool here, picoseconds now)
{
    const bool read = wanted.kind == access_kind::read;
    if (clusters_.size() < 2 || (read && (here || has_on_way(way, wanted.line, now)))) {
        return std::nullopt;
    }
    const snooped found = snoop(&way, wanted.line, read ? snoop_kind::keep : snoop_kind::take, now);
    if (!found.found) {
        return std::nullopt; // memory is read at the same time, and answers later
    }
    return found.answered + ports_[wanted.master].request + ports_[wanted.master].answer;
}

memory_system::reply memory_system::fetch_past(const route &way, const line_request &wanted,
                                               memory_client &client, picoseconds now, bool coherent)
{
    if (!has_room(way, client, wanted.mpam, now)) {
        return {0, reply::state::full, {}, false, 0};
    }
    ++counts_.fetches;
    digest_.add(now, fetch_code << 32U | wanted.master, wanted.line.value);
    if (!coherent) {
        return request_line({}, wanted, client, now, now);
    }
    const snooped answer = snoop(nullptr, wanted.line, snoop_kind::keep, now);
    if (!answer.found) {
        return request_line({}, wanted, client, now, coherence_.speculative ? now : answer.answered);
    }
    if (coherence_.speculative) {
        request_line({}, wanted, nobody_, now,
                     now); // speculative: memory is read although its answer is not used
    }
    const picoseconds there = answer.answered + ports_[wanted.master].request + ports_[wanted.master].answer;
    return {there.value, reply::state::known, reply::source::further_level, false, 0};
}

picoseconds memory_system::write_coherent(const line_request &line, bool whole, picoseconds when)
{
    digest_.add(when, write_past_code << 32U | line.master, line.line.value);
    const snooped answer = snoop(nullptr, line.line, whole ? snoop_kind::take : snoop_kind::clean_out, when);
    send_write(line, answer.answered, true);
    return when;
}

} // namespace bulkhead::machine
