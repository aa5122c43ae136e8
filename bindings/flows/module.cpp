// SPDX-License-Identifier: Apache-2.0
// The Python module: sets of flows, one by one or many at once. Numbers are passed as integers. Refused
// arguments raise ValueError, or its subclass Refused if a single flow is the reason. The GIL is released
// while core/ computes.
#include <array>
#include <map>
#include <span>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bindings/flows/batch.h"
#include "bindings/flows/set.h"
#include "core/flow_transfers.h"

namespace {

namespace nb = nanobind;
using namespace bulkhead::flows;

using costs_by_name = std::map<std::string, std::uint32_t>;
using declared = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t, std::uint32_t, std::uint32_t>;
using column = nb::ndarray<const std::uint64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

flow_costs costs_from(const costs_by_name &named)
{
    flow_costs costs{};
    const std::map<std::string, std::uint32_t *> places = {
        {"hypervisor_call_min", &costs.hypervisor_call_min},
        {"hypervisor_call_max", &costs.hypervisor_call_max},
        {"transport_min", &costs.transport_min},
        {"transport_max", &costs.transport_max},
        {"parse_max", &costs.parse_max},
        {"queue_lock_max", &costs.queue_lock_max},
        {"queue_insert_max", &costs.queue_insert_max},
        {"find_place_max", &costs.find_place_max},
        {"queue_remove_max", &costs.queue_remove_max},
        {"find_earliest_max", &costs.find_earliest_max},
        {"program_dma_max", &costs.program_dma_max},
        {"finalize_max", &costs.finalize_max},
        {"dma_interrupt_max", &costs.dma_interrupt_max},
        {"notify_max", &costs.notify_max},
        {"wake_max", &costs.wake_max},
        {"copy_max", &costs.copy_max},
        {"copied_bytes", &costs.copied_bytes},
        {"end_interrupts_max", &costs.end_interrupts_max},
        {"broker_interrupts_burst", &costs.broker_interrupts_burst},
        {"broker_interrupts_share", &costs.broker_interrupts_share},
        {"model", &costs.model},
    };
    for (const auto &[name, place] : places) {
        const auto found = named.find(name);
        if (found == named.end()) {
            throw std::invalid_argument("no cost is named " + name);
        }
        *place = found->second;
    }
    if (named.size() != places.size()) {
        throw std::invalid_argument("there are costs of other names");
    }
    return costs;
}

std::vector<declared> with_control(const declared &data, std::uint32_t receiver, std::uint64_t other_way_ns)
{
    const auto &[packet_bytes, period_ns, deadline_ns, transfers, sender] = data;
    const ::flow one = {packet_bytes, period_ns, deadline_ns, transfers, sender, 0};
    std::array<::flow, FLOW_TASKS> tasks{};
    std::vector<declared> found;
    const std::uint32_t count = flow_with_control(&one, receiver, other_way_ns, tasks.data());
    for (const ::flow &task : std::span(tasks).first(count)) {
        found.emplace_back(task.packet_bytes, task.period_ns, task.deadline_ns, task.transfers, task.sender);
    }
    return found;
}

// Throws std::invalid_argument for sizes that a packet, chunk or piece cannot have.
std::uint64_t most_transfers(std::uint64_t packet_bytes, std::uint64_t chunk_bytes, std::uint64_t run_bytes)
{
    if (packet_bytes == 0 || packet_bytes > FLOW_MAX_BYTES || chunk_bytes == 0 ||
        chunk_bytes > FLOW_MAX_BYTES || run_bytes > FLOW_MAX_BYTES) {
        throw std::invalid_argument("a packet and a chunk are 1 B to 4 GiB, a piece of memory up to that");
    }
    return flow_most_transfers(packet_bytes, chunk_bytes, run_bytes);
}

// Throws std::invalid_argument if there are values of EL2's interrupts, and not one for each flow.
flow_tasks make_set(const std::vector<declared> &flows, const costs_by_name &costs, std::uint32_t senders,
                    std::uint64_t chunk_bytes, const std::vector<std::uint32_t> &ends_ns)
{
    std::vector<::flow> made;
    if (!ends_ns.empty() && ends_ns.size() != flows.size()) {
        throw std::invalid_argument("there is not one time of the ends for each flow");
    }
    made.reserve(flows.size());
    for (const auto &[packet_bytes, period_ns, deadline_ns, transfers, sender] : flows) {
        const std::uint32_t ends = ends_ns.empty() ? 0 : ends_ns[made.size()];
        made.push_back({packet_bytes, period_ns, deadline_ns, transfers, sender, ends});
    }
    return {made, costs_from(costs), senders, chunk_bytes};
}

nb::list tasks_of(const flow_tasks &set)
{
    nb::list found;
    for (std::uint32_t i = 0; i < set.tasks().count; i++) {
        const flow_task &task = set.tasks().tasks[i];
        found.append(nb::make_tuple(task.period, task.first, task.fixed, task.bytes, task.block_fixed,
                                    task.block_bytes, task.several));
    }
    return found;
}

template <class T> nb::object to_numpy(const std::vector<T> &values)
{
    auto *kept = new std::vector<T>(values); // NOLINT(cppcoreguidelines-owning-memory): the capsule's
    const nb::capsule owner(kept, [](void *gone) noexcept { delete static_cast<std::vector<T> *>(gone); });
    return nb::cast(nb::ndarray<nb::numpy, T, nb::ndim<1>>(kept->data(), {kept->size()}, owner));
}

nb::dict test_many(const column &packet_bytes, const column &period_ns, const column &deadline_ns,
                   const column &sender, const costs_by_name &costs, std::uint32_t senders,
                   std::uint64_t chunk_bytes, std::uint64_t bytes_per_s)
{
    const batch sets{.flows_per_set = packet_bytes.shape(1),
                     .packet_bytes = {packet_bytes.data(), packet_bytes.size()},
                     .period_ns = {period_ns.data(), period_ns.size()},
                     .deadline_ns = {deadline_ns.data(), deadline_ns.size()},
                     .sender = {sender.data(), sender.size()}};
    const flow_costs parts = costs_from(costs);
    batch_results found;
    {
        const nb::gil_scoped_release others_run;
        found = test_batch(sets, parts, senders, chunk_bytes, bytes_per_s);
    }
    nb::dict result;
    result["schedulable"] = to_numpy(found.schedulable);
    result["refused"] = to_numpy(found.refused);
    result["undecided"] = to_numpy(found.undecided);
    result["points"] = to_numpy(found.points);
    result["analysis_ns"] = to_numpy(found.analysis_ns);
    return result;
}

} // namespace

