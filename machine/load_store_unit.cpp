// SPDX-License-Identifier: Apache-2.0
// Accesses that L1 does not serve; see the header. All effects that others can see happen after
// sequencer::order().
#include "machine/load_store_unit.h"

#include "machine/fetch_unit.h"

#include <algorithm>

namespace bulkhead::machine {

load_store_unit::load_store_unit(const core_settings &wanted, cache l1d, std::optional<cache> l2, route way,
                                 const surroundings &around, sequencer &turn, event_tallies &tallies)
    : line_mask_(wanted.l1d.line_bytes - 1), line_bits_(l1d.geometry().line_bits()),
      l1d_set_mask_(l1d.geometry().sets() - 1), settings_(wanted), around_(around), turn_(turn),
      tallies_(tallies), bus_(around.memory, *this, std::move(way), wanted.l1d.line_bytes, l2.has_value(),
                              picoseconds{wanted.transfer_ps}, turn, tallies),
      caches_(wanted, std::move(l1d), std::move(l2), bus_, tallies),
      prefetcher_(wanted.prefetcher, wanted.l1d.line_bytes),
      write_stream_(wanted.write_streaming, wanted.l1d.line_bytes, wanted.stores)
{
    used_last_ = caches_.l1d().used_last();
    around_.memory.attach(*this, bus_.way());
    around_.snooped.push_back(this);
}

void load_store_unit::arrived(ticket id, picoseconds when)
{
    mshrs_.arrives(id, when);
    turn_.arrived(id, when);
}

// --- Misses in flight ---

inline void load_store_unit::begin(phys_addr line, purpose why, memory_system::reply reply)
{
    const bool known = reply.how == memory_system::reply::state::known;
    mshrs_.add(why, {line, reply.id(), turn_.clock().instructions(),
                     known ? reply.when() : mshr_file::unknown, reply.from_memory});
}

void load_store_unit::wait_for_reply(memory_system::reply reply, stall_cause cause)
{
    if (reply.how == memory_system::reply::state::known) {
        turn_.wait_until(reply.when(), cause);
    } else {
        turn_.wait_for_data(reply.id(), cause);
    }
}

// Waits until an entry's data have arrived; from then on accesses are in order.
void load_store_unit::wait_for_entry(mshr_file::entry which, stall_cause cause)
{
    if (which.when != mshr_file::unknown) {
        turn_.wait_until(which.when, cause);
        turn_.order();
    } else {
        turn_.wait_for_data(which.ticket, cause);
    }
}

// Stalls while the largest number of loads is outstanding.
void load_store_unit::limit_loads(picoseconds now)
{
    while (mshrs_.full(purpose::load, settings_.loads, now)) {
        const mshr_file::entry &first = mshrs_.oldest(purpose::load);
        if (first.when != mshr_file::unknown) {
            turn_.wait_until(first.when, cause_of(first.from_memory)); // the next access is in order again
            return;
        }
        wait_for_entry(first, cause_of(first.from_memory));
        now = turn_.settled();
    }
}

// Waits until the store buffer has room; returns the time.
picoseconds load_store_unit::limit_stores(picoseconds now)
{
    while (mshrs_.full(purpose::store, settings_.stores, now)) {
        wait_for_entry(mshrs_.oldest(purpose::store), stall_cause::store_buffer);
        now = turn_.settled();
    }
    return now;
}

// Waits until one more line of any kind may be requested; returns the time.
picoseconds load_store_unit::limit_reads(picoseconds now)
{
    while (settings_.reads != 0 && mshrs_.full(settings_.reads, now)) {
        const mshr_file::entry first = mshrs_.first();
        wait_for_entry(first, cause_of(first.from_memory));
        now = turn_.settled();
    }
    return now;
}

void load_store_unit::hold_window()
{
    while (settings_.window_instructions != 0 && mshrs_.any(purpose::load, turn_.settled())) {
        if (turn_.clock().instructions() <=
            mshrs_.oldest(purpose::load).instruction + settings_.window_instructions) {
            break;
        }
        turn_.order();
        wait_for_entry(mshrs_.oldest(purpose::load), stall_cause::memory);
    }
}

// --- Accesses ---

// An access across the end of a line.
void load_store_unit::split(access what)
{
    turn_.clock().settle();
    const std::uint64_t end = what.address.value + what.bytes;
    for (std::uint64_t at = what.address.value; at < end;) {
        const std::uint64_t next = std::min(end, (at & ~line_mask_) + line_mask_ + 1);
        part({phys_addr{at}, static_cast<std::uint32_t>(next - at), what.kind, what.dependent});
        at = next;
    }
}

// Part of an access that lies within a line and is made in order.
void load_store_unit::part(access what)
{
    const presence found = caches_.l1d().demand_uncounted(what.address, what.kind);
    if (found == presence::absent) {
        miss(what);
    } else if (found == presence::here) {
        if (what.dependent) {
            turn_.clock().add_load_use();
        }
    } else {
        marked(what, found);
    }
}

// L1 does not have the line.
void load_store_unit::miss(access what)
{
    const frames::frame *const frame = around_.ram.find(what.address);
    if (frame == nullptr) {
        uncached(what);
        return;
    }
    if (frame->shared) {
        shared(what, frame->owner);
        return;
    }
    const phys_addr line = line_of(what.address);
    if (write_stream_.merges() && merged(what)) {
        return;
    }
    const owner_id owner = frame->owner;
    if (what.kind == access_kind::write && write_stream_.streaming()) {
        begin_merging(what, owner);
        return;
    }
    if (caches_.l2() != nullptr && l2_hit(line, what, owner)) {
        return;
    }
    const picoseconds now = turn_.order();
    if (what.kind == access_kind::read) {
        load(line, waits(what), owner, now);
    } else {
        store(line, owner, now);
        if (write_stream_.enabled()) {
            follow_fill(what, owner);
        }
    }
}

// L1 has a place for the line, but the data may not have arrived, or the line was prefetched and not used
// yet. An access that need not wait for an outstanding line merges into its MSHR.
load_store_unit::service load_store_unit::serve_marked(access what, presence how)
{
    if (how == presence::coming && !waits(what)) {
        const bool in_flight = mshrs_.find(line_of(what.address), turn_.clock().begun()) != nullptr;
        if (!in_flight) {
            caches_.l1d().remark(what.address, line_mark::none);
        }
        if (what.kind == access_kind::write && write_stream_.any()) {
            write_in_flight(what, in_flight);
        }
        return service::merged;
    }
    marked(what, how);
    return service::ordered;
}

[[gnu::flatten]] void load_store_unit::marked(access what, presence how)
{
    const phys_addr line = line_of(what.address);
    const picoseconds now = turn_.order();
    if (how == presence::ahead) {
        const owner_id owner = around_.ram.find(line)->owner;
        want_prefetched(line, what.kind, owner, now);
        if (what.kind == access_kind::write && write_stream_.enabled()) {
            follow_fill(what, owner);
        }
    }
    if (const auto *const coming = mshrs_.find(line, turn_.settled())) {
        if (!waits(what)) {
            return;
        }
        wait_for_entry(*coming, cause_of(coming->from_memory));
    } else if (what.dependent) {
        turn_.clock().add_load_use();
    }
    caches_.l1d().remark(line, line_mark::none);
}

// The first demand access to a prefetched line: from here on it counts as a miss. Loads keep the prefetcher
// going. Stores do not: the lines that follow may be streamed.
void load_store_unit::want_prefetched(phys_addr line, access_kind kind, owner_id owner, picoseconds now)
{
    tallies_.count(core_event::l1d_refill);
    caches_.l1d().remark(line, line_mark::coming);
    const bool write = kind == access_kind::write;
    if (write) {
        now = limit_stores(now);
    }
    mshrs_.want(line, write ? purpose::store : purpose::load, turn_.clock().instructions(), now);
    if (!write) {
        fetch_ahead(line, owner, now);
        limit_loads(now);
    }
}

bool load_store_unit::l2_hit(phys_addr line, access what, owner_id owner)
{
    cache &l2 = *caches_.l2();
    if (!l2.contains(line)) {
        tallies_.count(core_event::l2d_access);
        tallies_.count(core_event::l2d_refill);
        return false;
    }
    const picoseconds now = turn_.order(); // an eviction from L1 may write to memory
    tallies_.count(core_event::l2d_access);
    tallies_.count(core_event::l1d_refill);
    l2.hit(line, access_kind::read);
    if (mshrs_.find(line, now) != nullptr) { // L1 evicted it before it arrived
        caches_.fill_l1(line, what.kind, owner, line_mark::coming);
        marked(what, presence::coming);
        return true;
    }
    caches_.fill_l1(line, what.kind, owner, line_mark::none);
    if (what.kind == access_kind::read) {
        turn_.wait_until(now + picoseconds{settings_.l2_latency_ps}, stall_cause::l2_hit);
    }
    return true;
}

// The line takes its place in the caches at once. If this core does nothing else before the data arrive
// (`alone`), no entry in flight is needed.
void load_store_unit::load(phys_addr line, bool alone, owner_id owner, picoseconds now)
{
    tallies_.count(core_event::l1d_refill);
    now = limit_reads(now);
    const memory_system::reply reply = bus_.fetch(line, owner, now);
    caches_.fill(line, access_kind::read, owner, alone ? line_mark::none : line_mark::coming);
    if (alone) {
        fetch_ahead(line, owner, now);
        wait_for_reply(reply, cause_of(reply.from_memory));
        return;
    }
    begin(line, purpose::load, reply);
    fetch_ahead(line, owner, now);
    limit_loads(now);
}

// A store completes at once if the buffer has room.
[[gnu::flatten]] void load_store_unit::store(phys_addr line, owner_id owner, picoseconds now)
{
    now = limit_reads(limit_stores(now));
    tallies_.count(core_event::l1d_refill);
    const memory_system::reply reply = bus_.fetch(line, owner, now);
    caches_.fill(line, access_kind::write, owner, line_mark::coming);
    begin(line, purpose::store, reply);
    fetch_ahead(line, owner, now);
}

// --- Prefetches ---

// Fetches the lines that the prefetcher wants now, while there is room.
inline void load_store_unit::fetch_ahead(phys_addr line, owner_id owner, picoseconds now)
{
    if (prefetcher_.enabled()) {
        if (prefetcher::stream *const one = prefetcher_.wanted(line.value >> line_bits_)) [[unlikely]] {
            fetch_stream(*one, owner, now);
        }
    }
}

[[gnu::flatten]] void load_store_unit::fetch_stream(prefetcher::stream &one, owner_id owner, picoseconds now)
{
    const std::uint32_t most = mshr_file::most - settings_.loads - settings_.stores;
    const std::uint32_t room =
        settings_.prefetcher.outstanding != 0 ? std::min(most, settings_.prefetcher.outstanding) : most;
    for (; const auto number = prefetcher_.next_of(one); ++one.ahead) {
        const phys_addr next{*number << line_bits_};
        const frames::frame *const frame = around_.ram.find(next);
        if (frame == nullptr || frame->shared || caches_.contains(next)) {
            continue;
        }
        if (mshrs_.full(purpose::prefetch, room, now) ||
            (settings_.reads != 0 && mshrs_.full(settings_.reads, now))) {
            return;
        }
        const memory_system::reply reply = bus_.ask(next, owner, true, now);
        if (reply.how == memory_system::reply::state::full) {
            return;
        }
        caches_.fill(next, access_kind::read, owner, line_mark::ahead);
        begin(next, purpose::prefetch, reply);
    }
}

// --- Write streaming ---

// An access to a line that L1 does not have while write streaming merges lines. Returns true if the line is
// one of those. A load of such a line ends the streaming: the line is fetched.
bool load_store_unit::merged(access what)
{
    write_stream::line *const own = write_stream_.find(what.address.value >> line_bits_);
    if (own == nullptr || own->fetched) {
        return false;
    }
    turn_.clock().settle();
    if (what.kind == access_kind::write) {
        merge(*own, what);
    } else {
        fetch_merging(*own);
        part(what);
    }
    return true;
}

// A store that misses while stores do not allocate. If there is no room for one more line, the oldest
// incomplete line is fetched, which ends the streaming.
void load_store_unit::begin_merging(access what, owner_id owner)
{
    turn_.clock().settle();
    if (!write_stream_.may_merge()) {
        fetch_merging(write_stream_.oldest_merging());
        part(what);
        return;
    }
    merge(write_stream_.begin(what.address.value >> line_bits_, owner, false, bus_.label()), what);
}

// A store to a line that is being merged. A complete line is sent.
void load_store_unit::merge(write_stream::line &own, access what)
{
    write_stream_.store(own, what.address.value & line_mask_, what.bytes);
    if (!own.whole()) {
        return;
    }
    const written_back line{phys_addr{own.number << line_bits_}, own.owner, own.mpam};
    write_stream_.complete(own);
    turn_.order();
    bus_.wait_for_write_room();
    if (caches_.l2() != nullptr) {
        caches_.l2()->invalidate(line.line);
    }
    turn_.wait_until(bus_.write_streamed(line, write_stream_.passes_levels()), stall_cause::store_buffer);
}

// A line stays incomplete: it is fetched, unless a prefetch has brought it meanwhile.
void load_store_unit::fetch_merging(write_stream::line own)
{
    write_stream_.broken(*write_stream_.find(own.number));
    const picoseconds now = turn_.order();
    const access first{phys_addr{own.number << line_bits_}, 1, access_kind::write, false};
    if (caches_.l1d().demand_uncounted(first.address, access_kind::write) == presence::absent &&
        !(caches_.l2() != nullptr && l2_hit(first.address, first, own.owner))) {
        store(first.address, own.owner, now);
    }
}

// A fill has begun for a line that stores may write as a whole before it arrives. Lines whose fills have
// arrived meanwhile were not written as a whole.
void load_store_unit::follow_fill(access what, owner_id owner)
{
    const picoseconds now = turn_.settled();
    write_stream_.sweep([this, now](std::uint64_t number) {
        return mshrs_.find(phys_addr{number << line_bits_}, now) != nullptr;
    });
    const std::uint64_t number = what.address.value >> line_bits_;
    if (write_stream_.find(number) == nullptr) {
        write_stream_.begin(number, owner, true);
    }
    write_in_flight(what, mshrs_.find(line_of(what.address), now) != nullptr);
}

// A store to a line that has a place in L1, and whose data may not have arrived.
void load_store_unit::write_in_flight(access what, bool in_flight)
{
    write_stream::line *const own = write_stream_.find(what.address.value >> line_bits_);
    if (own == nullptr || !own->fetched) {
        return;
    }
    if (!in_flight) {
        write_stream_.broken(*own);
        return;
    }
    write_stream_.store(*own, what.address.value & line_mask_, what.bytes);
    if (own->whole()) {
        write_stream_.complete(*own);
    }
}

// --- Requests by other cores ---

std::optional<written_back> load_store_unit::drop(phys_addr line)
{
    if (fetches_ != nullptr) {
        fetches_->drop(line);
    }
    return caches_.drop(line);
}

void load_store_unit::maintain(phys_addr line, bool clean, bool invalidate)
{
    line = line_of(line);
    const frames::frame *const frame = around_.ram.find(line);
    if (frame == nullptr) {
        return;
    }
    const bool dirty = invalidate ? caches_.drop(line).has_value() : caches_.clean(line);
    if (clean && dirty) {
        bus_.write_back({line, frame->owner});
    }
}

void load_store_unit::flush(phys_addr start, byte_count size)
{
    if (turn_.runs()) {
        turn_.order();
    }
    for (std::uint64_t at = start.value & ~line_mask_; at < start.value + size.value; at += line_mask_ + 1) {
        if (const std::optional<written_back> newest = caches_.drop(phys_addr{at})) {
            bus_.write_back(*newest);
        }
    }
}

} // namespace bulkhead::machine
