// SPDX-License-Identifier: Apache-2.0
// A recorded program on a core: its trace replayed once, several times or endlessly, with the start and end
// times of each replay. Experiments use it in place of a workload (machine/python). The file is read while
// the core runs; errors in it, and accesses beyond the given memory, end only this program, with the reason.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "machine/core.h"
#include "machine/trace/pages.h"
#include "machine/trace/reader.h"
#include "machine/trace/translated_pages.h"

namespace bulkhead::machine::trace {

class recorded {
public:
    struct replay_time {
        picoseconds begin;
        std::optional<picoseconds> end; // nothing: it has not ended
    };
    struct report {
        bool ended = false;
        std::vector<replay_time> replays;
        std::optional<std::string> trouble; // why it ended early
    };

    // `frames`: its memory, 4 KiB each; `replays`: 0 for endless; `space`: its tables; its first piece
    // contains the frames in order. Refuses a file that is not a complete trace and one that would take no
    // time. `on` must outlive it.
    static result<std::unique_ptr<recorded>> make(const std::string &path, std::vector<phys_addr> frames,
                                                  core &on, std::uint64_t replays,
                                                  std::optional<space_settings> space = std::nullopt);

    // Puts the program on its core; it runs when the machine runs, not before `begin`. Call it once.
    void start(picoseconds begin = {});

    [[nodiscard]] const report &outcome() const { return report_; }

private:
    recorded(reader from, std::vector<phys_addr> frames, core &on, std::uint64_t replays,
             std::optional<translated_pages> space)
        : from_(std::move(from)), pages_(std::move(frames)), on_(on), replays_(replays),
          translated_(std::move(space))
    {
    }
    void run();

    // Not on the fiber's stack: a run that ends before the program does not unwind that stack.
    reader from_;
    page_map pages_;
    core &on_;
    std::uint64_t replays_;
    std::optional<translated_pages> translated_; // nothing: translation takes no time
    report report_;
};

} // namespace bulkhead::machine::trace