NB_MODULE(_flows, module) // NOLINT(performance-unnecessary-value-param): the macro declares it
{
    module.doc() = "core/'s analysis of flows.";
    static nb::object
        refused_type; // NOLINT(cppcoreguidelines-avoid-non-const-global-variables): of the module
    refused_type = nb::exception<refused>(module, "Refused", PyExc_ValueError);
    nb::register_exception_translator([](const std::exception_ptr &thrown, void *) {
        try {
            std::rethrow_exception(thrown);
        } catch (const refused &why) {
            const nb::tuple arguments = nb::make_tuple(why.what(), why.code(), why.culprit());
            PyErr_SetObject(refused_type.ptr(), arguments.ptr());
        }
    });
    module.attr("MAX_FLOWS") = FLOW_MAX;
    module.attr("MAX_DOMAINS") = FLOW_MAX_DOMAINS;
    module.attr("MAX_NS") = FLOW_MAX_NS;
    module.attr("MAX_BYTES") = FLOW_MAX_BYTES;
    module.attr("MAX_BYTES_PER_S") = FLOW_MAX_BYTES_PER_S;
    module.attr("MAX_WAITING") = FLOW_MAX_WAITING;
    module.attr("CONTROL_BYTES") = FLOW_CONTROL_BYTES;
    module.attr("LEAST_ROOM") = FLOW_LEAST_ROOM;
    nb::class_<outcome>(module, "Outcome")
        .def_ro("verdict", &outcome::verdict)
        .def_ro("bytes_per_s", &outcome::bytes_per_s)
        .def_ro("at", &outcome::at)
        .def_ro("demand", &outcome::demand)
        .def_ro("points", &outcome::points);
    nb::class_<flow_tasks>(module, "FlowSet")
        .def(
            "__init__",
            [](flow_tasks *place, const std::vector<declared> &flows, const costs_by_name &costs,
               std::uint32_t senders, std::uint64_t chunk_bytes, const std::vector<std::uint32_t> &ends_ns) {
                new (place) flow_tasks(make_set(flows, costs, senders, chunk_bytes, ends_ns));
            },
            nb::arg("flows"), nb::arg("costs"), nb::arg("senders"), nb::arg("chunk_bytes"),
            nb::arg("ends_ns") = std::vector<std::uint32_t>{})
        .def("tasks", &tasks_of)
        .def_prop_ro("dma_fixed", [](const flow_tasks &set) { return set.tasks().dma_fixed; })
        .def_prop_ro("chunk_bytes", [](const flow_tasks &set) { return set.tasks().chunk_bytes; })
        .def_prop_ro("lead",
                     [](const flow_tasks &set) {
                         return nb::make_tuple(set.tasks().lead_fixed, set.tasks().lead_bytes);
                     })
        .def("check", &flow_tasks::check, nb::arg("bytes_per_s"), nb::arg("points") = UINT64_MAX,
             nb::call_guard<nb::gil_scoped_release>())
        .def("smallest_bandwidth", &flow_tasks::smallest_bandwidth, nb::call_guard<nb::gil_scoped_release>())
        .def("slack", &flow_tasks::slack, nb::arg("bytes_per_s"), nb::arg("members"),
             nb::call_guard<nb::gil_scoped_release>());
    module.def("with_control", &with_control, nb::arg("data"), nb::arg("receiver"), nb::arg("other_way_ns"));
    module.def("most_transfers", &most_transfers, nb::arg("packet_bytes"), nb::arg("chunk_bytes"),
               nb::arg("run_bytes"));
    module.def("test_batch", &test_many, nb::arg("packet_bytes"), nb::arg("period_ns"),
               nb::arg("deadline_ns"), nb::arg("sender"), nb::kw_only(), nb::arg("costs"), nb::arg("senders"),
               nb::arg("chunk_bytes"), nb::arg("bytes_per_s"));
}
