// SPDX-License-Identifier: Apache-2.0
// The interface of the controller; see the header. It converts and distributes requests and decides nothing.
#include "machine/dram/memory.h"

#include "machine/dram/partition_turns.h"

namespace bulkhead::machine::dram {

result<memory> memory::make(const memory_settings &settings, std::vector<issued> *log)
{
    for (const std::string &reason : {settings.timings.contradiction(), settings.how.contradiction()}) {
        if (!reason.empty()) {
            return refusal{reason};
        }
    }
    result<mapping> map = mapping::make(settings.shape, settings.map, settings.base);
    if (const auto *refused = std::get_if<refusal>(&map)) {
        return *refused;
    }
    return memory{settings, std::get<mapping>(std::move(map)), log};
}

memory::memory(const memory_settings &settings, mapping map, std::vector<issued> *log)
    : settings_(settings), clock_(settings.timings.period_fs), map_(std::move(map))
{
    for (std::uint32_t i = 0; i < settings.shape.of().channels; ++i) {
        ports_.push_back({scheduler(settings.shape, settings.timings, settings.how, i == 0 ? log : nullptr)});
    }
}

bool memory::request(request_id id, phys_addr address, access_kind kind, picoseconds when, mpam_label label)
{
    const std::uint64_t at = map_.packed(address);
    const clocks arrival = clock_.edge_at(when + settings_.request_latency);
    port &own = ports_[mapping::channel_of(at)];
    take_in(own, {id, at, arrival, kind == access_kind::write, label});
    if (requests_ != nullptr) [[unlikely]] {
        requests_->add(address.value, kind == access_kind::write, arrival);
    }
    const clocks seen = answered_after(own, arrival);
    const bool sooner = seen < next_;
    next_ = sooner ? seen : next_;
    return sooner;
}

inline void memory::take_in(port &own, const incoming &one)
{
    own.inbox.insert(one,
                     [](const incoming &before, const incoming &added) { return before.when > added.when; });
    own.arrival = std::min(own.arrival, one.when);
    own.writes += one.write ? 1 : 0;
}

// Returns whether the bandwidth control delays an arrival; if so, the request arrives again later.
bool memory::put_off(port &own, const incoming &one)
{
    const bandwidth_control::request what{static_cast<std::size_t>(&own - ports_.data()), one.label,
                                          one.write ? access_kind::write : access_kind::read,
                                          settings_.shape.of().burst};
    const picoseconds when = clock_.time_of(one.when);
    const picoseconds enters = control_->admit(what, when);
    if (enters <= when) {
        control_->entered(what, when);
        return false;
    }
    incoming again = one;
    again.when = std::max(one.when + 1, clock_.edge_at(enters));
    take_in(own, again);
    return true;
}

void memory::set_bandwidth_control(bandwidth_control *control)
{
    control_ = control;
    for (std::size_t i = 0; i < ports_.size(); ++i) {
        if (control == nullptr) {
            ports_[i].channel.set_turns(make_turn_policy(settings_.how));
        } else {
            ports_[i].channel.set_turns(std::make_unique<partition_turns>(
                settings_.how, settings_.timings, *control, i, settings_.shape.of().burst));
        }
    }
}

// Handles arrivals and decisions in order of time; at the same clock an arrival precedes the decision.
// Returns a clock before which no further answer can come.
clocks memory::advance(port &own, clocks until)
{
    scheduler &channel = own.channel;
    while (own.arrival < until) {
        const incoming next = own.inbox.front();
        own.inbox.pop_front();
        own.arrival = own.inbox.empty() ? scheduler::never : own.inbox.front().when;
        own.writes -= next.write ? 1 : 0;
        channel.advance(next.when);
        if (control_ != nullptr && put_off(own, next)) [[unlikely]] {
            continue;
        }
        channel.request(next.id, mapping::unpack(next.at), next.write, next.when, next.label.partition);
    }
    channel.advance(until);
    const clocks known = channel.completes_after();
    return own.inbox.empty() ? known : std::min(known, answered_after(own, own.arrival));
}

memory_profile memory::profile(picoseconds now)
{
    const clocks edge = clock_.edge_at(now);
    const std::uint64_t burst = settings_.shape.of().burst.value;
    memory_profile sum;
    sum.cycles = edge;
    for (port &one : ports_) {
        (void)advance(one, edge);
        const scheduler_statistics counts = one.channel.statistics(edge);
        sum.busy_cycles += counts.busy / ports_.size();
        sum.read.value += burst * counts.of(command::read);
        sum.written.value += burst * counts.of(command::write);
    }
    return sum;
}

void memory::settle(picoseconds now)
{
    for (port &one : ports_) {
        (void)advance(one, clock_.edge_at(now));
    }
}

double memory::peak_bytes_per_s() const
{
    const double burst_s = static_cast<double>(settings_.timings.burst) *
                           static_cast<double>(settings_.timings.period_fs) * 1e-15;
    return static_cast<double>(settings_.shape.of().burst.value * ports_.size()) / burst_s;
}

} // namespace bulkhead::machine::dram
