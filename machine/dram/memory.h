// SPDX-License-Identifier: Apache-2.0
// A memory controller with its DRAM as the rest of the machine sees it: requests by physical address in,
// answers in picoseconds out, and the profiling counters that software can read. One object for all channels.
#pragma once

#include <optional>

#include "machine/dram/bandwidth_control.h"
#include "machine/dram/mapping.h"
#include "machine/dram/request_log.h"
#include "machine/dram/scheduler.h"
#include "machine/time.h"

namespace bulkhead::machine::dram {

struct memory_settings {
    organization shape;
    mapping_bits map;
    phys_addr base;
    timing timings;
    policy how;
    picoseconds request_latency; // from the controller's port to its queue
    picoseconds answer_latency;  // from the last data to the port
};

// As a controller's profiling registers have them, summed over channels.
struct memory_profile {
    std::uint64_t cycles = 0;      // of the command clock
    std::uint64_t busy_cycles = 0; // any request pending in any channel; the mean over channels
    byte_count read;               // moved over the data bus
    byte_count written;
    [[nodiscard]] double utilization() const
    {
        return cycles == 0 ? 0 : static_cast<double>(busy_cycles) / static_cast<double>(cycles);
    }
};

class memory {
public:
    using request_id = scheduler::request_id;
    struct answer {
        request_id id;
        picoseconds when;
        bool write;
    };

    // Refuses what organization, timing, policy and mapping refuse. `log`: commands of channel 0.
    static result<memory> make(const memory_settings &settings, std::vector<issued> *log = nullptr);

    // A line is wanted, or given back; at `when`, which is not before a time that advance() was given.
    // Requests may come in any order of time.
    // `label`: MPAM's, for the bandwidth control. Says whether next() has changed.
    bool request(request_id id, phys_addr address, access_kind kind, picoseconds when, mpam_label label = {});

    // Each outlives the memory or is taken away again by a null pointer; the first while nothing is pending.
    void set_bandwidth_control(bandwidth_control *control);
    void set_request_log(request_log *requests) { requests_ = requests; }

    // Lets everything happen that is due before `until`; `answered(answer)` is called for each answer, in no
    // particular order. It asks nothing of this memory.
    template <class Answered> void advance(picoseconds until, Answered &&answered)
    {
        advance_to(clock_.edge_at(until), answered);
    }
    // The same for what is due at next(); something is.
    template <class Answered> void decide(Answered &&answered) { advance_to(next_ + 1, answered); }

    // No answer that is not known yet comes before it if no request comes; until then nobody needs to call
    // advance(). Nothing pending: none.
    [[nodiscard]] std::optional<picoseconds> next() const
    {
        return next_ == scheduler::never ? std::nullopt : std::optional(clock_.time_of(next_));
    }

    // What was done by `now`, which nothing may precede any more. All that is due by then is decided, so that
    // no request counts as pending that has gone; who gets its answer still hears of it at next().
    [[nodiscard]] memory_profile profile(picoseconds now);
    // Lets requests arrive and go by `now`, for who looks at what a bandwidth control counted.
    void settle(picoseconds now);
    [[nodiscard]] std::size_t channels() const { return ports_.size(); }
    // Bytes per second that the data bus can carry.
    [[nodiscard]] double peak_bytes_per_s() const;

private:
    // On its way to the controller's queue.
    struct incoming {
        request_id id;
        std::uint64_t at; // packed by the mapping
        clocks when;
        bool write;
        mpam_label label;
    };
    // A channel and what is on its way to it, in order of time.
    struct port {
        scheduler channel;
        ring<incoming> inbox{};
        clocks arrival = scheduler::never; // of the first in the inbox
        std::uint32_t writes = 0;          // in the inbox
    };

    memory(const memory_settings &settings, mapping map, std::vector<issued> *log);
    clocks advance(port &own, clocks until);
    void take_in(port &own, const incoming &one);
    [[gnu::noinline]] bool put_off(port &own, const incoming &one);

    // No answer that what is on its way brings about is before it. A write is answered when it comes.
    static clocks answered_after(const port &own, clocks arrival)
    {
        return own.channel.completes_after(arrival, own.writes != 0);
    }

    template <class Answered> void advance_to(clocks until, Answered &answered)
    {
        next_ = scheduler::never;
        if (requests_ != nullptr) [[unlikely]] {
            requests_->advance(until);
        }
        for (port &one : ports_) {
            next_ = std::min(next_, advance(one, until));
            for (const scheduler::completion &done : one.channel.completions()) {
                const picoseconds when = clock_.time_of(done.when);
                answered(answer{done.id, done.write ? when : when + settings_.answer_latency, done.write});
            }
            one.channel.forget_completions();
        }
    }

    memory_settings settings_;
    clock_domain clock_;
    mapping map_;
    std::vector<port> ports_;
    clocks next_ = scheduler::never; // no answer that is not known is before it
    bandwidth_control *control_ = nullptr;
    request_log *requests_ = nullptr;
};

} // namespace bulkhead::machine::dram
