// SPDX-License-Identifier: Apache-2.0
// What a core does with an access that its L1 does not have: loads under way, the store buffer, prefetches,
// the private second level, and what is given up for what comes in. All that others can see happens after
// order().
#include "machine/core.h"

#include <algorithm>

namespace bulkhead::machine {

// --- What goes down and comes up ---

void core::write_back(written_back line)
{
    const std::uint64_t before = memory_.counts().line_writes;
    line.line.value &= ~shared_tag;
    memory_.write_back(route_, line, clock_now());
    const std::uint64_t sent = memory_.counts().line_writes - before;
    count(core_event::l2d_access, l2_ ? 0 : 1);
    count(core_event::l2d_write_back, l2_ ? 1 : sent);
    count(core_event::bus_access, sent);
}

void core::fill_l1(phys_addr line, access_kind kind, owner_id owner)
{
    const std::optional<displaced> victim = l1d_.fill(line, owner, kind);
    if (!victim || !victim->dirty) {
        return;
    }
    count(core_event::l1d_write_back);
    const written_back gone{victim->line, victim->owner};
    if (!l2_ || (gone.line.value & shared_tag) != 0) {
        write_back(gone);
        return;
    }
    count(core_event::l2d_access);
    if (const std::optional<displaced> next = l2_->receive(gone); next && next->dirty) {
        write_back({next->line, next->owner});
    }
}

void core::fill_l2(phys_addr line, owner_id owner)
{
    const std::optional<displaced> victim = l2_->fill(line, owner, access_kind::read);
    if (victim && victim->dirty) {
        write_back({victim->line, victim->owner});
    }
}

// Into all private caches.
void core::fill_private(phys_addr line, access_kind kind, owner_id owner)
{
    if (l2_) {
        fill_l2(line, owner);
    }
    fill_l1(line, kind, owner);
}

// The line of an entry goes into the caches, and the entry is free again.
void core::place(lines_under_way::index which)
{
    const lines_under_way::entry arrived = under_way_[which];
    under_way_.remove(which);
    fill_private(arrived.line, arrived.why == purpose::store ? access_kind::write : access_kind::read,
                 arrived.owner);
}

// Prefetched lines stay in their entries until they are wanted, so that the wish is seen.
bool core::place_arrived()
{
    const picoseconds now = clock_now();
    if (under_way_.first_arrival() > now) {
        return false;
    }
    bool any = false;
    for (auto which = under_way_.arrived(now); which != lines_under_way::none;
         which = under_way_.arrived(now)) {
        place(which);
        any = true;
    }
    return any;
}

void core::note(const route &way, const memory_system::reply &reply)
{
    if (!l2_ && !way.levels.empty()) {
        count(core_event::l2d_access);
        count(core_event::l2d_refill, reply.missed_levels != 0 ? 1 : 0);
    }
    count(core_event::bus_access, reply.missed_levels == way.levels.size() ? 1 : 0);
}

// Asks until there is room.
memory_system::reply core::fetch(const route &way, phys_addr line, owner_id owner)
{
    for (;;) {
        const std::uint64_t before = memory_.counts().line_writes;
        const memory_system::reply reply =
            memory_.fetch(way, {line, owner, partition_, false}, *this, clock_now());
        if (reply.how != memory_system::reply::state::full) {
            note(way, reply);
            if (const std::uint64_t sent = memory_.counts().line_writes - before; sent != 0) {
                count(core_event::l2d_write_back, l2_ ? 0 : sent);
                count(core_event::bus_access, sent);
            }
            return reply;
        }
        block(waiting::room, stall_cause::memory);
    }
}

void core::begin(phys_addr line, purpose why, owner_id owner, const memory_system::reply &reply)
{
    const bool known = reply.how == memory_system::reply::state::known;
    under_way_.add({line, reply.id, order_++, counts_.instructions,
                    known ? reply.when : lines_under_way::unknown, why, owner, reply.from_memory});
}

void core::wait_for_reply(const memory_system::reply &reply, stall_cause cause)
{
    if (reply.how == memory_system::reply::state::known) {
        wait_until(reply.when, cause);
        return;
    }
    waits_for_ = reply.id;
    block(waiting::data, cause);
}

// Until an entry's data are there; in order afterwards.
void core::wait_for_entry(lines_under_way::index which, stall_cause cause)
{
    const lines_under_way::entry &entry = under_way_[which];
    if (entry.when != lines_under_way::unknown) {
        wait_until(entry.when, cause);
        order();
        return;
    }
    waits_for_ = entry.ticket;
    block(waiting::data, cause);
}

// --- Accesses ---

// Not to the line of its set that was used last.
void core::other_access(phys_addr address, std::uint32_t bytes, access_kind kind, bool dependent)
{
    if (!fits_line(address, bytes) || !l1d_.hit_uncounted(address, kind)) {
        slow_access(address, bytes, kind, dependent);
    } else if (dependent) {
        spend_load_use();
    }
}

void core::slow_access(phys_addr address, std::uint32_t bytes, access_kind kind, bool dependent)
{
    settle();
    if (fits_line(address, bytes)) {
        line_access(address, bytes, kind, dependent, false);
        finish();
        return;
    }
    const std::uint64_t end = address.value + bytes;
    for (std::uint64_t at = address.value; at < end;) {
        const std::uint64_t next = std::min(end, (at & ~line_mask_) + line_mask_ + 1);
        line_access(phys_addr{at}, static_cast<std::uint32_t>(next - at), kind, dependent, true);
        at = next;
    }
    finish();
}

// `fresh`: nobody has looked in L1 yet.
void core::line_access(phys_addr address, std::uint32_t bytes, access_kind kind, bool dependent, bool fresh)
{
    const frames::frame *const frame = ram_.find(address);
    if (frame == nullptr) {
        uncached(address, bytes, kind);
        return;
    }
    if (frame->shared) {
        shared_access(address, kind, dependent, frame->owner);
        return;
    }
    if (fresh && l1d_.hit_uncounted(address, kind)) {
        clock_fs_ += dependent ? load_use_fs_ : 0;
        return;
    }
    const phys_addr line{address.value & ~line_mask_};
    if (write_stream_.merging && stream_store_or_break(address, bytes, kind)) {
        return;
    }
    const owner_id owner = frame->owner;
    if (l2_ && !is_under_way(line) && l2_hit(line, kind, owner)) {
        return;
    }
    order();
    if (place_arrived() && l1d_.hit_uncounted(address, kind)) {
        return;
    }
    if (kind == access_kind::read) {
        load(line, dependent, owner);
    } else if (!stream_begins(line, address, bytes, owner)) {
        store(line, owner);
    }
}

bool core::l2_hit(phys_addr line, access_kind kind, owner_id owner)
{
    if (!l2_->contains(line)) {
        count(core_event::l2d_access);
        count(core_event::l2d_refill);
        return false;
    }
    order(); // what L1 gives up may go as far as memory
    count(core_event::l2d_access);
    count(core_event::l1d_refill);
    l2_->hit(line, access_kind::read);
    fill_l1(line, kind, owner);
    if (kind == access_kind::read) {
        wait_until(clock_now() + picoseconds{settings_.l2_latency_ps}, stall_cause::l2_hit);
    }
    return true;
}

void core::load(phys_addr line, bool dependent, owner_id owner)
{
    const bool waits = dependent || settings_.loads == 1;
    const auto found = under_way_.find(line);
    if (found == lines_under_way::none) {
        if (waits) {
            blocking_load(line, owner);
            return;
        }
        count(core_event::l1d_refill);
        begin(line, purpose::load, owner, fetch(route_, line, owner));
    } else if (under_way_[found].why == purpose::prefetch) {
        under_way_.change(found, purpose::load, order_++, counts_.instructions);
        count(core_event::l1d_refill);
        if (under_way_[found].when <= clock_now()) {
            place(found);
            fetch_ahead(line, owner);
            return;
        }
    }
    fetch_ahead(line, owner);
    if (waits) {
        const auto which = under_way_.find(line);
        wait_for_entry(which, cause_of(under_way_[which].from_memory));
        place_arrived();
        return;
    }
    while (under_way_.count_of(purpose::load) >= settings_.loads) {
        const auto first = under_way_.oldest(purpose::load);
        const lines_under_way::entry &entry = under_way_[first];
        if (entry.when != lines_under_way::unknown) {
            // It takes its place with the next access that L1 does not have, in order as that one must be.
            wait_until(entry.when, cause_of(entry.from_memory));
            return;
        }
        wait_for_entry(first, cause_of(entry.from_memory));
        place_arrived();
    }
}

// Nothing else happens on this core before the data are there, so the line takes its place at once.
void core::blocking_load(phys_addr line, owner_id owner)
{
    count(core_event::l1d_refill);
    const memory_system::reply reply = fetch(route_, line, owner);
    fill_private(line, access_kind::read, owner);
    fetch_ahead(line, owner);
    wait_for_reply(reply, cause_of(reply.from_memory));
}

// A store goes on at once if the buffer has room. A line that is under way for another reason takes a place
// in it too, so that there are never more entries than all purposes may have.
void core::store(phys_addr line, owner_id owner)
{
    auto found = under_way_.find(line);
    if (found != lines_under_way::none && under_way_[found].why == purpose::store) {
        return;
    }
    const auto wait_for_oldest = [this] {
        wait_for_entry(under_way_.oldest(purpose::store), stall_cause::store_buffer);
        return place_arrived();
    };
    while (under_way_.count_of(purpose::store) >= settings_.stores) {
        if (wait_for_oldest() && l1d_.hit_uncounted(line, access_kind::write)) {
            return;
        }
    }
    found = under_way_.find(line);
    if (found != lines_under_way::none) {
        const lines_under_way::entry &entry = under_way_[found];
        count(core_event::l1d_refill, entry.why == purpose::prefetch ? 1 : 0);
        under_way_.change(found, purpose::store, entry.order, entry.instruction);
        while (under_way_.count_of(purpose::store) >
               settings_.stores) { // a line that was loaded first takes a place, too
            wait_for_oldest();
        }
        return;
    }
    count(core_event::l1d_refill);
    begin(line, purpose::store, owner, fetch(route_, line, owner));
    fetch_ahead(line, owner);
}

void core::fetch_ahead(phys_addr line, owner_id owner)
{
    if (!prefetcher_.enabled()) {
        return;
    }
    const std::size_t room = max_misses - settings_.loads - settings_.stores;
    prefetcher_.wanted(static_cast<std::int64_t>(line.value >> line_bits_), [&](std::int64_t number) {
        const phys_addr next{static_cast<std::uint64_t>(number) << line_bits_};
        if (l1d_.contains(next) || is_under_way(next) || (l2_ && l2_->contains(next)) ||
            ram_.find(next) == nullptr) {
            return true;
        }
        if (under_way_.count_of(purpose::prefetch) >= room) {
            const auto unused = under_way_.oldest(purpose::prefetch);
            if (under_way_[unused].when > clock_now()) {
                return false;
            }
            place(unused);
        }
        const memory_system::reply reply =
            memory_.fetch(route_, {next, owner, partition_, true}, *this, clock_now());
        if (reply.how == memory_system::reply::state::full) {
            return false;
        }
        note(route_, reply);
        begin(next, purpose::prefetch, owner, reply);
        return true;
    });
}

// Past all caches: memory that is mapped so, what is not DRAM, devices.
void core::uncached(phys_addr address, std::uint32_t /*bytes*/, access_kind kind)
{
    order();
    count(core_event::uncached);
    if (ram_.find(address) != nullptr) {
        const phys_addr line{address.value & ~line_mask_};
        if (kind == access_kind::read) {
            const memory_system::reply reply = fetch(uncached_route_, line, ram_.find(line)->owner);
            wait_for_reply(reply, cause_of(reply.from_memory));
        } else {
            make_room_for_writes();
            wait_until(memory_.write_past(uncached_route_, {line, {}}, clock_now()),
                       stall_cause::store_buffer);
        }
        count(core_event::bus_access);
        finish();
        return;
    }
    picoseconds cost = device_;
    for (const region_settings &one : regions_) {
        if (address.value - one.base < one.size_bytes) {
            cost = picoseconds{one.latency_ps};
        }
    }
    memory_.events().add(clock_now(), uncached_code << 32U | id_.value, address.value);
    wait_until(clock_now() + cost, stall_cause::device);
    finish();
}

void core::walk_read(phys_addr where, bool cached)
{
    order();
    const phys_addr line{where.value & ~line_mask_};
    const frames::frame *const frame = ram_.find(line);
    if (frame == nullptr) {
        wait_until(clock_now() + device_, stall_cause::walk);
    } else if (cached && l2_ && l2_->hit(line, access_kind::read)) {
        count(core_event::l2d_access);
        wait_until(clock_now() + picoseconds{settings_.l2_latency_ps}, stall_cause::walk);
    } else {
        const memory_system::reply reply = fetch(cached ? route_ : uncached_route_, line, frame->owner);
        if (cached && l2_) {
            count(core_event::l2d_access);
            count(core_event::l2d_refill);
            fill_l2(line, frame->owner);
        }
        wait_for_reply(reply, stall_cause::walk);
    }
    finish();
}

void core::make_room_for_writes()
{
    while (!memory_.has_room(route_, *this)) {
        block(waiting::room, stall_cause::store_buffer);
    }
}

// Inclusion: a level above which this core lies gave the line up.
std::optional<written_back> core::drop(phys_addr line)
{
    std::optional<written_back> newest;
    for (const phys_addr known : {line, phys_addr{line.value | shared_tag}}) {
        for (cache *level : {&l1d_, l2_ ? &*l2_ : nullptr}) {
            const std::optional<displaced> was = level == nullptr ? std::nullopt : level->invalidate(known);
            if (was && was->dirty) {
                newest = written_back{line, was->owner};
            }
        }
    }
    return newest;
}

void core::flush(phys_addr start, byte_count size)
{
    if (timeline_.running() == this) {
        order();
    }
    for (std::uint64_t at = start.value & ~line_mask_; at < start.value + size.value; at += line_mask_ + 1) {
        if (const std::optional<written_back> newest = drop(phys_addr{at})) {
            write_back(*newest);
        }
    }
    if (timeline_.running() == this) {
        finish();
    }
}

} // namespace bulkhead::machine
