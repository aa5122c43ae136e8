// SPDX-License-Identifier: Apache-2.0
// One set of flows, transformed and ready to be tested. Refusals are exceptions that name the flow.
#pragma once

#include <array>
#include <cstdint>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include "core/flow.h"
#include "core/flow_search.h"

namespace bulkhead::flows {

// Why a set is refused, and which flow is the reason.
class refused : public std::exception {
public:
    refused(flow_problem problem, std::uint32_t culprit);
    [[nodiscard]] const char *what() const noexcept override { return text_.c_str(); }
    [[nodiscard]] const char *code() const noexcept;
    [[nodiscard]] std::uint32_t culprit() const noexcept { return culprit_; }

private:
    flow_problem problem_;
    std::uint32_t culprit_;
    std::string text_;
};

// How a test or search ended; times in half nanoseconds, as in core/flow.h.
struct outcome {
    const char *verdict; // "schedulable", "overloaded", "late", "undecided", "impossible", "goes-on"
    std::uint64_t bytes_per_s;
    std::uint64_t at;
    std::uint64_t demand;
    std::uint64_t points;
};

class flow_tasks {
public:
    flow_tasks(const std::vector<::flow> &flows, const flow_costs &costs, std::uint32_t senders,
               std::uint64_t chunk_bytes);

    [[nodiscard]] const flow_set &tasks() const { return set_; }

    // Throws std::invalid_argument unless 1 <= bytes_per_s <= FLOW_MAX_BYTES_PER_S.
    // Ends with "goes-on" if `points` do not suffice.
    [[nodiscard]] outcome check(std::uint64_t bytes_per_s, std::uint64_t points) const;
    [[nodiscard]] outcome smallest_bandwidth() const;

    // By how many half ns the D' of all `members` together can be shortened while the set, which is
    // schedulable, remains so; and whether this is exact, or the limit of points was reached first. Throws
    // std::invalid_argument for members that are not in the set.
    [[nodiscard]] std::pair<std::uint64_t, bool> slack(std::uint64_t bytes_per_s,
                                                       const std::vector<std::uint32_t> &members) const;

private:
    flow_set set_{};
};

const char *verdict_name(flow_verdict verdict);
void check_rate(std::uint64_t bytes_per_s);
flow_verdict finish(flow_test &test);

} // namespace bulkhead::flows
