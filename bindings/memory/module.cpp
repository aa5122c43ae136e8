// SPDX-License-Identifier: Apache-2.0
// The Python module: rates of budgets, and what the memory sustains beside a broker. Numbers are passed as
// integers, in core/'s units. Values that core/ does not accept raise ValueError.
#include <cstdint>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "core/memory_admission.h"

namespace {

namespace nb = nanobind;

constexpr std::uint64_t most_events = std::uint64_t{1} << 41;
constexpr std::uint64_t most_event_bytes = std::uint64_t{1} << 33;
constexpr std::uint64_t most_refills = std::uint64_t{1} << 31;
constexpr std::uint64_t most_period_ns = UINT64_C(3600000000000);

using point = std::pair<std::uint64_t, std::uint64_t>;               // bytes per s, utilization
using row = std::tuple<std::uint32_t, std::uint32_t, std::uint64_t>; // cores, refills, bytes per s
using part = std::pair<std::uint64_t, std::uint32_t>;                // rate, cores

void require(bool holds, const char *what)
{
    if (!holds) {
        throw std::invalid_argument(std::string(what) + " is out of range");
    }
}

void require_budget(std::uint64_t event_bytes, std::uint32_t holders, std::uint64_t period_ns)
{
    require(event_bytes != 0 && event_bytes <= most_event_bytes, "bytes of an event");
    require(holders != 0 && holders <= MEMORY_MAX_CORES, "the number of holders");
    require(period_ns != 0 && period_ns <= most_period_ns, "the period");
}

std::uint64_t rate_of(std::uint64_t events, std::uint64_t event_bytes, std::uint32_t holders,
                      std::uint64_t period_ns)
{
    require(event_bytes != 0 && holders != 0 && period_ns != 0, "a budget");
    if (events > most_events || event_bytes > most_event_bytes || holders > MEMORY_MAX_CORES) {
        return MEMORY_RATE_MAX; // more than any memory sustains
    }
    return memory_rate(events, event_bytes, holders, period_ns);
}

std::uint64_t events_of(std::uint64_t rate, std::uint64_t event_bytes, std::uint32_t holders,
                        std::uint64_t period_ns)
{
    require_budget(event_bytes, holders, period_ns);
    return memory_events(rate, event_bytes, holders, period_ns);
}

std::uint64_t sum_of(const std::vector<std::uint64_t> &rates)
{
    std::uint64_t sum = 0;
    for (const std::uint64_t rate : rates) {
        require(rate <= MEMORY_RATE_MAX, "a rate");
        sum = memory_sum(sum, rate);
    }
    return sum;
}

bool is_rate(std::uint64_t bytes_per_s)
{
    return bytes_per_s != 0 && bytes_per_s <= MEMORY_MAX_BYTES_PER_S;
}

// A capacity with the arrays that it points to. Checked as core/manifest_admission.c does.
class capacity {
public:
    capacity(const std::vector<point> &curve, const std::vector<row> &table, std::uint64_t shortest_period_ns,
             std::uint64_t event_bytes, std::uint64_t broker, std::uint64_t broker_full)
    {
        require(!curve.empty(), "the curve");
        for (const auto &[bytes_per_s, utilization] : curve) {
            require(is_rate(bytes_per_s) && (curve_.empty() || bytes_per_s > curve_.back().bytes_per_s),
                    "a point's rate");
            require(utilization != 0 && utilization <= MEMORY_UTILIZATION_ONE &&
                        (curve_.empty() || utilization >= curve_.back().utilization),
                    "a point's utilization");
            curve_.push_back({bytes_per_s, utilization});
        }
        for (const auto &[cores, refills, bytes_per_s] : table) {
            require(refills != 0 && refills <= most_refills && is_rate(bytes_per_s), "a row of the table");
            table_.push_back({cores, refills, bytes_per_s});
        }
        require_budget(event_bytes, 1, shortest_period_ns);
        require(broker <= MEMORY_MAX_BYTES_PER_S, "the broker's rate");
        require(is_rate(broker_full), "the broker's largest rate");
        shortest_period_ns_ = shortest_period_ns;
        event_bytes_ = event_bytes;
        broker_ = broker;
        broker_full_ = broker_full;
    }

