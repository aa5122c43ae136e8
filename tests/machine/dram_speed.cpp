// SPDX-License-Identifier: Apache-2.0
// Measures the DRAM model alone on one host thread: requests a second, of patterns that stress different
// parts of the scheduler. A program to be run by hand, not a test; its results describe its own speed only.
// `dram_speed PATTERN COUNT` runs one pattern, for a profiler or an instruction counter.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <vector>

#include "dram_parts.h"
#include "machine/dram/memory.h"
#include "machine/random.h"

namespace {

using namespace bulkhead::machine;
using namespace bulkhead::machine::dram;

struct pattern {
    const char *name;
    std::uint32_t outstanding;
    bool random;
    std::uint32_t write_every; // 0: reads only
};

constexpr pattern patterns[] = {
    {"random-1", 1, true, 0},  {"random-6", 6, true, 0},        {"random-16", 16, true, 0},
    {"stream-6", 6, false, 0}, {"stream-16", 16, false, 0},     {"random-write-6", 6, true, 2},
    {"mixed-16", 16, true, 3}, {"stream-write-6", 6, false, 2},
};

memory make()
{
    const organization shape = test::ddr4_shape();
    return std::get<memory>(memory::make({.shape = shape,
                                          .map = mapping::row_bank_column(shape),
                                          .base = phys_addr{0},
                                          .timings = test::ddr4_2133(),
                                          .how = {},
                                          .request_latency = {10'000},
                                          .answer_latency = {10'000}}));
}

// Each answer is followed by the next request, so that `outstanding` are always pending.
double requests_per_s(const pattern &what, std::uint64_t count)
{
    memory dram = make();
    random_source random(1);
    std::uint64_t sent = 0;
    const auto send = [&](picoseconds when) {
        const std::uint64_t line = what.random ? random.below(1U << 24U) : sent % (1U << 24U);
        const bool write = what.write_every != 0 && sent % what.write_every == 0;
        dram.request(sent++, phys_addr{line * 64}, write ? access_kind::write : access_kind::read, when);
    };
    const std::clock_t begin = std::clock(); // processor time: other processes may use the host, too
    for (std::uint32_t i = 0; i < what.outstanding; ++i) {
        send({0});
    }
    picoseconds now{0};
    std::vector<memory::answer> answers;
    while (sent < count) {
        now = std::max(now, *dram.next());
        // The answer may be later than the decision; the next request comes with the answer.
        answers.clear();
        dram.decide([&](const memory::answer &one) { answers.push_back(one); });
        for (const memory::answer &one : answers) {
            send(std::max(now + picoseconds{1}, one.when));
        }
    }
    return static_cast<double>(sent) / (static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
}

} // namespace

int main(int count, char **arguments)
{
    const std::uint64_t requests = count > 2 ? std::strtoull(arguments[2], nullptr, 10) : 2'000'000;
    for (const pattern &one : patterns) {
        if (count < 2 || std::strcmp(arguments[1], one.name) == 0) {
            std::printf("%-16s %7.2f M requests/s\n", one.name, requests_per_s(one, requests) / 1e6);
        }
    }
    return 0;
}
