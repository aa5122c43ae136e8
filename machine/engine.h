// SPDX-License-Identifier: Apache-2.0
// Runs cores, devices and memory in order of simulated time on one host thread. Each core runs ahead as long
// as it uses only its own state, and stops before the first event by which another core, a device or memory
// could still affect it. Cores call the engine (machine/sequencer.h); the owner of the machine calls run().
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
        reached, // the time given to run() was reached
        idle,    // all cores wait or have ended, and nothing is due
        stopped, // by stop()
    };

    // `lookahead`: how far a core may run ahead on its own state. It must not exceed the shortest delay of
    // any signal from one core to another (an interrupt, an event, a broadcast), so that no signal arrives
    // too late.
    engine(memory_system &memory, picoseconds lookahead) : memory_(memory), lookahead_(lookahead) {}

    // The order of adding gives cores their numbers; all are added before the first run().
    void add(sequencer &one);

    // `what` is called at `when`, in order of time (equal times: in order of the calls of at()), before any
    // core accesses shared state at that time. Callers are events, a core after order(), or code outside of
    // run(); `when` must not be before now().
    event_id at(picoseconds when, event what);
    // Does nothing if the event was called already.
    void cancel(event_id which);

    // Time of the event or of the core that is running.
    [[nodiscard]] picoseconds now() const;

    // Runs until everything that is due before `until` has happened.
    ending run(picoseconds until);
    // Makes run() return at the next point where the running core yields.
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
        // Reversed, because the standard heap keeps the greatest element on top.
        bool operator<(const timed &other) const
        {
            return when > other.when || (when == other.when && id > other.id);
        }
    };

    // Whether no core or memory can act before `now`, and no event is due at or before it.
    [[nodiscard]] bool none_before(picoseconds now) const
    {
        return now < others_due_ && now < edge_ && now <= memory_.next();
    }
    // The running core cannot go on before sequencer::due() (never: until it is woken): others run until
    // then.
    [[gnu::noinline]] void give_way(sequencer &mine);
    // The running core's program has ended: returns the fiber that runs next.
    fiber &after_end();
    // How far the running core's clock may advance on its own state.
    [[nodiscard]] picoseconds private_limit() const
    {
        const picoseconds others = std::min(others_due_, memory_.next());
        const picoseconds ahead = others > never - lookahead_ ? never : others + lookahead_;
        return std::min(ahead, edge_);
    }
    // Sets the time at which a core that does not run acts next to `when`, replacing any earlier time.
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
    turns turns_;                    // next times of the cores that do not run
    picoseconds others_due_ = never; // the earliest of them
    std::vector<timed> events_;      // a heap; cancelled events stay in it without a function to call
    event_id next_event_ = 0;
    fiber home_;
    sequencer *running_ = nullptr;
    picoseconds event_time_{};
    bool in_event_ = false;
    bool stopping_ = false;
    picoseconds until_{};
    picoseconds edge_{}; // limit for all cores: the next event or the end of the run
};

} // namespace bulkhead::machine
