// SPDX-License-Identifier: Apache-2.0
// The controller's outside; see the header. Converts and distributes, decides nothing.
#include "machine/dram/memory.h"

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

bool memory::request(request_id id, phys_addr address, access_kind kind, picoseconds when,
                     std::uint16_t partition)
{
    if (control_ != nullptr) [[unlikely]] {
        when = control_->admit(partition, kind, settings_.shape.of().burst, when);
    }
    const std::uint64_t at = map_.packed(address);
    const clocks arrival = clock_.edge_at(when + settings_.request_latency);
    port &own = ports_[mapping::channel_of(at)];
    own.inbox.insert({id, at, arrival, kind == access_kind::write},
                     [](const incoming &one, const incoming &added) { return one.when > added.when; });
    own.arrival = std::min(own.arrival, arrival);
    own.writes += kind == access_kind::write ? 1 : 0;
    if (requests_ != nullptr) [[unlikely]] {
        requests_->add(address.value, kind == access_kind::write, arrival);
    }
    const clocks seen = answered_after(own, arrival);
    const bool sooner = seen < next_;
    next_ = sooner ? seen : next_;
    return sooner;
}

// Arrivals and decisions in order of time; at the same clock a request arrives before the decision. Returns
// a clock before which nothing is answered that is not known.
clocks memory::advance(port &own, clocks until)
{
    scheduler &channel = own.channel;
    while (own.arrival < until) {
        const incoming next = own.inbox.front();
        own.inbox.pop_front();
        own.arrival = own.inbox.empty() ? scheduler::never : own.inbox.front().when;
        own.writes -= next.write ? 1 : 0;
        channel.advance(next.when);
        channel.request(next.id, mapping::unpack(next.at), next.write, next.when);
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

double memory::peak_bytes_per_s() const
{
    const double burst_s = static_cast<double>(settings_.timings.burst) *
                           static_cast<double>(settings_.timings.period_fs) * 1e-15;
    return static_cast<double>(settings_.shape.of().burst.value * ports_.size()) / burst_s;
}

} // namespace bulkhead::machine::dram
