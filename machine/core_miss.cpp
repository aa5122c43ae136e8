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
    count_beats();
}

void core::fill_l1(phys_addr line, access_kind kind, owner_id owner, line_mark mark)
{
    const cache::contents gone = l1d_.fill_over(line, owner, kind, mark);
    if (cache::is_dirty(gone)) [[unlikely]] {
        l1_gives_up(l1d_.given_up(gone));
    }
}

void core::l1_gives_up(written_back gone)
{
    count(core_event::l1d_write_back);
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
void core::fill_private(phys_addr line, access_kind kind, owner_id owner, line_mark mark)
{
    if (l2_) {
        fill_l2(line, owner);
    }
    fill_l1(line, kind, owner, mark);
}

// What is asked of memory, and what it had to write back for that, is counted as this core's.
inline memory_system::reply core::ask(const route &way, phys_addr line, owner_id owner, bool prefetch,
                                      picoseconds now)
{
    const memory_system::reply reply = memory_.fetch(way, {line, owner, partition_, prefetch}, *this, now);
    if (reply.asked == memory_system::reply::source::nearest_level && reply.writes_below == 0) [[likely]] {
        if (!l2_) {
            count(core_event::l2d_access);
        }
        count_beats();
    } else {
        note_further(way, reply);
    }
    return reply;
}

void core::note_further(const route &way, memory_system::reply reply)
{
    using source = memory_system::reply::source;
    if (reply.how == memory_system::reply::state::full) {
        return;
    }
    if (&way == &uncached_route_) {
        count(core_event::beats); // what was asked for, no line
    } else {
        count_beats();
    }
    if (!l2_ && !way.levels.empty()) {
        count(core_event::l2d_access);
        if (reply.asked != source::nearest_level) {
            count(core_event::l2d_refill);
        }
    }
    if (reply.asked == source::memory) {
        count(core_event::bus_access);
    }
    if (reply.writes_below != 0) {
        if (!l2_) {
            count(core_event::l2d_write_back, reply.writes_below);
        }
        count(core_event::bus_access, reply.writes_below);
    }
}

// Until there is room.
memory_system::reply core::ask_again(const route &way, phys_addr line, owner_id owner)
{
    for (;;) {
        block(waiting::room, stall_cause::memory);
        const memory_system::reply reply = ask(way, line, owner, false, clock_now());
        if (reply.how != memory_system::reply::state::full) {
            return reply;
        }
    }
}

// Moves `now` on if it had to wait.
inline memory_system::reply core::fetch(const route &way, phys_addr line, owner_id owner, picoseconds &now)
{
    memory_system::reply reply = ask(way, line, owner, false, now);
    if (reply.how == memory_system::reply::state::full) [[unlikely]] {
        reply = ask_again(way, line, owner);
        now = clock_now();
    }
    return reply;
}

inline void core::begin(phys_addr line, purpose why, memory_system::reply reply)
{
    const bool known = reply.how == memory_system::reply::state::known;
    under_way_.add(why, {line, reply.id(), counts_.instructions,
                         known ? reply.when() : lines_under_way::unknown, reply.from_memory});
}

void core::wait_for_reply(memory_system::reply reply, stall_cause cause)
{
    if (reply.how == memory_system::reply::state::known) {
        wait_until(reply.when(), cause);
        return;
    }
    waits_for_ = reply.id();
    block(waiting::data, cause);
}

// Until an entry's data are there; in order afterwards.
void core::wait_for_entry(lines_under_way::entry which, stall_cause cause)
{
    if (which.when != lines_under_way::unknown) {
        wait_until(which.when, cause);
        order();
        return;
    }
    waits_for_ = which.ticket;
    block(waiting::data, cause);
}

// --- Accesses ---

// Not to the line of its set that was used last. Every way on is the last that it does, so that it saves no
// registers.
[[gnu::flatten]] void core::other_access(phys_addr address, std::uint32_t bytes, access_kind kind,
                                         bool dependent)
{
    if (!fits_line(address, bytes)) [[unlikely]] {
        slow_access(address, bytes, kind, dependent);
        return;
    }
    const std::size_t slot = l1d_.find(address);
    if (slot == cache::absent) [[likely]] {
        ordered_access(address, bytes, kind, dependent, presence::absent);
    } else {
        found_access(address, slot, kind, dependent);
    }
}

void core::found_access(phys_addr address, std::size_t slot, access_kind kind, bool dependent)
{
    const presence found = l1d_.use(address, slot, kind);
    if (found == presence::here) {
        if (dependent) {
            spend_load_use();
        }
        return;
    }
    const bool waits = kind == access_kind::read && (dependent || settings_.loads == 1);
    if (found == presence::coming && !waits) {
        coming_access(address);
        return;
    }
    ordered_access(address, 0, kind, dependent, found);
}

// It goes into the buffer that waits for the line.
void core::coming_access(phys_addr address)
{
    if (under_way_.find(line_of(address), picoseconds{clock_fs() / 1000}) == nullptr) {
        l1d_.remark(address, line_mark::none);
    }
}

[[gnu::flatten]] void core::ordered_access(phys_addr address, std::uint32_t bytes, access_kind kind,
                                           bool dependent, presence found)
{
    if (found == presence::absent) [[likely]] {
        missed_access(address, bytes, kind, dependent);
    } else {
        marked_access(address, kind, dependent, found);
    }
    finish();
}

// Over the end of a line.
void core::slow_access(phys_addr address, std::uint32_t bytes, access_kind kind, bool dependent)
{
    settle();
    const std::uint64_t end = address.value + bytes;
    for (std::uint64_t at = address.value; at < end;) {
        const std::uint64_t next = std::min(end, (at & ~line_mask_) + line_mask_ + 1);
        part_access(phys_addr{at}, static_cast<std::uint32_t>(next - at), kind, dependent);
        at = next;
    }
    finish();
}

void core::part_access(phys_addr address, std::uint32_t bytes, access_kind kind, bool dependent)
{
    const presence found = l1d_.demand_uncounted(address, kind);
    if (found == presence::absent) {
        missed_access(address, bytes, kind, dependent);
    } else if (found == presence::here) {
        clock_fs_ += dependent ? load_use_fs_ : 0;
    } else {
        marked_access(address, kind, dependent, found);
    }
}

// L1 does not have it.
void core::missed_access(phys_addr address, std::uint32_t bytes, access_kind kind, bool dependent)
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
    const phys_addr line = line_of(address);
    if (write_stream_.merging) {
        if (stream_store_or_break(address, bytes, kind)) {
            return;
        }
        if (l1d_.contains(line)) { // the line that stayed incomplete
            part_access(address, bytes, kind, dependent);
            return;
        }
    }
    const owner_id owner = frame->owner;
    if (l2_ && l2_hit(line, kind, dependent, owner)) {
        return;
    }
    const picoseconds now = order();
    if (kind == access_kind::read) {
        load(line, dependent, owner, now);
    } else if (!stream_begins(line, address, bytes, owner)) {
        store(line, owner, now);
    }
}

