// SPDX-License-Identifier: Apache-2.0
// See recorded.h. Runs on the core's fiber.
#include "machine/trace/recorded.h"

#include "machine/trace/replay.h"

namespace bulkhead::machine::trace {

result<std::unique_ptr<recorded>> recorded::make(const std::string &path, std::vector<phys_addr> frames,
                                                 core &on, std::uint64_t replays)
{
    auto opened = reader::open(path);
    if (auto *bad = std::get_if<refusal>(&opened)) {
        return *std::move(bad);
    }
    auto &from = std::get<reader>(opened);
    if (from.all().instructions == 0) {
        return refusal{path + ": it has no instructions"};
    }
    return std::unique_ptr<recorded>(new recorded(std::move(from), std::move(frames), on, replays));
}

void recorded::start(picoseconds begin)
{
    on_.start([this, begin](core &) {
        if (begin > on_.clock()) {
            on_.spend(begin - on_.clock());
        }
        run();
    });
}

void recorded::run()
{
    for (std::uint64_t done = 0; replays_ == 0 || done < replays_; ++done) {
        report_.replays.push_back({on_.clock(), std::nullopt});
        if (auto bad = replay(from_, pages_, on_)) {
            report_.trouble = std::move(bad->reason);
            break;
        }
        report_.replays.back().end = on_.clock();
    }
    report_.ended = true;
}

} // namespace bulkhead::machine::trace
