// SPDX-License-Identifier: Apache-2.0
// Accesses of the load/store unit that bypass L1: uncached memory, memory that is not DRAM, devices, and the
// reads of the table walker.
#include "machine/load_store_unit.h"

namespace bulkhead::machine {

picoseconds load_store_unit::cost_of(phys_addr address) const
{
    picoseconds cost = around_.device;
    for (const region_settings &one : around_.regions) {
        if (address.value - one.base < one.size_bytes) {
            cost = picoseconds{one.latency_ps};
        }
    }
    return cost;
}

void load_store_unit::uncached(access what)
{
    picoseconds now = turn_.order();
    tallies_.count(core_event::uncached);
    const phys_addr line = line_of(what.address);
    const frames::frame *const frame = around_.ram.find(what.address);
    if (frame == nullptr) {
        around_.memory.events().add(now, uncached_code << 32U | turn_.id().value, what.address.value);
        tallies_.count(core_event::beats);
        turn_.wait_until(now + cost_of(what.address), stall_cause::device);
    } else if (what.kind == access_kind::read) {
        const memory_system::reply reply = bus_.fetch_uncached(line, frame->owner, now);
        wait_for_reply(reply, cause_of(reply.from_memory));
    } else {
        bus_.wait_for_write_room();
        turn_.wait_until(bus_.write_uncached(line), stall_cause::store_buffer);
    }
}

// Cacheable tables that other cores write are read from the shared level, where all cores see the same
// contents.
void load_store_unit::walk_read(phys_addr where, walk_path from)
{
    const phys_addr line = line_of(where);
    const frames::frame *const frame = around_.ram.find(line);
    const owner_id owner =
        frame != nullptr ? frame->owner : owner_id{}; // it may change while other cores run
    const bool in_l1 = from == walk_path::l1 && frame != nullptr && !frame->shared;
    if (in_l1) {
        const presence found = caches_.l1d().demand_uncounted(where, access_kind::read);
        if (found == presence::here) {
            tallies_.count(core_event::walk_hit);
            turn_.stall_cycles(settings_.load_use_cycles, stall_cause::walk);
            turn_.catch_up();
            return;
        }
        if (found != presence::absent) {
            marked({where, sizeof(std::uint64_t), access_kind::read, true}, found);
            return;
        }
    }
    picoseconds now = turn_.order();
    const auto fill_l1 = [&] {
        if (in_l1) {
            tallies_.count(core_event::l1d_refill);
            caches_.fill_l1(line, access_kind::read, owner, line_mark::none);
        }
    };
    const bool cached = from != walk_path::memory;
    cache *const l2 = cached ? caches_.l2() : nullptr;
    if (frame == nullptr) {
        turn_.wait_until(now + around_.device, stall_cause::walk);
    } else if (l2 != nullptr && l2->hit(line, access_kind::read)) {
        tallies_.count(core_event::l2d_access);
        tallies_.count(core_event::walk_hit);
        fill_l1();
        turn_.wait_until(now + picoseconds{settings_.l2_latency_ps}, stall_cause::walk);
    } else {
        const memory_system::reply reply =
            cached ? bus_.fetch_allocating(line, owner, false, now) : bus_.fetch_uncached(line, owner, now);
        if (l2 != nullptr) {
            tallies_.count(core_event::l2d_access);
            tallies_.count(core_event::l2d_refill);
            caches_.fill_l2(line, owner);
        }
        if (cached && !reply.from_memory) {
            tallies_.count(core_event::walk_hit);
        }
        fill_l1();
        wait_for_reply(reply, stall_cause::walk);
    }
}

} // namespace bulkhead::machine
