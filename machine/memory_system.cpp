// SPDX-License-Identifier: Apache-2.0
// The path of a line through shared levels and interconnect to DRAM and back; see the header.
#include "machine/memory_system.h"

#include <algorithm>

#include "machine/qos.h"

namespace bulkhead::machine {

memory_system::memory_system(const settings &wanted, std::vector<cache> levels, dram::memory memory)
    : memory_(std::move(memory)), line_bytes_(wanted.cores.at(0).l1d.line_bytes),
      bursts_per_line_(std::max<std::uint64_t>(1, line_bytes_ / wanted.dram.shape.burst.value)),
      burst_bytes_(wanted.dram.shape.burst.value),
      writes_allowed_(wanted.writes_in_flight * static_cast<std::uint32_t>(bursts_per_line_)),
      coherence_(wanted.coherence)
{
    for (std::size_t i = 0; i < levels.size(); ++i) {
        const std::uint32_t allowed = wanted.levels.at(i).misses;
        levels_.push_back({shared_level(std::move(levels[i]), wanted.levels.at(i)),
                           {},
                           0,
                           allowed != 0 ? allowed : ~std::uint32_t{0}});
    }
    for (const region_settings &one : wanted.regions) {
        if (one.cached) {
            regions_.push_back(one);
            beside_levels_ = beside_levels_ || one.beside_levels;
        }
    }
    for (const master_settings &one : wanted.masters) {
        const bool by_qos = one.qos.clock_ps != 0;
        const regulator_settings both = regulator_of(one.qos, line_bytes_);
        ports_.push_back({picoseconds{one.request_ps}, picoseconds{one.answer_ps},
                          regulator(by_qos ? both : one.reads), regulator(by_qos ? both : one.writes), 0,
                          std::vector<std::uint32_t>(wanted.mpam ? wanted.mpam->partids : 0)});
    }
}

// The flight that arrives last: a line can be evicted and requested again before it has arrived.
memory_system::flight *memory_system::find_flight(phys_addr line, std::size_t level)
{
    flight *last = nullptr;
    for (flight &one : flights_) {
        if (one.line == line && (one.levels >> level & 1U) != 0 &&
            (last == nullptr || one.when > last->when)) {
            last = &one;
        }
    }
    return last;
}

// Ends the flights that have arrived by now.
void memory_system::expire(picoseconds now)
{
    for (; !landings_.empty() && landings_.front().when <= now; landings_.pop_front()) {
        const std::size_t index = landings_.front().flight;
        flight &gone = flights_[index];
        --in_flight_near(gone.line);
        gone.line = no_line;
        free_flights_.push_back(index);
        for (std::uint64_t left = gone.levels; left != 0; left &= left - 1) {
            level_state &level = levels_[static_cast<std::size_t>(std::countr_zero(left))];
            if ((gone.fills & left & (~left + 1)) != 0) {
                level.cache.take_port(gone.when);
            }
            full_levels_ -= level.misses-- == level.misses_allowed ? 1 : 0;
        }
    }
    next_landing_ = landings_.empty() ? never : landings_.front().when;
}

picoseconds memory_system::next_landing(picoseconds now)
{
    expire(now);
    return next_landing_;
}

std::size_t memory_system::free_flight(picoseconds now)
{
    expire(now);
    if (free_flights_.empty()) [[unlikely]] {
        flights_.emplace_back();
        return flights_.size() - 1;
    }
    const std::size_t index = free_flights_.back();
    free_flights_.pop_back();
    return index;
}

// The number of clients that wait for the same resource and were refused before `client`; all of them if
// `client` does not wait.
std::uint32_t memory_system::waiting_before(const memory_client &client, const want &wanted) const
{
    std::uint32_t before = 0;
    for (const refused_client &one : wants_room_) {
        if (one.client == &client) {
            break;
        }
        before += one.wanted == wanted ? 1 : 0;
    }
    return before;
}

// A client that waits already keeps its place, even if it now wants another resource.
void memory_system::wait_for_room(memory_client &client, const want &wanted)
{
    ++counts_.refused;
    for (refused_client &one : wants_room_) {
        if (one.client == &client) {
            one.wanted = wanted;
            return;
        }
    }
    wants_room_.push_back({&client, wanted});
}

// The next client that waits for the same resource may have been refused only because of this one. It is made
// to try again now: the client that leaves may use no room at all, so no other event would wake the next one.
void memory_system::give_up_waiting(const memory_client &client, picoseconds now)
{
    const auto own = std::find_if(wants_room_.begin(), wants_room_.end(),
                                  [&client](const refused_client &one) { return one.client == &client; });
    if (own == wants_room_.end()) {
        return;
    }
    const refused_client left = *own;
    const auto behind = wants_room_.erase(own);
    const auto next = std::find_if(behind, wants_room_.end(),
                                   [&left](const refused_client &one) { return one.wanted == left.wanted; });
    if (next != wants_room_.end()) {
        next->client->room(now);
    }
}

// Makes all of them try again. Those that find room leave the list.
void memory_system::tell_room(picoseconds when)
{
    for (const refused_client &one : wants_room_) {
        one.client->room(when);
    }
}

bool memory_system::writes_have_room(const memory_client &client, std::size_t master, mpam_label label) const
{
    return writes_of(ports_[master], label) + waiting_before(client, write_wanted(master, label)) <
           writes_allowed_;
}

bool memory_system::has_room(const route &way, memory_client &client, mpam_label label, picoseconds now)
{
    if (!writes_have_room(client, way.master, label)) {
        wait_for_room(client, write_wanted(way.master, label));
        return false;
    }
    give_up_waiting(client, now);
    return true;
}

// Whether every level that would miss can accept one more line, after `before` others.
bool memory_system::levels_have_room(const route &way, phys_addr line, std::uint32_t before, picoseconds now)
{
    for (const std::size_t index : way.levels) {
        const level_state &level = levels_[index];
        if (level.cache.storage().contains(line)) {
            return true;
        }
        if (level.misses + before >= level.misses_allowed) {
            expire(now);
            if (level.misses + before >= level.misses_allowed) {
                return false;
            }
        }
    }
    return true;
}

memory_system::reply memory_system::fetch_if_room(const route &way, const line_request &wanted,
                                                  memory_client &client, picoseconds now)
{
    const want own_lines{wanted.master, room::lines, 0};
    const std::uint32_t before = waiting_before(client, own_lines);
    const bool lines = (full_levels_ == 0 && before == 0) || levels_have_room(way, wanted.line, before, now);
    const bool writes = writes_have_room(client, wanted.master, wanted.mpam);
    if (!lines || !writes) {
        if (!wanted.prefetch) { // a refused prefetch is not repeated
            wait_for_room(client, writes ? own_lines : write_wanted(wanted.master, wanted.mpam));
        }
        return {0, reply::state::full, reply::source::memory, false, 0};
    }
    give_up_waiting(client, now);
    return fetch_now(way, wanted, client, now);
}

void memory_system::turn_level(std::size_t index, bool on)
{
    const std::uint64_t bit = std::uint64_t{1} << index;
    levels_off_ = on ? levels_off_ & ~bit : levels_off_ | bit;
    beside_levels_ = levels_off_ != 0 || std::ranges::any_of(regions_, &region_settings::beside_levels);
}

void memory_system::maintain(std::size_t index, const route &way, phys_addr line, bool clean, bool invalidate,
                             picoseconds when)
{
    level_state &level = levels_[index];
    cache &storage = level.cache.storage();
    if (clean && storage.clean(line)) {
        ++level.counts.write_backs;
        send_write(
            {.line = line, .kind = access_kind::write, .master = static_cast<std::uint32_t>(way.master)},
            when, false);
    }
    if (invalidate) {
        storage.invalidate(line);
    }
}

// No level can have the line: there is none, or the request bypasses all of them.
memory_system::reply memory_system::fetch_beside(const route &way, const line_request &wanted,
                                                 memory_client &client, picoseconds now)
{
    const region_settings *const region = region_at(wanted.line);
    if (region != nullptr && region->beside_levels) {
        ++counts_.region_lines;
        const picoseconds there = now + picoseconds{region->latency_ps};
        return {there.value, reply::state::known, reply::source::memory, true, 0};
    }
    if (levels_off_ != 0) {
        return ask_memory({{}, way.master}, wanted, client, now, now);
    }
    return way.levels.empty() ? ask_memory(way, wanted, client, now, now)
                              : fetch_nearest(way, wanted, client, now);
}

// Handles a miss in the nearest level.
[[gnu::flatten]] memory_system::reply memory_system::fetch_below(const route &way, const line_request &wanted,
                                                                 memory_client &client, picoseconds now,
                                                                 picoseconds when)
{
    const std::uint64_t writes_before = counts_.line_writes;
    reply told{0, reply::state::known, reply::source::further_level, false, 0};
    for (std::size_t depth = 0;;) {
        level_state &level = levels_[way.levels[depth]];
        ++level.counts.misses;
        const bool passes =
            (level.cache.takes_victims() && !wanted.allocate) || level.cache.is_closed_to(wanted.requester);
        if (passes || level.cache.storage().is_partitioned()) {
            if (in_flight_near(wanted.line) != 0 && find_flight(wanted.line, way.levels[depth]) != nullptr) {
                told = join(way.levels[depth], wanted.line, client, now, when, told.asked);
                break;
            }
        }
        if (passes) {
            level.cache.storage().miss_without_fill(wanted.owner);
        } else {
            const cache::contents gone =
                level.cache.take_in(wanted.line, wanted.owner, wanted.mpam, wanted.requester);
            if (cache::is_dirty(gone) || level.cache.settings().inclusive || passes_clean(way, depth))
                [[unlikely]] {
                if (const std::optional<displaced> victim = level.cache.storage().displaced_from(gone)) {
                    give_up(way, depth, wanted, *victim, when);
                }
            }
        }
        if (++depth == way.levels.size()) {
            told = ask_memory(way, wanted, client, now, when);
            break;
        }
        const std::size_t index = way.levels[depth];
        ++levels_[index].counts.lookups;
        when = levels_[index].cache.pass(when);
        const presence found = levels_[index].cache.storage().shared_demand(wanted.line);
        if (found == presence::here) {
            ++counts_.level_hits;
            told.value = when.value;
            break;
        }
        if (found == presence::coming) {
            told = join(index, wanted.line, client, now, when, told.asked);
            break;
        }
    }
    told.writes_below = static_cast<std::uint8_t>(counts_.line_writes - writes_before);
    return told;
}

memory_system::reply memory_system::join_nearest(const route &way, const line_request &wanted,
                                                 memory_client &client, picoseconds now, picoseconds when)
{
    return join(way.levels.front(), wanted.line, client, now, when, reply::source::nearest_level);
}

// Handles a hit on a line whose data may not have arrived in the level.
memory_system::reply memory_system::join(std::size_t level, phys_addr line, memory_client &client,
                                         picoseconds now, picoseconds when, reply::source asked)
{
    flight *const coming = find_flight(line, level);
    if (coming == nullptr || coming->when <= when) {
        if (coming == nullptr || coming->when <= now) {
            levels_[level].cache.storage().remark(line, line_mark::none);
        }
        ++counts_.level_hits;
        return {when.value, reply::state::known, asked, false, 0};
    }
    ++counts_.joined;
    if (coming->when != never) {
        return {coming->when.value, reply::state::known, asked, true, 0};
    }
    coming->joined.push_back({&client, next_ticket_});
    return {next_ticket_++, reply::state::coming, asked, true, 0};
}

[[gnu::flatten]] memory_system::reply memory_system::ask_memory(const route &way, const line_request &wanted,
                                                                memory_client &client, picoseconds now,
                                                                picoseconds when)
{
    return request_line(way, wanted, client, now, ports_[wanted.master].reads.admit(when, line_bytes_));
}

// Sends to DRAM, at `when`, the requests that were admitted.
memory_system::reply memory_system::request_line(const route &way, const line_request &wanted,
                                                 memory_client &client, picoseconds now, picoseconds when)
{
    const port &own = ports_[wanted.master];
    if (const region_settings *region = region_at(wanted.line)) [[unlikely]] {
        ++counts_.region_lines;
        const picoseconds there = when + own.request + picoseconds{region->latency_ps} + own.answer;
        return {there.value, reply::state::known, reply::source::memory, true, 0};
    }
    const std::size_t index = free_flight(now);
    flight &added = flights_[index];
    added.line = wanted.line;
    ++in_flight_near(wanted.line);
    added.levels = 0;
    added.fills = 0;
    added.when = never;
    added.answer_latency = own.answer;
    added.last_part = {};
    added.parts = static_cast<std::uint32_t>(bursts_per_line_);
    added.first = {&client, next_ticket_};
    for (const std::size_t index_of_level : way.levels) {
        level_state &level = levels_[index_of_level];
        added.levels |= std::uint64_t{1} << index_of_level;
        if (!level.cache.takes_victims() || wanted.allocate) {
            added.fills |= std::uint64_t{1} << index_of_level;
        }
        full_levels_ += ++level.misses == level.misses_allowed ? 1 : 0;
    }
    const picoseconds sent = when + own.request;
    for (std::uint64_t part = 0; part < bursts_per_line_; ++part) {
        if (memory_.request(index, phys_addr{wanted.line.value + part * burst_bytes_}, access_kind::read,
                            sent, wanted.mpam)) {
            next_ = memory_.next().value_or(never);
        }
    }
    ++counts_.line_reads;
    return {next_ticket_++, reply::state::coming, reply::source::memory, true, 0};
}

// Evicts a level's victim. With inclusion, the copies in the caches above are removed; a dirty line is
// written to the next level.
void memory_system::give_up(const route &way, std::size_t depth, const line_request &cause,
                            const displaced &victim, picoseconds when)
{
    const std::size_t index = way.levels[depth];
    bool dirty = victim.dirty;
    if (levels_[index].cache.settings().inclusive) {
        for (const above &one : above_) {
            if (std::find(one.way->levels.begin(), one.way->levels.end(), index) != one.way->levels.end()) {
                dirty = one.client->drop(victim.line).has_value() || dirty;
            }
        }
    }
    line_request given =
        cause.write_of({victim.line, victim.owner, levels_[index].cache.storage().gone_label()});
    given.clean = !dirty;
    if (dirty) {
        ++levels_[index].counts.write_backs;
    }
    if (dirty || passes_clean(way, depth)) {
        descend(way, depth + 1, given, when);
    }
}

picoseconds memory_system::write_back(const route &way, const line_request &line, picoseconds when)
{
    digest_.add(when, write_back_code << 32U | line.master, line.line.value);
    return descend(way, 0, line, when);
}

memory_system::passed memory_system::write_past(const route &way, const line_request &line, picoseconds when,
                                                bool admitted)
{
    digest_.add(when, write_past_code << 32U | line.master, line.line.value);
    picoseconds on_the_way{};
    const bool passes = passes_levels(line.line);
    for (std::size_t depth = 0; !passes && depth < way.levels.size(); ++depth) {
        shared_level &level = levels_[way.levels[depth]].cache;
        const picoseconds start = level.take_port(when);
        if (level.storage().contains(line.line)) {
            level.storage().receive(line.as_written_back());
            return {.taken = start - on_the_way, .gone = start};
        }
        when = start + picoseconds{level.settings().latency_ps};
        on_the_way = on_the_way + picoseconds{level.settings().latency_ps};
    }
    const picoseconds gone = send_write(line, when, admitted);
    return {.taken = gone - on_the_way, .gone = gone};
}

// Puts a line into the level at `depth`; its victim may go to the next level.
picoseconds memory_system::descend(const route &way, std::size_t depth, const line_request &line,
                                   picoseconds when)
{
    if (depth == way.levels.size() || passes_levels(line.line)) {
        return line.clean ? when : send_write(line, when, false);
    }
    const std::size_t index = way.levels[depth];
    ++levels_[index].counts.received;
    const picoseconds start = levels_[index].cache.take_port(when);
    const std::optional<displaced> victim = levels_[index].cache.receive(line);
    if (victim && (victim->dirty || levels_[index].cache.settings().inclusive || passes_clean(way, depth)))
        [[unlikely]] {
        give_up(way, depth, line, *victim, start);
    }
    return start;
}

picoseconds memory_system::send_write(const line_request &line, picoseconds when, bool admitted)
{
    port &own = ports_[line.master];
    const picoseconds start = admitted ? when : own.writes.admit(when, line_bytes_);
    if (region_at(line.line) != nullptr) [[unlikely]] {
        ++counts_.region_lines;
        return start;
    }
    ticket id = write_ticket | line.master;
    if (!own.writes_of_partition.empty()) [[unlikely]] {
        const std::size_t partition = partition_of(own, line.mpam);
        own.writes_of_partition[partition] += static_cast<std::uint32_t>(bursts_per_line_);
        id |= ticket{partition} << partition_shift;
    }
    for (std::uint64_t part = 0; part < bursts_per_line_; ++part) {
        memory_.request(id, phys_addr{line.line.value + part * burst_bytes_}, access_kind::write,
                        start + own.request, line.mpam);
        ++own.writes_in_flight;
    }
    ++counts_.line_writes;
    next_ = memory_.next().value_or(never);
    return start;
}

void memory_system::answered(std::size_t index, picoseconds when)
{
    flight &one = flights_[index];
    one.last_part = std::max(one.last_part, when);
    if (--one.parts != 0) {
        return;
    }
    one.when = one.last_part + one.answer_latency;
    ++counts_.answered;
    digest_.add(one.when, answer_code << 32U, one.line.value);
    landings_.insert({index, one.when},
                     [](const landing &before, const landing &added) { return before.when > added.when; });
    next_landing_ = landings_.front().when;
    one.first.client->arrived(one.first.id, one.when);
    for (const waiter &waiting : one.joined) {
        waiting.client->arrived(waiting.id, one.when);
    }
    one.joined.clear();
    if (!wants_room_.empty()) {
        tell_room(one.when);
    }
}

[[gnu::flatten]] void memory_system::decide()
{
    memory_.decide([this](const dram::memory::answer &one) {
        if ((one.id & write_ticket) == 0) [[likely]] {
            answered(one.id, one.when);
            return;
        }
        port &own = ports_[static_cast<std::uint32_t>(one.id)];
        --own.writes_in_flight;
        if (!own.writes_of_partition.empty()) [[unlikely]] {
            --own.writes_of_partition[one.id >> partition_shift & 0xFFFFU];
        }
        ++counts_.bursts_written;
        if (!wants_room_.empty()) {
            tell_room(one.when);
        }
    });
    next_ = memory_.next().value_or(never);
}

} // namespace bulkhead::machine
