// SPDX-License-Identifier: Apache-2.0
// Runs cores, devices and memory in order of simulated time on one host thread: each core runs ahead on what
// it has for itself and stops before the first thing that another core, a device or memory could still
// change. Cores call it (machine/sequencer.h); whoever owns the machine calls run().
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include "machine/fiber.h"
#include "machine/memory_system.h"
#include "machine/time.h"
#include "machine/turns.h"

namespace bulkhead::machine {

class sequencer;

class engine {
public:
    using event = std::function<void()>;
    using event_id = std::uint64_t;
    static constexpr picoseconds never = memory_system::never;

    enum class ending : std::uint8_t {
        reached, // the time that run() was given
        idle,    // all cores wait or have ended, and nothing is due
        stopped, // by stop()
    };

    // `lookahead`: how far a core may run ahead on what is its own: as long as the shortest way of anything
    // from one core to another (an interrupt, an event, a broadcast), so that nothing comes too late.
    engine(memory_system &memory, picoseconds lookahead) : memory_(memory), lookahead_(lookahead) {}

    // Cores are told apart by their place; all are added before the first run().
    void add(sequencer &one);

    // `what` is called at `when`, in order of time (equal times: in order of asking), before any core does
    // anything shared at that time. Called by events, by a core after order(), or outside of run(); `when` is
    // not before now().
    event_id at(picoseconds when, event what);
    // Nothing if it was called already.
    void cancel(event_id which);

    // Of the event or of the core that is running.
    [[nodiscard]] picoseconds now() const;

    // Until all that is due before `until` has happened.
    ending run(picoseconds until);
    // run() returns at the next point where the running core gives way.
    void stop()
    {
        stopping_ = true;
        find_edge();
    }

    // The core whose fiber runs; null: the caller of run(), or an event before the first core's turn.
    [[nodiscard]] sequencer *running() const { return running_; }
    [[nodiscard]] memory_system &memory() { return memory_; }
    [[nodiscard]] digest &events() { return memory_.events(); }

private:
    friend class sequencer;
    struct timed {
        picoseconds when;
        event_id id;
        event what;
        // For a heap, which has the greatest on top.
        bool operator<(const timed &other) const
        {
            return when > other.when || (when == other.when && id > other.id);
        }
    };

    // Whether nothing can happen before `now`, nor an event at it.
    [[nodiscard]] bool none_before(picoseconds now) const
    {
        return now < others_due_ && now < edge_ && now <= memory_.next();
    }
    // The running core can not go on before sequencer::due() (never: before somebody wakes it): others run
    // till then.
    [[gnu::noinline]] void give_way(sequencer &mine);
    // The running core's program has ended: which fiber goes on.
    fiber &after_end();
    // How far the running core's clock may go on what is its own.
    [[nodiscard]] picoseconds private_limit() const
    {
        const picoseconds others = std::min(others_due_, memory_.next());
        const picoseconds ahead = others > never - lookahead_ ? never : others + lookahead_;
        return std::min(ahead, edge_);
    }
    // A core that does not run acts at `when`, whatever was said before.
    void wake(core_id which, picoseconds when)
    {
        turns_.set(which, when);
        others_due_ = turns_.first_due();
    }

    sequencer *earliest();
    sequencer *take_turn();
    fiber &change_to(sequencer *next);
    [[gnu::noinline]] void run_event();
    [[nodiscard]] picoseconds event_due() const { return events_.empty() ? never : events_.front().when; }
    void find_edge() { edge_ = stopping_ ? picoseconds{0} : std::min(event_due(), until_); }

    memory_system &memory_;
    picoseconds lookahead_;
    std::vector<sequencer *> cores_;
    turns turns_;                    // of the cores that do not run
    picoseconds others_due_ = never; // the first of them
    std::vector<timed> events_;      // a heap; nothing is called of what was cancelled
    event_id next_event_ = 0;
    fiber home_;
    sequencer *running_ = nullptr;
    picoseconds event_time_{};
    bool in_event_ = false;
    bool stopping_ = false;
    picoseconds until_{};
    picoseconds edge_{}; // what all cores stop before: the next event, the end of the run
};

} // namespace bulkhead::machine
