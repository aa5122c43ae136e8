// SPDX-License-Identifier: Apache-2.0
// Replays a trace on a core of the machine: instructions and accesses in order, at the core's speed. It runs
// on the core's fiber; calls return when the core may continue. It does not use the time.
#pragma once

#include <algorithm>
#include <concepts>
#include <optional>

#include "machine/trace/pages.h"
#include "machine/trace/reader.h"

namespace bulkhead::machine::trace {

// The functions of a core that a replay needs; machine/core.h has them, and tests use a class that records
// the calls.
template <class Core>
concept replays = requires(Core &core, std::uint64_t count, phys_addr address, std::uint32_t bytes)
{
    core.instructions(count);
    core.access(address, bytes, access_kind::read);
};

// Replays one access, split at page borders: at most two pages, since no access is larger than one. `Pages`:
// page_map or translated_pages.
template <replays Core, class Pages>
[[nodiscard]] bool replay_access(const record &each, Pages &pages, Core &core)
{
    std::uint64_t address = each.address;
    std::uint64_t left = std::uint64_t{1} << each.size_log2;
    while (left > 0) {
        const std::uint64_t part = std::min(left, page_bytes - address % page_bytes);
        const auto physical = pages.translate(address, each.kind);
        if (!physical) {
            return false;
        }
        core.access(*physical, static_cast<std::uint32_t>(part), each.kind);
        address += part;
        left -= part;
    }
    return true;
}

// Maximum of instructions in one call, so that the machine can stop in time for any trace.
inline constexpr std::uint64_t most_instructions = 1U << 20U;

template <replays Core> void replay_instructions(std::uint64_t count, Core &core)
{
    while (count > 0) {
        const std::uint64_t part = std::min(count, most_instructions);
        core.instructions(part);
        count -= part;
    }
}

// Replays the whole trace once. Nothing: all was replayed; otherwise why it ended early.
template <replays Core, class Pages> std::optional<refusal> replay(reader &from, Pages &pages, Core &core)
{
    std::uint64_t done = 0;
    from.rewind();
    for (;;) {
        auto block = from.next_block();
        if (auto *reason = std::get_if<refusal>(&block)) {
            return *reason;
        }
        const auto records = std::get<std::span<const record>>(block);
        if (records.empty()) {
            replay_instructions(from.all().instructions - done, core);
            return std::nullopt;
        }
        for (const record &each : records) {
            replay_instructions(each.instructions, core);
            done += each.instructions;
            if (!replay_access(each, pages, core)) {
                return refusal{"the trace touches more than the " + std::to_string(pages.used()) +
                               " pages that it was given"};
            }
        }
    }
}

} // namespace bulkhead::machine::trace