// L1 has a place for it, but the data may not be there yet, or nobody has wanted it before.
[[gnu::flatten]] void core::marked_access(phys_addr address, access_kind kind, bool dependent, presence how)
{
    const phys_addr line = line_of(address);
    const picoseconds now = order();
    if (how == presence::ahead) {
        want_prefetched(line, kind, ram_.find(line)->owner, now);
    }
    if (const auto *const coming = under_way_.find(line, clock_now())) {
        if (kind == access_kind::write || !(dependent || settings_.loads == 1)) {
            return;
        }
        wait_for_entry(*coming, cause_of(coming->from_memory));
    } else {
        clock_fs_ += dependent ? load_use_fs_ : 0;
    }
    l1d_.remark(line, line_mark::none);
}

// The first wish for a prefetched line: it counts as a miss from here on. Loads keep the prefetcher going,
// stores do not: what they go on with may be streamed (machine/core_stream.cpp).
void core::want_prefetched(phys_addr line, access_kind kind, owner_id owner, picoseconds now)
{
    count(core_event::l1d_refill);
    l1d_.remark(line, line_mark::coming);
    const bool write = kind == access_kind::write;
    if (write) {
        stream_follows(line);
        now = limit_stores(now);
    }
    under_way_.want(line, write ? purpose::store : purpose::load, counts_.instructions, now);
    if (!write) {
        fetch_ahead(line, owner, now);
        limit_loads(now);
    }
}

bool core::l2_hit(phys_addr line, access_kind kind, bool dependent, owner_id owner)
{
    if (!l2_->contains(line)) {
        count(core_event::l2d_access);
        count(core_event::l2d_refill);
        return false;
    }
    const picoseconds now = order(); // what L1 gives up may go as far as memory
    count(core_event::l2d_access);
    count(core_event::l1d_refill);
    l2_->hit(line, access_kind::read);
    if (under_way_.find(line, now) != nullptr) { // L1 gave its place up before it came
        fill_l1(line, kind, owner, line_mark::coming);
        marked_access(line, kind, dependent, presence::coming);
        return true;
    }
    fill_l1(line, kind, owner, line_mark::none);
    if (kind == access_kind::read) {
        wait_until(now + picoseconds{settings_.l2_latency_ps}, stall_cause::l2_hit);
    }
    return true;
}

