// SPDX-License-Identifier: Apache-2.0
// Write streaming: after stores to enough consecutive lines a core stops fetching lines that it is going to
// overwrite. It puts each line together from its stores and sends it when all bytes are there; a line that
// stays incomplete is fetched like any other.
#include "machine/core.h"

namespace bulkhead::machine {

namespace {

// The bytes [from, from + count) of a line, each bit a 64th of it.
std::uint64_t bits_of(std::uint64_t from, std::uint64_t count, std::uint64_t line_bytes)
{
    const std::uint64_t first = from * 64 / line_bytes;
    const std::uint64_t end = (from + count) * 64 / line_bytes;
    const std::uint64_t below_end = end >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << end) - 1;
    return first >= 64 ? 0 : below_end & ~((std::uint64_t{1} << first) - 1);
}

} // namespace

// An access to a line that L1 does not have, while a line is being put together. True: it was part of it.
bool core::stream_store_or_break(phys_addr address, std::uint32_t bytes, access_kind kind)
{
    settle();
    write_stream &own = write_stream_;
    const std::uint64_t number = address.value >> line_bits_;
    if (kind == access_kind::read && number != own.last) {
        return false; // loads of other lines go between
    }
    if (kind == access_kind::read || number != own.last) {
        break_stream();
        return false;
    }
    own.bytes |= bits_of(address.value & line_mask_, bytes, line_mask_ + 1);
    if (~own.bytes == 0) {
        send_stream_line();
    }
    return true;
}

// A store to a line that L1 did not have. True: enough lines before it were stored to in order.
bool core::stream_follows(phys_addr line)
{
    write_stream &own = write_stream_;
    const std::uint64_t number = line.value >> line_bits_;
    if (number != own.last) {
        own.run = number == own.last + 1 ? own.run + 1 : 0;
        own.last = number;
    }
    return own.run >= settings_.write_streaming.lines;
}

// A store that misses. True: it begins a line that will not be fetched.
bool core::stream_begins(phys_addr line, phys_addr address, std::uint32_t bytes, owner_id owner)
{
    if (settings_.write_streaming.lines == 0 || !stream_follows(line)) {
        return false;
    }
    write_stream &own = write_stream_;
    own.merging = true;
    own.bytes = 0;
    own.owner = owner;
    return stream_store_or_break(address, bytes, access_kind::write);
}

void core::send_stream_line()
{
    write_stream &own = write_stream_;
    own.merging = false;
    order();
    make_room_for_writes();
    const written_back line{phys_addr{own.last << line_bits_}, own.owner};
    if (l2_) {
        l2_->invalidate(line.line);
    }
    const std::uint32_t past = settings_.write_streaming.shared_lines;
    const std::uint64_t before = memory_.counts().line_writes;
    const picoseconds taken = past != 0 && own.run >= past ? memory_.write_past(route_, line, clock_now())
                                                           : memory_.write_back(route_, line, clock_now());
    count(core_event::l2d_access, l2_ ? 0 : 1);
    const std::uint64_t sent = memory_.counts().line_writes - before;
    count(core_event::l2d_write_back, l2_ ? 1 : sent);
    count(core_event::bus_access, sent);
    count_beats();
    wait_until(taken, stall_cause::store_buffer);
}

// The line stays incomplete: it is fetched after all, unless a prefetch has brought it meanwhile.
void core::break_stream()
{
    write_stream &own = write_stream_;
    own.merging = false;
    own.run = 0;
    const picoseconds now = order();
    const phys_addr line{own.last << line_bits_};
    if (l1d_.demand_uncounted(line, access_kind::write) == presence::absent &&
        !(l2_ && l2_hit(line, access_kind::write, false, own.owner))) {
        store(line, own.owner, now);
    }
}

} // namespace bulkhead::machine
