// SPDX-License-Identifier: Apache-2.0
// See the header. The order of commands and of buffers is drawn from the seed alone.
#include "machine/devices/bus_traffic.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace bulkhead::machine::devices {

// --- Disk ---

disk_traffic::disk_traffic(const settings &wanted) : settings_(wanted), random_(wanted.seed)
{
    for (std::uint32_t i = 0; i < settings_.queue_depth; ++i) {
        queue_.push_back(new_command());
    }
}

disk_traffic::command disk_traffic::new_command()
{
    const auto places = static_cast<std::uint32_t>(settings_.memory_bytes / settings_.command_bytes);
    return {settings_.base + random_.below(places) * settings_.command_bytes, settings_.command_bytes};
}

traffic_piece disk_traffic::next(picoseconds now)
{
    command &one = queue_[turn_];
    turn_ = (turn_ + 1) % queue_.size();
    const traffic_piece piece{one.at, static_cast<std::uint32_t>(page_bytes), settings_.kind, now};
    one.at += page_bytes;
    one.left -= page_bytes;
    if (one.left == 0) {
        one = new_command();
    }
    return piece;
}

// --- Network ---

network_traffic::network_traffic(const settings &wanted) : settings_(wanted), order_(wanted.buffer_count)
{
    std::iota(order_.begin(), order_.end(), 0U);
    random_source random(wanted.seed);
    for (std::uint32_t left = wanted.buffer_count; left > 1; --left) {
        std::swap(order_[left - 1], order_[random.below(left)]);
    }
}

traffic_piece network_traffic::next(picoseconds now)
{
    const std::uint64_t descriptor = settings_.ring + at_ * descriptor_bytes;
    switch (step_) {
    case step::payload:
        step_ = step::write_back;
        return {settings_.buffers + order_[at_] * page_bytes, settings_.packet_bytes, access_kind::write,
                now};
    case step::write_back:
        step_ = step::fetch;
        at_ = (at_ + 1) % order_.size();
        return {descriptor, descriptor_bytes, access_kind::write, now};
    case step::fetch:
        break;
    }
    step_ = step::payload;
    const std::uint64_t interval_ps =
        settings_.packet_bytes * std::uint64_t{1'000'000'000'000} / settings_.line_rate_bytes_per_s;
    // As many packets wait as there are buffers; those that came before them are lost.
    const std::uint64_t come = now.value / interval_ps;
    if (come > arrivals_ + order_.size()) {
        dropped_ += come - order_.size() - arrivals_;
        arrivals_ = come - order_.size();
    }
    ++arrivals_;
    return {descriptor, descriptor_bytes, access_kind::read, {arrivals_ * interval_ps}};
}

} // namespace bulkhead::machine::devices