// Its line takes its place in the caches at once. Where nothing else happens on this core before the data
// are there, it is not under way for anybody to see.
void core::load(phys_addr line, bool dependent, owner_id owner, picoseconds now)
{
    count(core_event::l1d_refill);
    const bool waits = dependent || settings_.loads == 1;
    const memory_system::reply reply = fetch(route_, line, owner, now);
    fill_private(line, access_kind::read, owner, waits ? line_mark::none : line_mark::coming);
    if (waits) {
        fetch_ahead(line, owner, now);
        wait_for_reply(reply, cause_of(reply.from_memory));
        return;
    }
    begin(line, purpose::load, reply);
    fetch_ahead(line, owner, now);
    limit_loads(now);
}

// While there are as many as there may be, nothing goes on.
void core::limit_loads(picoseconds now)
{
    while (under_way_.full(purpose::load, settings_.loads, now)) {
        const lines_under_way::entry &first = under_way_.oldest(purpose::load);
        if (first.when != lines_under_way::unknown) {
            wait_until(first.when, cause_of(first.from_memory)); // what comes next is in order again
            return;
        }
        wait_for_entry(first, cause_of(first.from_memory));
        now = clock_now();
    }
}

// Until the store buffer has room; says when that is.
picoseconds core::limit_stores(picoseconds now)
{
    while (under_way_.full(purpose::store, settings_.stores, now)) {
        wait_for_entry(under_way_.oldest(purpose::store), stall_cause::store_buffer);
        now = clock_now();
    }
    return now;
}

// A store goes on at once if the buffer has room.
[[gnu::flatten]] void core::store(phys_addr line, owner_id owner, picoseconds now)
{
    now = limit_stores(now);
    count(core_event::l1d_refill);
    const memory_system::reply reply = fetch(route_, line, owner, now);
    fill_private(line, access_kind::write, owner, line_mark::coming);
    begin(line, purpose::store, reply);
    fetch_ahead(line, owner, now);
}

// The lines that the prefetcher wants now, while there is room.
inline void core::fetch_ahead(phys_addr line, owner_id owner, picoseconds now)
{
    if (prefetcher_.enabled()) {
        if (prefetcher::stream *const one = prefetcher_.wanted(line.value >> line_bits_)) [[unlikely]] {
            fetch_stream(*one, owner, now);
        }
    }
}

[[gnu::flatten]] void core::fetch_stream(prefetcher::stream &one, owner_id owner, picoseconds now)
{
    const std::uint32_t room = lines_under_way::most - settings_.loads - settings_.stores;
    for (; const auto number = prefetcher_.next_of(one); ++one.ahead) {
        const phys_addr next{*number << line_bits_};
        const frames::frame *const frame = ram_.find(next);
        if (frame == nullptr || frame->shared || l1d_.contains(next) || (l2_ && l2_->contains(next))) {
            continue;
        }
        if (under_way_.full(purpose::prefetch, room, now)) {
            return;
        }
        const memory_system::reply reply = ask(route_, next, owner, true, now);
        if (reply.how == memory_system::reply::state::full) {
            return;
        }
        fill_private(next, access_kind::read, owner, line_mark::ahead);
        begin(next, purpose::prefetch, reply);
    }
}

// Past all caches: memory that is mapped so, what is not DRAM, devices.
void core::uncached(phys_addr address, std::uint32_t /*bytes*/, access_kind kind)
{
    picoseconds now = order();
    count(core_event::uncached);
    if (ram_.find(address) != nullptr) {
        const phys_addr line{address.value & ~line_mask_};
        if (kind == access_kind::read) {
            const memory_system::reply reply = fetch(uncached_route_, line, ram_.find(line)->owner, now);
            wait_for_reply(reply, cause_of(reply.from_memory));
        } else {
            make_room_for_writes();
            wait_until(memory_.write_past(uncached_route_, {line, {}}, clock_now()),
                       stall_cause::store_buffer);
            count(core_event::beats);
            count(core_event::bus_access);
        }
        finish();
        return;
    }
    picoseconds cost = device_;
    for (const region_settings &one : regions_) {
        if (address.value - one.base < one.size_bytes) {
            cost = picoseconds{one.latency_ps};
        }
    }
    memory_.events().add(now, uncached_code << 32U | id_.value, address.value);
    count(core_event::beats);
    wait_until(now + cost, stall_cause::device);
    finish();
}

void core::walk_read(phys_addr where, bool cached)
{
    picoseconds now = order();
    const phys_addr line{where.value & ~line_mask_};
    const frames::frame *const frame = ram_.find(line);
    if (frame == nullptr) {
        wait_until(now + device_, stall_cause::walk);
    } else if (cached && l2_ && l2_->hit(line, access_kind::read)) {
        count(core_event::l2d_access);
        wait_until(now + picoseconds{settings_.l2_latency_ps}, stall_cause::walk);
    } else {
        const memory_system::reply reply = fetch(cached ? route_ : uncached_route_, line, frame->owner, now);
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
