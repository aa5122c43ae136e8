// SPDX-License-Identifier: Apache-2.0
// Shared by the DRAM tests: runs requests and collects commands.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "dram_parts.h"
#include "machine/dram/scheduler.h"

namespace bulkhead::machine::dram::test {

// A scheduler with its command log, driven by hand.
class channel {
public:
    channel(const organization &shape, const timing &timing, const policy &policy = {})
        : scheduler_(shape, timing, policy, &log)
    {
    }

    void read(std::uint64_t id, place at, clocks when) { request(id, at, false, when); }
    void write(std::uint64_t id, place at, clocks when) { request(id, at, true, when); }
    void request(std::uint64_t id, place at, bool write, clocks when)
    {
        scheduler_.advance(when);
        scheduler_.request(id, at, write, when);
        collect();
    }
    // Runs until nothing is pending, or until `limit`.
    void run(clocks limit = clocks{1} << 40U)
    {
        while (scheduler_.due() < limit) {
            scheduler_.advance(scheduler_.due() + 1);
            collect();
        }
    }
    void run_until(clocks when)
    {
        scheduler_.advance(when);
        collect();
    }
    // In order of time: the scheduler plans ahead.
    [[nodiscard]] std::vector<issued> in_order() const
    {
        std::vector<issued> sorted = log;
        std::sort(sorted.begin(), sorted.end(),
                  [](const issued &a, const issued &b) { return a.when < b.when; });
        return sorted;
    }
    [[nodiscard]] std::string commands() const
    {
        std::string text;
        for (const issued &one : in_order()) {
            text +=
                (text.empty() ? "" : " ") + std::string(name_of(one.what)) + "@" + std::to_string(one.when);
        }
        return text;
    }
    [[nodiscard]] const scheduler &get() const { return scheduler_; }

    std::vector<issued> log;
    std::map<std::uint64_t, std::vector<clocks>> completed; // by request: when

private:
    void collect()
    {
        for (const scheduler::completion &one : scheduler_.completions()) {
            completed[one.id].push_back(one.when);
        }
        scheduler_.forget_completions();
    }
    scheduler scheduler_;
};

} // namespace bulkhead::machine::dram::test