    std::uint64_t utilization(std::uint64_t rate, std::uint32_t cores) const
    {
        require_part({rate, cores});
        const memory_capacity here = view();
        return memory_utilization(&here, rate, cores);
    }

    std::uint64_t room(const std::vector<part> &parts, std::uint32_t cores) const
    {
        require_part({0, cores});
        const memory_capacity here = view();
        const memory_load load = load_of(parts);
        return memory_room(&here, &load, cores);
    }

    std::uint64_t broker_utilization() const
    {
        const memory_capacity here = view();
        return memory_broker_utilization(&here);
    }

    std::pair<std::uint64_t, bool> broker_room(const std::vector<part> &parts) const
    {
        const memory_capacity here = view();
        const memory_load load = load_of(parts);
        memory_reason reason = MEMORY_BY_UTILIZATION;
        const std::uint64_t room = memory_broker_room(&here, &load, &reason);
        return {room, reason == MEMORY_BY_TABLE};
    }

private:
    static void require_part(const part &one)
    {
        require(one.first <= MEMORY_RATE_MAX, "a rate");
        require(one.second != 0 && one.second <= MEMORY_MAX_CORES, "the number of cores");
    }

    memory_capacity view() const
    {
        return {.curve = curve_.data(),
                .point_count = static_cast<std::uint32_t>(curve_.size()),
                .row_count = static_cast<std::uint32_t>(table_.size()),
                .table = table_.data(),
                .shortest_period_ns = shortest_period_ns_,
                .event_bytes = event_bytes_,
                .broker_bytes_per_s = broker_,
                .broker_full_bytes_per_s = broker_full_};
    }

    memory_load load_of(const std::vector<part> &parts) const
    {
        const memory_capacity here = view();
        memory_load load{};
        for (const part &one : parts) {
            require_part(one);
            memory_load_add(&load, &here, one.first, one.second);
        }
        return load;
    }

    std::vector<manifest_bandwidth_point> curve_;
    std::vector<manifest_bandwidth_row> table_;
    std::uint64_t shortest_period_ns_ = 0;
    std::uint64_t event_bytes_ = 0;
    std::uint64_t broker_ = 0;
    std::uint64_t broker_full_ = 0;
};

} // namespace

NB_MODULE(_memory, module) // NOLINT(performance-unnecessary-value-param): the macro declares it
{
    module.doc() = "core/'s admission of budgets by what the memory bears.";
    module.attr("RATE_UNIT") = MEMORY_RATE_UNIT;
    module.attr("RATE_MAX") = MEMORY_RATE_MAX;
    module.attr("ONE") = MEMORY_UTILIZATION_ONE;
    module.def("rate", &rate_of, nb::arg("events"), nb::arg("event_bytes"), nb::arg("holders"),
               nb::arg("period_ns"));
    module.def("events", &events_of, nb::arg("rate"), nb::arg("event_bytes"), nb::arg("holders"),
               nb::arg("period_ns"));
    module.def("sum_of", &sum_of, nb::arg("rates"));
    nb::class_<capacity>(module, "Capacity")
        .def(nb::init<const std::vector<point> &, const std::vector<row> &, std::uint64_t, std::uint64_t,
                      std::uint64_t, std::uint64_t>(),
             nb::kw_only(), nb::arg("curve"), nb::arg("table"), nb::arg("shortest_period_ns"),
             nb::arg("event_bytes"), nb::arg("broker"), nb::arg("broker_full"))
        .def("utilization", &capacity::utilization, nb::arg("rate"), nb::arg("cores"))
        .def("room", &capacity::room, nb::arg("parts"), nb::arg("cores"))
        .def("broker_utilization", &capacity::broker_utilization)
        .def("broker_room", &capacity::broker_room, nb::arg("parts"));
}
