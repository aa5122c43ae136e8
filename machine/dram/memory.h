// SPDX-License-Identifier: Apache-2.0
// A memory controller with its DRAM, as the rest of the machine uses it: it takes requests by physical
// address, returns answers in picoseconds, and has the profiling counters that software can read. One object
// for all channels.
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
    picoseconds answer_latency;  // from the last data of a burst to the port
};

// Counts of a controller's profiling registers, summed over channels.
struct memory_profile {
    std::uint64_t cycles = 0;      // cycles of the command clock
    std::uint64_t busy_cycles = 0; // cycles with a pending request in a channel; mean over the channels
    byte_count read;               // bytes moved over the data bus
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

    // Refuses what organization, timing, policy and mapping refuse. `log`: receives the commands of channel
    // 0.
    static result<memory> make(const memory_settings &settings, std::vector<issued> *log = nullptr);

    // Requests a line, or writes one back, at `when`, which must not be before a time given to advance().
    // Requests may come in any order of time. `label`: MPAM label for the bandwidth control. Returns whether
    // next() has changed.
    bool request(request_id id, phys_addr address, access_kind kind, picoseconds when, mpam_label label = {});

    // Both must outlive the memory, or be removed with a null pointer; set the bandwidth control while
    // nothing is pending.
    void set_bandwidth_control(bandwidth_control *control);
    void set_request_log(request_log *requests) { requests_ = requests; }

    // Processes everything that is due before `until` and calls `answered(answer)` for each answer, in no
    // particular order. `answered` must not call this memory.
    template <class Answered> void advance(picoseconds until, Answered &&answered)
    {
        advance_to(clock_.edge_at(until), answered);
    }
    // The same for what is due at next(), which must exist.
    template <class Answered> void decide(Answered &&answered) { advance_to(next_ + 1, answered); }

    // The earliest time of an answer that is not known yet, if no further request comes; advance() need not
    // be called before. Nothing: no request is pending.
    [[nodiscard]] std::optional<picoseconds> next() const
    {
        return next_ == scheduler::never ? std::nullopt : std::optional(clock_.time_of(next_));
    }

    // The counts up to `now`. Nothing may happen before `now` any more. Everything that is due by then is
    // decided, so that requests that have completed do not count as pending; their answers are still given at
    // next().
    [[nodiscard]] memory_profile profile(picoseconds now);
    // Lets requests arrive and complete up to `now`, before the counts of a bandwidth control are read.
    void settle(picoseconds now);
    [[nodiscard]] std::size_t channels() const { return ports_.size(); }
    // Peak data rate of the data bus, in bytes per second.
    [[nodiscard]] double peak_bytes_per_s() const;

private:
    // A request that has not reached the controller's queue yet.
    struct incoming {
        request_id id;
        std::uint64_t at; // packed by the mapping
        clocks when;
        bool write;
        mpam_label label;
    };
    // A channel and the requests that have not reached it yet, in order of time.
    struct port {
        scheduler channel;
        ring<incoming> inbox{};
        clocks arrival = scheduler::never; // of the first request in the inbox
        std::uint32_t writes = 0;          // number of writes in the inbox
    };

    memory(const memory_settings &settings, mapping map, std::vector<issued> *log);
    clocks advance(port &own, clocks until);
    void take_in(port &own, const incoming &one);
    [[gnu::noinline]] bool put_off(port &own, const incoming &one);

    // Lower bound of the answers to requests that have not arrived yet. A write is answered when it arrives.
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
    clocks next_ = scheduler::never; // earliest time of an answer that is not known yet
    bandwidth_control *control_ = nullptr;
    request_log *requests_ = nullptr;
};

} // namespace bulkhead::machine::dram
