// SPDX-License-Identifier: Apache-2.0
// All progress is made by one loop, go_on(), which is called whenever a line may have become possible.
#include "machine/devices/bus_master.h"

#include <algorithm>

namespace bulkhead::machine::devices {

bus_master::bus_master(const settings &wanted, surroundings around)
    : settings_(wanted), around_(std::move(around)), line_bytes_(around_.memory.line_bytes())
{
}

void bus_master::start(picoseconds when)
{
    go_on_at(when);
}

void bus_master::go_on()
{
    while (!translating_ && !waits_for_room_ && in_flight_ < settings_.outstanding_lines) {
        if (!piece_) {
            piece_ = around_.traffic.next(now());
            done_ = 0;
        }
        if (const picoseconds when = std::max(piece_->not_before, from_); when > now()) {
            go_on_at(when);
            return;
        }
        if (!physical_ && !translate()) {
            return;
        }
        if (!admitted_) {
            admitted_ = true;
            from_ = around_.memory.admit(around_.way, piece_->kind, now());
            if (from_ > now()) {
                go_on_at(from_);
                return;
            }
        }
        const std::uint64_t address = piece_->address + done_;
        const auto bytes = static_cast<std::uint32_t>(
            std::min<std::uint64_t>(piece_->bytes - done_, line_bytes_ - address % line_bytes_));
        if (!send(*physical_, bytes)) {
            waits_for_room_ = true; // room() continues
            return;
        }
        ++counts_.lines;
        admitted_ = false;
        physical_.reset();
        done_ += bytes;
        if (done_ == piece_->bytes) {
            piece_.reset();
        }
    }
}

// Returns false if the translation comes later.
bool bus_master::translate()
{
    const std::uint64_t address = piece_->address + done_;
    if (around_.translation == nullptr) {
        physical_ = phys_addr{address};
        return true;
    }
    physical_ = around_.translation->find(address, piece_->kind);
    if (physical_) {
        return true;
    }
    translating_ = true;
    around_.translation->resolve(address, piece_->kind, [this](std::optional<phys_addr> found) {
        translating_ = false;
        physical_ = found;
        if (!found) {
            ++counts_.faults;
            piece_.reset();
        }
        go_on();
    });
    return false;
}

// Returns false if there is no room.
bool bus_master::send(phys_addr address, std::uint32_t bytes)
{
    const line_request line{.line = phys_addr{address.value / line_bytes_ * line_bytes_},
                            .kind = piece_->kind,
                            .owner = around_.owner,
                            .master = static_cast<std::uint32_t>(around_.way.master),
                            .mpam = around_.label};
    picoseconds taken = now();
    if (piece_->kind == access_kind::read) {
        const memory_system::reply reply =
            around_.memory.fetch_past(around_.way, line, *this, now(), settings_.coherent);
        if (reply.how == memory_system::reply::state::full) {
            return false;
        }
        ++in_flight_;
        counts_.most_in_flight = std::max(counts_.most_in_flight, in_flight_);
        counts_.bytes_read += bytes;
        if (reply.how == memory_system::reply::state::known) {
            arrived(0, reply.when());
        }
    } else {
        if (!around_.memory.has_room(around_.way, *this, around_.label, now())) {
            return false;
        }
        taken = settings_.coherent ? around_.memory.write_coherent(line, bytes == line_bytes_, now())
                                   : around_.memory.write_past(around_.way, line, now(), true).gone;
        counts_.bytes_written += bytes;
    }
    // The device's own rate is kept over each line, so that its bytes never exceed it.
    const std::uint64_t paced_ps =
        settings_.rate_bytes_per_s == 0
            ? 0
            : (bytes * std::uint64_t{1'000'000'000'000} + settings_.rate_bytes_per_s - 1) /
                  settings_.rate_bytes_per_s;
    from_ = std::max({taken, now() + settings_.line, now() + picoseconds{paced_ps}});
    return true;
}

// Calls go_on() at `when`. At most one such call is scheduled: the earliest.
void bus_master::go_on_at(picoseconds when)
{
    if (going_on_ && going_on_at_ <= when) {
        return;
    }
    going_on_ = true;
    going_on_at_ = when;
    around_.timeline.at(when, [this, when] {
        if (going_on_ && going_on_at_ == when) {
            going_on_ = false;
            go_on();
        }
    });
}

// --- Memory's answers ---

void bus_master::arrived(ticket /*id*/, picoseconds when)
{
    const picoseconds hit =
        around_.translation == nullptr ? picoseconds{} : around_.translation->hit_latency();
    around_.timeline.at(when + hit, [this] {
        --in_flight_;
        go_on();
    });
}

void bus_master::room(picoseconds when)
{
    if (waits_for_room_) {
        waits_for_room_ = false;
        go_on_at(when);
    }
}

} // namespace bulkhead::machine::devices
