// SPDX-License-Identifier: Apache-2.0
// Submits requests one by one, each at its time; see the header.
#include "machine/python/dram_requests.h"

#include <algorithm>
#include <utility>

#include "machine/dram/memory.h"
#include "machine/settings_json.h"

namespace bulkhead::machine {

namespace {

result<dram::memory> memory_of(const dram_settings &wanted)
{
    result<dram::organization> shape = dram::organization::make(wanted.shape);
    if (const auto *refused = std::get_if<refusal>(&shape)) {
        return *refused;
    }
    return dram::memory::make({std::get<dram::organization>(shape), wanted.map, phys_addr{wanted.base},
                               wanted.timings, wanted.how, picoseconds{0}, picoseconds{0}});
}

} // namespace

result<dram_outcome> dram_alone(const std::string &settings, const std::vector<dram_request> &requests,
                                std::uint64_t until_ps)
{
    if (!std::ranges::is_sorted(requests, {}, [](const dram_request &one) { return one[0]; })) {
        return refusal{"the times of the requests fall"};
    }
    result<machine::settings> read = settings_from_json(settings);
    if (const auto *refused = std::get_if<refusal>(&read)) {
        return *refused;
    }
    result<dram::memory> made = memory_of(std::get<machine::settings>(read).dram);
    if (const auto *refused = std::get_if<refusal>(&made)) {
        return *refused;
    }
    auto &memory = std::get<dram::memory>(made);
    dram_outcome outcome;
    outcome.read_ps.resize(requests.size());
    const auto answered = [&](const dram::memory::answer &one) {
        if (!one.write && one.when.value < until_ps) {
            outcome.read_ps[one.id] = one.when.value - requests[one.id][0];
        }
    };
    for (std::size_t i = 0; i < requests.size() && requests[i][0] < until_ps; ++i) {
        const auto [when, address, write] = requests[i];
        memory.advance(picoseconds{when}, answered);
        memory.request(static_cast<dram::memory::request_id>(i), phys_addr{address},
                       write != 0 ? access_kind::write : access_kind::read, picoseconds{when});
    }
    memory.advance(picoseconds{until_ps}, answered);
    const dram::memory_profile moved = memory.profile(picoseconds{until_ps});
    outcome.read_bytes = moved.read.value;
    outcome.written_bytes = moved.written.value;
    return outcome;
}

} // namespace bulkhead::machine
