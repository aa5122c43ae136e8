// SPDX-License-Identifier: Apache-2.0
// A recorded program on a core: its trace once, several times or without end, and when each replay began and
// ended. Experiments put it where they could put a workload (machine/python). The file is read while the core
// runs; what is wrong in it, or memory that it was not given, ends the program with the reason, no other.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "machine/core.h"
#include "machine/trace/pages.h"
#include "machine/trace/reader.h"

namespace bulkhead::machine::trace {

class recorded {
public:
    struct replay_time {
        picoseconds begin;
        std::optional<picoseconds> end; // none: it is not done
    };
    struct report {
        bool ended = false;
        std::vector<replay_time> replays;
        std::optional<std::string> trouble; // why it ended early
    };

    // `frames`: its memory, 4 KiB each; `replays`: 0 for without end. Refuses a file that is no whole trace
    // and one that would take no time. `on` must outlive it.
    static result<std::unique_ptr<recorded>> make(const std::string &path, std::vector<phys_addr> frames,
                                                  core &on, std::uint64_t replays);

    // Puts it on its core; it runs when the machine does, not before `begin`. Once.
    void start(picoseconds begin = {});

    [[nodiscard]] const report &outcome() const { return report_; }

private:
    recorded(reader from, std::vector<phys_addr> frames, core &on, std::uint64_t replays)
        : from_(std::move(from)), pages_(std::move(frames)), on_(on), replays_(replays)
    {
    }
    void run();

    // Not on the fiber's stack: a run that ends before the program does not unwind it.
    reader from_;
    page_map pages_;
    core &on_;
    std::uint64_t replays_;
    report report_;
};

} // namespace bulkhead::machine::trace
